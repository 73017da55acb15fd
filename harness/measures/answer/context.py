"""What was read to answer, by a model's verdicts: precision, recall, relevance, recall of entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.llm_measure import LlmMeasure, ask, judged, verdicts
from harness.measures.answer.measure import Case, MeasureFacts, Need, Scoring
from harness.measures.answer.steps import ENTITIES, RELEVANCE, SUPPORTED, USEFUL, joined
from harness.values import on_one_line, sentence_spans


class ContextPrecision(LlmMeasure):
    """Whether the passages that help to the golden answer are before the others."""

    kind: Literal["context_precision"] = "context_precision"
    steps: ClassVar = (USEFUL,)
    against: Literal["reference", "answer"] = Field(
        "reference",
        description="Whether a passage must be useful for arriving at the golden answer, or at the "
        "answer that was given.",
    )
    facts: ClassVar = MeasureFacts(
        about="whether passages that are useful for the golden answer are ranked before the others",
        formula="Σ P@i · v_i / Σ v_i; v_i = 1 where passage i is useful, P@i = Σ_{j≤i} v_j / i; 0 where none "
        "is useful",
        undefined="without a golden answer (with `against: answer`, without an answer), or where nothing was "
        "read",
        source="ragas `context_precision`; average precision over what was read alone, so evidence that was "
        "not retrieved costs nothing",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas adds 1e-10 to Σ v_i.",
    )

    @property
    def needs(self) -> frozenset[Need]:
        """An answer or a golden answer."""
        return (self.facts.needs - {"reference"}) | {self.against}

    def one(self, case: Case) -> Scoring:
        """One call per passage."""
        answer = case.reference if self.against == "reference" else case.answer or ""
        useful = yield from ask(USEFUL, *((case.query.text, (answer, text)) for text in case.texts))
        return self.score(case, average_precision(useful), {"useful": list(map(int, useful))})


def average_precision(useful: Sequence[bool]) -> float:
    """The mean of the precisions at the useful places; 0 if there are none."""
    places = [place for place, one in enumerate(useful, start=1) if one]
    return sum(seen / place for seen, place in enumerate(places, start=1)) / len(places) if places else 0.0


class ContextRecall(LlmMeasure):
    """How many sentences of the golden answer follow from the passages that were read.

    Attributed sentences over sentences of the golden answer; the answer that was given plays no part.
    """

    kind: Literal["context_recall"] = "context_recall"
    steps: ClassVar = (SUPPORTED,)
    facts: ClassVar = MeasureFacts(
        about="the share of the golden answer's sentences that follow from the passages read",
        formula="|sentences of the reference supported by the passages| / |sentences of the reference|",
        undefined="without a golden answer, or where nothing was read",
        source="ragas `context_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas lets the model split the reference into sentences and divides by those that came "
        "back; here a rule splits it and every sentence has its verdict.",
    )

    def one(self, case: Case) -> Scoring:
        """One call."""
        sentences = [case.reference[start:end] for start, end in sentence_spans(case.reference)]
        (found,) = yield from verdicts(SUPPORTED, [case.texts], sentences)
        return self.score(case, sum(found) / len(found), {"sentences": judged(sentences, found)})


class ContextRelevance(LlmMeasure):
    """Whether what was read holds what the question asks for; no golden answer is needed."""

    kind: Literal["context_relevance"] = "context_relevance"
    steps: ClassVar = (RELEVANCE,)
    samples: int = Field(2, ge=1, le=20, description="How often the model is asked; the mean counts.")
    facts: ClassVar = MeasureFacts(
        about="whether the passages read together contain what the question asks for",
        formula="1/n Σ grade_i / 2; grades 0 (nothing), 1 (part of it), 2 (all of it) from n calls",
        undefined="where nothing was read",
        source="ragas `nv_context_relevance`",
        needs=frozenset({"passages", "llm"}),
        compare="ragas asks in two wordings, takes the highest digit anywhere in an answer, and one grade "
        "that could be read where the other could not; here one wording is asked n times and all must be "
        "read. ragas gives 0 unasked where the passages are part of the question.",
    )

    def one(self, case: Case) -> Scoring:
        """Ask n times."""
        item = (case.query.text, (joined(case.texts),))
        grades = yield from ask(RELEVANCE, item, samples=self.samples)
        return self.score(case, sum(grades) / len(grades) / 2, {"grades": grades})


class ContextEntityRecall(LlmMeasure):
    """How many entities of the golden answer are named in the passages that were read."""

    kind: Literal["context_entity_recall"] = "context_entity_recall"
    steps: ClassVar = (ENTITIES,)
    facts: ClassVar = MeasureFacts(
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
