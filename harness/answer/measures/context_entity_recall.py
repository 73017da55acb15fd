"""Context entity recall: how many entities of the golden answer stand in what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from harness.answer.asking import LlmMeasure, LlmMeasureConfig
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts
from harness.answer.steps import ENTITIES
from harness.text.characters import on_one_line


class ContextEntityRecallConfig(LlmMeasureConfig):
    """How many entities of the golden answer are named in the passages that were read."""

    kind: Literal["context_entity_recall"] = "context_entity_recall"
    steps: ClassVar = (ENTITIES,)


class ContextEntityRecall(LlmMeasure[ContextEntityRecallConfig]):
    """Common entities over entities of the golden answer, both as a model lists them."""

    facts = Facts(
        about="the share of the golden answer's entities that the passages read name",
        formula="|E(reference) ∩ E(passages)| / |E(reference)|; E as a model lists them, case aside",
        undefined="without a golden answer, where nothing was read, or where the reference names no entity",
        source="ragas `context_entity_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas compares letter by letter, counts an entity of the reference each time it is listed, "
        "and divides by their number plus 1e-8, which is 0 where there are none; here case and blanks do not "
        "count, each entity counts once, and no entity means no value.",
    )

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """Two calls a case."""
        board = self.board(cases, tools)
        golden = board.ask(ENTITIES, lambda case: ("", (case.reference or "",)))
        for place, found in golden.items():
            if not found:
                board.undefined(place, "the golden answer names no entity")
        read = board.ask(ENTITIES, lambda case: ("", ("\n".join(case.texts),)))
        for place, named in read.items():
            wanted, there = ({_plain(one): one for one in its} for its in (golden[place], named))
            common = wanted.keys() & there.keys()
            details = {
                "found": sorted(wanted[one] for one in common),
                "missing": sorted(wanted[one] for one in wanted.keys() - common),
            }
            board.score(place, len(common) / len(wanted), details)
        return board.scores()


def _plain(entity: str) -> str:
    return on_one_line(entity).casefold()
