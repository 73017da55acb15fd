"""Many calls, one by one or in batches; those with an answer in the ledger are not made again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeVar

from harness.models.llm.batches.run import BatchRun, take_in_ended
from harness.models.llm.calls import CallRun, HandOn
from harness.models.llm.model import Job, Model
from harness.models.llm.money import Spending
from harness.models.llm.sender import run_to_end
from harness.values import LlmAnswer, LlmCall, Reporter

T = TypeVar("T")


def ask(
    model: Model,
    jobs: Iterable[Job[T]],
    hand_on: HandOn[T],
    *,
    reporter: Reporter,
    spending: Spending,
    name: str = "asking",
    total: int = 0,
) -> None:
    """Ask all calls of all jobs, each job handed on as soon as it is answered (in no set order).

    Jobs are read as they are needed, so a generator of any length takes constant memory. ``spending`` counts
    as it goes; ``name`` and ``total`` (the number of things done) are for the progress bar. Raises
    BudgetError, EndpointDownError or LlmError where the run cannot go on, and whatever ``hand_on`` raises;
    all answers are then in the ledger, and the next run goes on from there.
    """
    started = time.monotonic()
    with reporter.task(name, total) as task:
        given = model, iter(jobs), hand_on, reporter, spending, task
        take_in = partial(take_in_ended, model, spending, reporter)
        run_to_end(BatchRun(*given).run() if model.config.batch else CallRun(*given, take_in).run())
    spending.seconds = time.monotonic() - started


def send_batches(model: Model, jobs: Iterable[Job[T]], *, reporter: Reporter) -> None:
    """Send calls that the ledger lacks in batches, without waiting; ``ask`` collects the answers.

    For several models with equal calls, whose batches can then be answered side by side. Raises as ``ask``.
    """
    with reporter.task("sending", 0) as task:
        given = model, iter(jobs), lambda about, answers: None, reporter, Spending(), task
        run_to_end(BatchRun(*given, wait=False).run())


def answers(
    model: Model, calls: Sequence[LlmCall], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[LlmAnswer], Spending]:
    """Ask calls and return their answers in the same order, and the spending; errors as ``ask``."""
    found: dict[int, LlmAnswer] = {}
    spending = Spending()

    def keep(place: int, answers: list[LlmAnswer]) -> None:
        (found[place],) = answers

    jobs = (Job(place, (call,)) for place, call in enumerate(calls))
    ask(model, jobs, keep, reporter=reporter, spending=spending, name=name, total=len(calls))
    return [found[place] for place in range(len(calls))], spending
