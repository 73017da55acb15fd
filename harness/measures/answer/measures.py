"""All measures of answers, by kind."""

from __future__ import annotations

from typing import Any

from harness.measures.answer.measure import AnswerMeasure
from harness.values import KindAt, Kinds

ANSWER_MEASURES: Kinds[AnswerMeasure[Any]] = Kinds(
    "answer_measures",
    KindAt("exact_match", "ExactMatchConfig", "ExactMatch", "likeness"),
    KindAt("token_f1", "TokenF1Config", "TokenF1", "likeness"),
    KindAt("answer_similarity", "AnswerSimilarityConfig", "AnswerSimilarity", "likeness"),
    KindAt("citation_precision", "CitationPrecisionConfig", "CitationPrecision", "citations"),
    KindAt("citation_recall", "CitationRecallConfig", "CitationRecall", "citations"),
    KindAt("refusal", "RefusalConfig", "Refusal", "responses"),
    KindAt("answer_correctness", "AnswerCorrectnessConfig", "AnswerCorrectness", "statements"),
    KindAt("faithfulness", "FaithfulnessConfig", "Faithfulness", "statements"),
    KindAt("answer_relevancy", "AnswerRelevancyConfig", "AnswerRelevancy", "responses"),
    KindAt("aspect_critic", "AspectCriticConfig", "AspectCritic", "responses"),
    KindAt("context_precision", "ContextPrecisionConfig", "ContextPrecision", "context"),
    KindAt("context_recall", "ContextRecallConfig", "ContextRecall", "context"),
    KindAt("context_relevance", "ContextRelevanceConfig", "ContextRelevance", "context"),
    KindAt("context_entity_recall", "ContextEntityRecallConfig", "ContextEntityRecall", "context"),
    KindAt("noise_sensitivity", "NoiseSensitivityConfig", "NoiseSensitivity", "statements"),
    home=__package__,
)
AGAINST_GOLDEN = ("answer_correctness", "token_f1", "exact_match")
"""Kinds that compare the whole answer with the golden one, the best first: losses are in their units."""
