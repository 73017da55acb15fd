"""What was read to answer, by a model's verdicts: precision, recall, relevance, recall of entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.answer_calls import (
    ATTRIBUTED,
    ENTITIES,
    PERTINENT,
    RELEVANCE,
    SUPPORTED,
    USEFUL,
    joined,
)
from harness.measures.answer.answer_measure import Case, MeasureFacts, Need, Scoring
from harness.measures.answer.llm_measure import LlmMeasure, ask, judged, reasons_of, verdicts
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
    by: Literal["average_precision", "share"] = Field(
        "average_precision",
        description="Average precision, which rewards useful passages before others; or the `share` of "
        "useful passages among those read, whatever their order.",
    )
    facts: ClassVar = MeasureFacts(
        about="whether passages that are useful for the golden answer are ranked before the others",
        formula="Σ P@i · v_i / Σ v_i; v_i = 1 where passage i is useful, P@i = Σ_{j≤i} v_j / i; 0 where none "
        "is useful. With `by: share` Σ v_i / n for n passages",
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

    def score_case(self, case: Case) -> Scoring:
        """One call per passage."""
        answer = case.reference if self.against == "reference" else case.answer or ""
        useful = yield from ask(USEFUL, *((case.query.text, (answer, text)) for text in case.texts))
        value = sum(useful) / len(useful) if self.by == "share" else average_precision(useful)
        return self.score(case, value, {"useful": list(map(int, useful)), **reasons_of(useful)})


def average_precision(useful: Sequence[int]) -> float:
    """The mean of the precisions at the useful places; 0 if there are none."""
    places = [place for place, flag in enumerate(useful, start=1) if flag]
    return sum(seen / place for seen, place in enumerate(places, start=1)) / len(places) if places else 0.0


class ContextRecall(LlmMeasure):
    """How many statements of the golden answer follow from the passages that were read.

    Attributed statements over statements of the golden answer; the answer that was given plays no part.
    """

    kind: Literal["context_recall"] = "context_recall"
    steps: ClassVar = (ATTRIBUTED, SUPPORTED)
    by: Literal["statements", "sentences"] = Field(
        "statements",
        description="What counts: the `statements` into which the model splits the golden answer, of which a "
        "sentence may hold several, in the call that judges them; or its `sentences`, by a rule.",
    )
    facts: ClassVar = MeasureFacts(
        about="the share of the golden answer's statements that follow from the passages read",
        formula="|statements of the reference that follow from the passages| / |statements of the "
        "reference|; with `by: sentences` the same of sentences",
        undefined="without a golden answer, where nothing was read, or where it states nothing",
        source="ragas `context_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
    )

    def score_case(self, case: Case) -> Scoring:
        """One call."""
        if self.by == "sentences":
            sentences = [case.reference[start:end] for start, end in sentence_spans(case.reference)]
            ((supported,),) = yield from verdicts(SUPPORTED, ([case.texts], sentences))
            return self.score(
                case, sum(supported) / len(supported), {"sentences": judged(sentences, supported)}
            )
        item = (case.query.text, (joined(case.texts), case.reference))
        (stated,) = yield from ask(ATTRIBUTED, item)
        if not stated:
            return self.unscored(case, "the golden answer states nothing")
        statements, follow = zip(*stated, strict=True)
        return self.score(case, sum(follow) / len(follow), {"statements": judged(statements, follow)})


class ContextRelevance(LlmMeasure):
    """Whether what was read holds what the question asks for; no golden answer is needed."""

    kind: Literal["context_relevance"] = "context_relevance"
    steps: ClassVar = (RELEVANCE, PERTINENT)
    by: Literal["grade", "sentences"] = Field(
        "grade",
        description="A grade of all passages together; or the share of the `sentences` read that matter to "
        "the answer, so that what is beside the point costs.",
    )
    samples: int = Field(
        2, ge=1, le=20, description="How often the model is asked for a grade; the mean counts."
    )
    facts: ClassVar = MeasureFacts(
        about="whether the passages read together contain what the question asks for (or, with `by: "
        "sentences`, little else)",
        formula="1/n Σ grade_i / 2; grades 0 (nothing), 1 (part of it), 2 (all of it) from n calls. With "
        "`by: sentences` |sentences that matter to the answer| / |sentences read|, one call a passage",
        undefined="where nothing was read",
        source="ragas `nv_context_relevance`; by sentences, Es et al., RAGAS, EACL 2024 (demonstrations), "
        "`context_relevancy` of ragas 0.1",
        needs=frozenset({"passages", "llm"}),
        compare="ragas asks in two wordings, takes the highest digit anywhere in an answer, and one grade "
        "that could be read where the other could not; here one wording is asked n times and all must be "
        "read. ragas gives 0 unasked where the passages are part of the question. By sentences ragas 0.1 "
        "lets the model write down those that matter and counts them; here every sentence has its verdict.",
    )

    def score_case(self, case: Case) -> Scoring:
        """Ask n times, or once for each passage."""
        if self.by == "sentences":
            return (yield from self._by_sentences(case))
        item = (case.query.text, (joined(case.texts),))
        grades = yield from ask(RELEVANCE, item, samples=self.samples)
        details = {"grades": list(map(int, grades)), **reasons_of(grades)}
        return self.score(case, sum(grades) / len(grades) / 2, details)

    def _by_sentences(self, case: Case) -> Scoring:
        passages = [[text[start:end] for start, end in sentence_spans(text)] for text in case.texts]
        passages = [sentences for sentences in passages if sentences]
        if not passages:
            return self.unscored(case, "nothing was read")
        items = ((case.query.text, (joined(sentences),)) for sentences in passages)
        pertinent = yield from ask(PERTINENT, *items)
        sentences = [judged(*pair) for pair in zip(passages, pertinent, strict=True)]
        matter = [verdict for verdicts in pertinent for verdict in verdicts]
        return self.score(case, sum(matter) / len(matter), {"passages": sentences})


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

    def score_case(self, case: Case) -> Scoring:
        """Two calls: the entities of the golden answer, and those of the passages."""
        (golden,) = yield from ask(ENTITIES, ("", (case.reference,)))
        if not golden:
            return self.unscored(case, "the golden answer names no entity")
        (named,) = yield from ask(ENTITIES, ("", ("\n".join(case.texts),)))
        wanted, present = (
            {on_one_line(entity).casefold(): entity for entity in entities} for entities in (golden, named)
        )
        common = wanted.keys() & present.keys()
        details = {
            "found": sorted(wanted[entity] for entity in common),
            "missing": sorted(wanted[entity] for entity in wanted.keys() - common),
        }
        return self.score(case, len(common) / len(wanted), details)
