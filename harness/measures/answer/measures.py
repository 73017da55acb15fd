"""All measures of answers, by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.values import KindAt, Kinds

if TYPE_CHECKING:
    from harness.measures.answer.answer_measure import AnswerMeasure

ANSWER_MEASURES: Kinds[AnswerMeasure] = Kinds(
    "answer_measures",
    KindAt("exact_match", "ExactMatch", module="similarity"),
    KindAt("token_f1", "TokenF1", module="similarity"),
    KindAt("contains", "Contains", module="containment"),
    KindAt("all_parts", "AllParts", module="containment"),
    KindAt("answer_similarity", "AnswerSimilarity", module="similarity"),
    KindAt("citation_precision", "CitationPrecision", module="citations"),
    KindAt("citation_recall", "CitationRecall", module="citations"),
    KindAt("refusal", "Refusal", module="responses"),
    KindAt("error_detected", "ErrorDetected", module="false_facts"),
    KindAt("error_corrected", "ErrorCorrected", module="false_facts"),
    KindAt("answer_correctness", "AnswerCorrectness", module="statements"),
    KindAt("faithfulness", "Faithfulness", module="statements"),
    KindAt("answer_relevancy", "AnswerRelevancy", module="responses"),
    KindAt("aspect_critic", "AspectCritic", module="responses"),
    KindAt("context_precision", "ContextPrecision", module="context_measures"),
    KindAt("context_recall", "ContextRecall", module="context_measures"),
    KindAt("context_relevance", "ContextRelevance", module="context_measures"),
    KindAt("context_entity_recall", "ContextEntityRecall", module="context_measures"),
    KindAt("noise_sensitivity", "NoiseSensitivity", module="statements"),
    home=__package__,
)
AGAINST_GOLDEN = ("answer_correctness", "token_f1", "exact_match")
"""Kinds that compare the whole answer with the golden one, the best first: losses are in their units."""
EXPLAINING = ("faithfulness", "context_precision", "context_recall")
"""Kinds that explain an answer: whether it follows what was read, and whether that helps and suffices."""


def in_tiers(measures: Iterable[AnswerMeasure]) -> list[AnswerMeasure]:
    """The measures as tables show them: that of the whole answer, those that explain it, the rest."""
    listed = list(measures)
    present = {measure.kind for measure in listed}
    first = next((kind for kind in AGAINST_GOLDEN if kind in present), "")
    places = {kind: place for place, kind in enumerate((first, *EXPLAINING))}
    return sorted(listed, key=lambda measure: places.get(measure.kind, len(places)))
