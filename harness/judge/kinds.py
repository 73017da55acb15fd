"""The table of the kinds of judges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.judge.config import LlmConfig
from harness.judge.graph import GraphConfig, graph_judge
from harness.judge.labels import LabelsConfig
from harness.judge.llm import LlmJudge
from harness.judge.panel import PanelConfig, PanelJudge
from harness.judge.threshold import CosineConfig, RerankerConfig, cosine_judge, reranker_judge
from harness.judge.tools import JudgeTools, PoolJudge
from harness.values import ConfigError, Kind, Kinds

MakeJudge = Callable[[JudgeTools], PoolJudge]


def _nobody(config: LabelsConfig) -> MakeJudge:
    raise ConfigError("relevance: labels already are the grades, so there is no judge to call.")


JUDGES: Kinds[MakeJudge] = Kinds(
    "relevance.judge",
    Kind(LabelsConfig, _nobody),
    Kind(LlmConfig, lambda config: partial(LlmJudge.of, config)),
    Kind(PanelConfig, lambda config: partial(PanelJudge.of, config)),
    Kind(CosineConfig, lambda config: partial(cosine_judge, config)),
    Kind(RerankerConfig, lambda config: partial(reranker_judge, config)),
    Kind(GraphConfig, lambda config: partial(graph_judge, config)),
)
