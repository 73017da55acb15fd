"""Measures of answers, one file per kind."""

from typing import Any

from harness.measures.answer.measure import AnswerMeasure
from harness.values import KindAt, Kinds

ANSWER_MEASURES: Kinds[AnswerMeasure[Any]] = Kinds(
    "answer_measures",
    KindAt("exact_match", "ExactMatchConfig", "ExactMatch"),
    KindAt("token_f1", "TokenF1Config", "TokenF1"),
    KindAt("answer_similarity", "AnswerSimilarityConfig", "AnswerSimilarity"),
    KindAt("citation_precision", "CitationPrecisionConfig", "CitationPrecision"),
    KindAt("citation_recall", "CitationRecallConfig", "CitationRecall"),
    KindAt("refusal", "RefusalConfig", "Refusal"),
    KindAt("answer_correctness", "AnswerCorrectnessConfig", "AnswerCorrectness"),
    KindAt("faithfulness", "FaithfulnessConfig", "Faithfulness"),
    KindAt("answer_relevancy", "AnswerRelevancyConfig", "AnswerRelevancy"),
    KindAt("aspect_critic", "AspectCriticConfig", "AspectCritic"),
    KindAt("context_precision", "ContextPrecisionConfig", "ContextPrecision"),
    KindAt("context_recall", "ContextRecallConfig", "ContextRecall"),
    KindAt("context_relevance", "ContextRelevanceConfig", "ContextRelevance"),
    KindAt("context_entity_recall", "ContextEntityRecallConfig", "ContextEntityRecall"),
    KindAt("noise_sensitivity", "NoiseSensitivityConfig", "NoiseSensitivity"),
    home=__name__,
)
