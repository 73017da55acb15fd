"""Context recall: how much of the golden answer follows from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from harness.answer.asking import LlmMeasure, LlmMeasureConfig, judged
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts
from harness.answer.form import several
from harness.answer.steps import SUPPORTED
from harness.text.sentences import sentence_spans


class ContextRecallConfig(LlmMeasureConfig):
    """How many sentences of the golden answer follow from the passages that were read."""

    kind: Literal["context_recall"] = "context_recall"
    steps: ClassVar = (SUPPORTED,)


class ContextRecall(LlmMeasure[ContextRecallConfig]):
    """Attributed sentences over sentences of the golden answer; the answer that was given plays no part."""

    facts = Facts(
        about="the share of the golden answer's sentences that follow from the passages read",
        formula="|sentences of the reference supported by the passages| / |sentences of the reference|",
        undefined="without a golden answer, or where nothing was read",
        source="ragas `context_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas lets the model split the reference into sentences and "
        "divides by those that came back; "
        "here a rule splits it and every sentence has its verdict.",
    )

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """One call a case."""
        board = self.board(cases, tools)
        sentences = {place: sentences_of(board.case(place).reference or "") for place in board.open}
        verdicts = board.ask_each(
            SUPPORTED, lambda place: [("", (several(board.case(place).texts), several(sentences[place])))]
        )
        for place, (found,) in verdicts.items():
            details = {"sentences": judged(sentences[place], found)}
            board.score(place, sum(found) / len(found), details)
        return board.scores()


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that is not blank; at least one."""
    return [text[start:end] for start, end in sentence_spans(text)]
