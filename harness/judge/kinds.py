"""The table of the kinds of judges, and human labels in place of one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

from harness.values import ConfigError, KindAt, Kinds, StageConfig

if TYPE_CHECKING:
    from harness.judge.records import PoolJudge

# The judge shown in tables if labels name none.
PEOPLE = "human"


class LabelsConfig(StageConfig):
    """Human labels."""

    kind: Literal["labels"] = "labels"
    gone: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"file": "this key was removed: `labels` takes offsets (start and end) too, so name it there."}
    )


def nobody(config: LabelsConfig, tools: object) -> NoReturn:
    """There is no judge to call where labels already are the grades; raises ConfigError."""
    raise ConfigError("relevance: labels already are the grades, so there is no judge to call.")


JUDGES: Kinds[PoolJudge] = Kinds(
    "relevance.judge",
    KindAt("labels", "LabelsConfig", "nobody", "kinds"),
    KindAt("llm", "LlmConfig", "LlmJudge.of"),
    KindAt("panel", "PanelConfig", "PanelJudge.of"),
    home=__package__,
    retired=dict.fromkeys(("graph", "cosine", "reranker"), "Use `labels`, or `llm` with any endpoint."),
)
