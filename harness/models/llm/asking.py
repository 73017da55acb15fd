"""Ask language models: through the ledger, within limits, by calls or by batches as each endpoint says."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from harness.models.llm.batch_transport import BatchTransport
from harness.models.llm.calls import CallTransport
from harness.models.llm.model import Job, Model, jobs_of
from harness.models.llm.money import Spending
from harness.models.llm.requests import Inquiry, RequestRun, Transport
from harness.models.llm.sender import run_to_end
from harness.values import LlmAnswer, LlmCall, Reporter

T = TypeVar("T")


def ask(
    inquiries: Sequence[Inquiry[Any]], *, reporter: Reporter, name: str = "asking", total: int = 0
) -> None:
    """Ask all calls of all jobs, each job handed on as soon as it is answered (in no set order).

    What can be asked of an endpoint at a time goes into one batch, if it is asked in batches. Jobs are
    read as they are needed, so where calls are made a generator of any length takes constant memory.
    ``name`` and ``total`` (the number of things done) are for the progress bar. Raises LlmError where the run
    cannot go on, and whatever a ``hand_on`` raises; all answers are then in the ledger, and the next run goes
    on from there.
    """
    started = time.monotonic()
    with reporter.task(name, total) as task:
        run_to_end(RequestRun(inquiries, _transport, reporter, task).run())
    seconds, done = time.monotonic() - started, sum(inquiry.done for inquiry in inquiries)
    for inquiry in inquiries:
        # of several that were asked at the same time, each its share
        inquiry.spending.seconds = seconds * (inquiry.done / done if done else 1 / len(inquiries))


def _transport(run: RequestRun, inquiries: Sequence[Inquiry[Any]]) -> Transport:
    batch = inquiries[0].model.config.endpoint.batch
    return BatchTransport(run, inquiries) if batch else CallTransport(run, inquiries)


def talks(
    requests: Sequence[tuple[Model, Iterable[Job[Any]]]], *, reporter: Reporter, name: str = "asking"
) -> list[tuple[list[list[LlmAnswer]], Spending]]:
    """Ask all calls of all jobs of models.

    Returns for each model the answers of its jobs, in their order, and the spending. Errors as ``ask``.
    """
    answers_of: list[dict[int, list[LlmAnswer]]] = []
    inquiries: list[Inquiry[Any]] = []
    for model, jobs in requests:
        answers_by_place: dict[int, list[LlmAnswer]] = {}
        placed = [replace(job, about=place) for place, job in enumerate(jobs)]
        answers_of.append(answers_by_place)
        inquiries.append(Inquiry(model, placed, answers_by_place.__setitem__))
    total = sum(len(list(inquiry.jobs)) for inquiry in inquiries)
    ask(inquiries, reporter=reporter, name=name, total=total)
    return [
        ([answers[place] for place in range(len(answers))], inquiry.spending)
        for answers, inquiry in zip(answers_of, inquiries, strict=True)
    ]


def answers(
    model: Model, calls: Sequence[LlmCall], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[LlmAnswer], Spending]:
    """Ask calls and return their answers in the same order, and the spending; errors as ``ask``."""
    ((answers_by_job, spending),) = talks([(model, jobs_of(calls))], reporter=reporter, name=name)
    return [answer for (answer,) in answers_by_job], spending
