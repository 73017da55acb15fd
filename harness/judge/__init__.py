"""Judging: (query, passage) -> graded span. The table of kinds, and the names the pipeline needs."""

from harness.judge.config import LlmConfig, PoolConfig
from harness.judge.labels import LabelsConfig, LabelsJudge
from harness.judge.llm import LlmJudge
from harness.judge.panel import PanelConfig, PanelJudge
from harness.judge.pool import Pool, pool_of
from harness.judge.records import Graded, Pair, Summary
from harness.judge.threshold import CosineConfig, RerankerConfig, cosine_judge, reranker_judge
from harness.kinds import Kind

KINDS = {
    "llm": Kind(LlmConfig, LlmJudge),
    "panel": Kind(PanelConfig, PanelJudge),
    "labels": Kind(LabelsConfig, LabelsJudge),
    "cosine": Kind(CosineConfig, cosine_judge),
    "reranker": Kind(RerankerConfig, reranker_judge),
}

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
