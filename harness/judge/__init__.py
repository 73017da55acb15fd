"""Judging: (query, passage) -> graded span. The table of kinds, and the names the pipeline needs."""

from functools import partial
from typing import Any

from harness.judge.config import LlmConfig, PoolConfig
from harness.judge.labels import LabelsConfig, LabelsJudge
from harness.judge.llm import LlmJudge
from harness.judge.panel import PanelConfig, PanelJudge
from harness.judge.pool import Pool, pool_of
from harness.judge.records import Graded, Pair, Summary
from harness.judge.threshold import CosineConfig, RerankerConfig, cosine_judge, reranker_judge
from harness.kinds import Kind, Kinds

KINDS: Kinds[Any] = Kinds(
    "relevance.judge",
    Kind(LabelsConfig, LabelsJudge),
    Kind(LlmConfig, lambda config: partial(LlmJudge, config)),
    Kind(PanelConfig, lambda config: partial(PanelJudge, config)),
    Kind(CosineConfig, lambda config: partial(cosine_judge, config)),
    Kind(RerankerConfig, lambda config: partial(reranker_judge, config)),
)

__all__ = [
    "KINDS",
    "CosineConfig",
    "Graded",
    "LabelsConfig",
    "LabelsJudge",
    "LlmConfig",
    "LlmJudge",
    "Pair",
    "PanelConfig",
    "PanelJudge",
    "Pool",
    "PoolConfig",
    "RerankerConfig",
    "Summary",
    "pool_of",
]
