"""All measures of answers, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.values import KindAt, Kinds

if TYPE_CHECKING:
    from harness.measures.answer.measure import AnswerMeasure

ANSWER_MEASURES: Kinds[AnswerMeasure] = Kinds(
    "answer_measures",
    KindAt("exact_match", "ExactMatch", module="similarity"),
    KindAt("token_f1", "TokenF1", module="similarity"),
    KindAt("answer_similarity", "AnswerSimilarity", module="similarity"),
    KindAt("citation_precision", "CitationPrecision", module="citations"),
    KindAt("citation_recall", "CitationRecall", module="citations"),
    KindAt("refusal", "Refusal", module="responses"),
    KindAt("answer_correctness", "AnswerCorrectness", module="statements"),
    KindAt("faithfulness", "Faithfulness", module="statements"),
    KindAt("answer_relevancy", "AnswerRelevancy", module="responses"),
    KindAt("aspect_critic", "AspectCritic", module="responses"),
    KindAt("context_precision", "ContextPrecision", module="context"),
    KindAt("context_recall", "ContextRecall", module="context"),
    KindAt("context_relevance", "ContextRelevance", module="context"),
    KindAt("context_entity_recall", "ContextEntityRecall", module="context"),
    KindAt("noise_sensitivity", "NoiseSensitivity", module="statements"),
    home=__package__,
)
AGAINST_GOLDEN = ("answer_correctness", "token_f1", "exact_match")
"""Kinds that compare the whole answer with the golden one, the best first: losses are in their units."""
