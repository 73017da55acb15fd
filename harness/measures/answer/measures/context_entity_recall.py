"""Context entity recall: how many entities of the golden answer are in the passages read."""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import ENTITIES
from harness.values import on_one_line


class ContextEntityRecallConfig(LlmMeasureConfig):
    """How many entities of the golden answer are named in the passages that were read."""

    kind: Literal["context_entity_recall"] = "context_entity_recall"
    steps: ClassVar = (ENTITIES,)


class ContextEntityRecall(LlmMeasure[ContextEntityRecallConfig]):
    """Common entities over entities of the golden answer, both as a model lists them."""

    facts = MeasureFacts(
        about="the share of the golden answer's entities that the passages read name",
        formula="|E(reference) ∩ E(passages)| / |E(reference)|; E as a model lists them, case aside",
        undefined="without a golden answer, where nothing was read, or where the reference names no entity",
        source="ragas `context_entity_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas compares letter by letter, counts an entity of the reference each time it is listed, "
        "and divides by their number plus 1e-8, which is 0 where there are none; here case and blanks do not "
        "count, each entity counts once, and no entity means no value.",
    )

    def one(self, case: Case) -> Scoring:
        """Two calls: the entities of the golden answer, and those of the passages."""
        (golden,) = yield from ask(ENTITIES, ("", (case.reference,)))
        if not golden:
            return self.unscored(case, "the golden answer names no entity")
        (named,) = yield from ask(ENTITIES, ("", ("\n".join(case.texts),)))
        wanted, there = ({on_one_line(one).casefold(): one for one in its} for its in (golden, named))
        common = wanted.keys() & there.keys()
        details = {
            "found": sorted(wanted[one] for one in common),
            "missing": sorted(wanted[one] for one in wanted.keys() - common),
        }
        return self.score(case, len(common) / len(wanted), details)
