"""Steps of traces of any tool, and the questions that they answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from harness.data.external.answer_files import AnsweredQuery, Passage
from harness.data.external.traces.recorded import answer_in, question_in

StepKind = Literal["retriever", "reranker", "llm", "other"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A span, run or observation. ``parent`` is '' at the top; ``began`` is ISO 8601 and orders the steps.

    ``sent`` and ``received`` are its input and output as recorded; ``passages`` what a retriever or reranker
    returned, in its order; ``error`` what it failed with, '' where it did not.
    """

    trace: str
    step_id: str
    parent: str
    began: str
    kind: StepKind
    sent: Any = None
    received: Any = None
    passages: tuple[Passage, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class SkippedTraces:
    """How many traces were left out: those without a question, and those that neither read nor answered."""

    without_question: int = 0
    without_rest: int = 0

    def __bool__(self) -> bool:
        return bool(self.without_question or self.without_rest)

    def __str__(self) -> str:
        return (
            f"{self.without_question} without a question, {self.without_rest} that neither retrieved nor "
            "answered anything nor failed"
        )


def assemble(path: Path, steps: Sequence[TraceStep]) -> tuple[list[AnsweredQuery], SkippedTraces]:
    """The questions of the traces in the order of their first steps.

    The question is the input of the outermost step that has text, else that of the first retriever, else what
    the user sent last to the first model. What was read is the output of the last reranker, else of all
    retrievers, each passage once. The answer is the output of the outermost step, else of the last model.
    """
    traces: dict[str, list[TraceStep]] = {}
    for step in sorted(steps, key=lambda step: step.began):
        # a step that names no trace is one by itself
        name = _whole("-".join((step.trace or step.step_id).split())) or f"trace-{len(traces) + 1}"
        traces.setdefault(name, []).append(step)
    exchanges: list[AnsweredQuery] = []
    without_question = without_rest = 0
    for trace, members in traces.items():
        question, passages = _question(members), _read(members)
        answer = _answer(members, {passage.text.strip() for passage in passages})
        failed = next((step.error for step in members if step.error), "")
        if not question:
            without_question += 1
        elif not (passages or answer or failed):
            without_rest += 1
        else:
            reason = f"failed: {failed}" if failed else "the trace has no answer"
            exchanges.append(
                AnsweredQuery(
                    trace,
                    _whole(question),
                    tuple(map(_whole_passage, passages)),
                    _whole(answer) or None,
                    "" if answer else _whole(reason),
                    where=f"{path}, trace {trace}",
                    time=next((step.began for step in members if _is_time(step.began)), ""),
                )
            )
    return exchanges, SkippedTraces(without_question, without_rest)


def _whole(text: str) -> str:
    """Text that a file can hold: a sign in place of half a character, as programs leave that cut text."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole_passage(passage: Passage) -> Passage:
    texts = map(_whole, (passage.text, passage.document, passage.passage_id))
    return Passage(*texts)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _outermost(steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Steps whose parent is not in the trace, other than models and retrievers."""
    ids = {step.step_id for step in steps}
    return [step for step in steps if step.parent not in ids and step.kind == "other"]


def _question(steps: Sequence[TraceStep]) -> str:
    candidates = _outermost(steps)
    for kinds in ({"retriever", "reranker"}, {"llm"}):
        candidates += [step for step in steps if step.kind in kinds]
    return next((text for step in candidates if (text := question_in(step.sent))), "")


def _answer(steps: Sequence[TraceStep], passages: Collection[str]) -> str:
    """The answer; what a pipeline that only retrieves puts out are its passages, and no answer."""
    candidates = _outermost(steps)
    # a model that a retriever asks rewrites a question and answers none
    retrievers = {step.step_id for step in steps if step.kind in ("retriever", "reranker")}
    candidates += [step for step in reversed(steps) if step.kind == "llm" and step.parent not in retrievers]
    texts = (answer_in(step.received) for step in candidates)
    return next((text for text in texts if text and text not in passages), "")


def _read(steps: Sequence[TraceStep]) -> list[Passage]:
    rerankers = [step for step in steps if step.kind == "reranker" and step.passages]
    sources = rerankers[-1:] or [step for step in steps if step.kind == "retriever"]
    distinct: dict[tuple[str, str], Passage] = {}
    for passage in (passage for step in sources for passage in step.passages):
        distinct.setdefault((passage.text, "" if passage.text else passage.passage_id), passage)
    return list(distinct.values())
