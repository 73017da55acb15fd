"""The table of the kinds of judges."""

from __future__ import annotations

from harness.judge.tools import PoolJudge
from harness.values import KindAt, Kinds

JUDGES: Kinds[PoolJudge] = Kinds(
    "relevance.judge",
    KindAt("labels", "LabelsConfig", "nobody"),
    KindAt("llm", "LlmConfig", "LlmJudge.of"),
    KindAt("panel", "PanelConfig", "PanelJudge.of"),
    KindAt("cosine", "CosineConfig", "cosine_judge", "threshold"),
    KindAt("reranker", "RerankerJudgeConfig", "reranker_judge", "threshold"),
    KindAt("graph", "GraphConfig", "graph_judge"),
    home=__package__,
)
