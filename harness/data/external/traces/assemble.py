"""From steps to questions: one per trace, with its retrieved passages and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.data.external.exchange import AnsweredQuery, Passage
from harness.data.external.traces.step import TraceStep
from harness.data.external.traces.words import answer_in, question_in


@dataclass(frozen=True, slots=True)
class SkippedTraces:
    """How many traces were left out: those without a question, and those that neither read nor answered."""

    without_question: int = 0
    without_rest: int = 0

    def __str__(self) -> str:
        return (
            f"{self.without_question} without a question, {self.without_rest} that neither retrieved nor "
            "answered anything"
        )


def assemble(path: Path, steps: Sequence[TraceStep]) -> tuple[list[AnsweredQuery], SkippedTraces]:
    """The questions of the traces in the order of their first steps.

    The question is the input of the outermost step that has one, else that of the first retriever, else what
    the user has said last to the first model. What was read is the output of the last reranker, else of all
    retrievers, each passage once. The answer is the output of the outermost step, else of the last model.
    """
    traces: dict[str, list[TraceStep]] = {}
    for step in sorted(steps, key=lambda one: one.began):
        traces.setdefault(step.trace, []).append(step)
    found: list[AnsweredQuery] = []
    no_question = no_rest = 0
    for trace, own in traces.items():
        question, read, answer = _question(own), _read(own), _answer(own)
        if not question:
            no_question += 1
        elif not read and not answer:
            no_rest += 1
        else:
            found.append(_exchange(path, trace, own, question, read, answer))
    return found, SkippedTraces(no_question, no_rest)


def _exchange(
    path: Path, trace: str, steps: Sequence[TraceStep], question: str, read: Sequence[Passage], answer: str
) -> AnsweredQuery:
    faults = [step.error for step in steps if step.error]
    reason = "" if answer else (f"failed: {faults[0]}" if faults else "the trace has no answer")
    query_id = "-".join(trace.split())
    where = f"{path}, trace {trace}"
    return AnsweredQuery(query_id, question, tuple(read), answer or None, reason, where=where)


def _outermost(steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Steps whose parent is not in the trace, those other than models and retrievers first."""
    ids = {step.step_id for step in steps}
    top = [step for step in steps if step.parent not in ids]
    return sorted(top, key=lambda step: step.kind != "other")


def _question(steps: Sequence[TraceStep]) -> str:
    first = [step for step in _outermost(steps) if step.kind == "other"]
    for kinds in ({"retriever", "reranker"}, {"llm"}):
        first += [step for step in steps if step.kind in kinds]
    return next((text for step in first if (text := question_in(step.sent))), "")


def _answer(steps: Sequence[TraceStep]) -> str:
    last = [step for step in _outermost(steps) if step.kind == "other"]
    # a model that a retriever asks rewrites a question and answers none
    inside = {step.step_id for step in steps if step.kind in ("retriever", "reranker")}
    last += [step for step in reversed(steps) if step.kind == "llm" and step.parent not in inside]
    return next((text for step in last if (text := answer_in(step.received))), "")


def _read(steps: Sequence[TraceStep]) -> list[Passage]:
    rerankers = [step for step in steps if step.kind == "reranker" and step.passages]
    chosen = rerankers[-1:] or [step for step in steps if step.kind == "retriever"]
    passages = [passage for step in chosen for passage in step.passages]
    return list(
        {(one.text, one.passage_id if not one.text else ""): one for one in reversed(passages)}.values()
    )[::-1]
