"""Measures of answers, one file per kind."""

from typing import Any

from harness.measures.answer.measure import AnswerMeasure
from harness.measures.answer.measures.answer_correctness import AnswerCorrectness, AnswerCorrectnessConfig
from harness.measures.answer.measures.answer_relevancy import AnswerRelevancy, AnswerRelevancyConfig
from harness.measures.answer.measures.answer_similarity import AnswerSimilarity, AnswerSimilarityConfig
from harness.measures.answer.measures.aspect_critic import AspectCritic, AspectCriticConfig
from harness.measures.answer.measures.citation_precision import CitationPrecision, CitationPrecisionConfig
from harness.measures.answer.measures.citation_recall import CitationRecall, CitationRecallConfig
from harness.measures.answer.measures.context_entity_recall import (
    ContextEntityRecall,
    ContextEntityRecallConfig,
)
from harness.measures.answer.measures.context_precision import ContextPrecision, ContextPrecisionConfig
from harness.measures.answer.measures.context_recall import ContextRecall, ContextRecallConfig
from harness.measures.answer.measures.context_relevance import ContextRelevance, ContextRelevanceConfig
from harness.measures.answer.measures.exact_match import ExactMatch, ExactMatchConfig
from harness.measures.answer.measures.faithfulness import Faithfulness, FaithfulnessConfig
from harness.measures.answer.measures.noise_sensitivity import NoiseSensitivity, NoiseSensitivityConfig
from harness.measures.answer.measures.refusal import Refusal, RefusalConfig
from harness.measures.answer.measures.token_f1 import TokenF1, TokenF1Config
from harness.values import Kind, Kinds

ANSWER_MEASURES: Kinds[AnswerMeasure[Any]] = Kinds(
    "answer_measures",
    Kind(ExactMatchConfig, ExactMatch),
    Kind(TokenF1Config, TokenF1),
    Kind(AnswerSimilarityConfig, AnswerSimilarity),
    Kind(CitationPrecisionConfig, CitationPrecision),
    Kind(CitationRecallConfig, CitationRecall),
    Kind(RefusalConfig, Refusal),
    Kind(AnswerCorrectnessConfig, AnswerCorrectness),
    Kind(FaithfulnessConfig, Faithfulness),
    Kind(AnswerRelevancyConfig, AnswerRelevancy),
    Kind(AspectCriticConfig, AspectCritic),
    Kind(ContextPrecisionConfig, ContextPrecision),
    Kind(ContextRecallConfig, ContextRecall),
    Kind(ContextRelevanceConfig, ContextRelevance),
    Kind(ContextEntityRecallConfig, ContextEntityRecall),
    Kind(NoiseSensitivityConfig, NoiseSensitivity),
)
