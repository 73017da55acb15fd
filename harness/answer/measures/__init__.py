"""Measures of answers, one file per kind."""

from typing import Any

from harness.answer.measure import AnswerMeasure
from harness.answer.measures.answer_correctness import AnswerCorrectness, AnswerCorrectnessConfig
from harness.answer.measures.answer_relevancy import AnswerRelevancy, AnswerRelevancyConfig
from harness.answer.measures.answer_similarity import AnswerSimilarity, AnswerSimilarityConfig
from harness.answer.measures.aspect_critic import AspectCritic, AspectCriticConfig
from harness.answer.measures.citation_precision import CitationPrecision, CitationPrecisionConfig
from harness.answer.measures.citation_recall import CitationRecall, CitationRecallConfig
from harness.answer.measures.context_entity_recall import ContextEntityRecall, ContextEntityRecallConfig
from harness.answer.measures.context_precision import ContextPrecision, ContextPrecisionConfig
from harness.answer.measures.context_recall import ContextRecall, ContextRecallConfig
from harness.answer.measures.context_relevance import ContextRelevance, ContextRelevanceConfig
from harness.answer.measures.exact_match import ExactMatch, ExactMatchConfig
from harness.answer.measures.faithfulness import Faithfulness, FaithfulnessConfig
from harness.answer.measures.noise_sensitivity import NoiseSensitivity, NoiseSensitivityConfig
from harness.answer.measures.refusal import Refusal, RefusalConfig
from harness.answer.measures.token_f1 import TokenF1, TokenF1Config
from harness.kinds import Kind, Kinds

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
