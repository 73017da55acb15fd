"""The table of the kinds of judges, and human labels in place of one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

from pydantic import Field

from harness.values import ConfigError, KindAt, Kinds, StageConfig

if TYPE_CHECKING:
    from harness.judge.pair_grades import PoolJudge

# The judge shown in tables if labels name none.
PEOPLE = "human"


class LabelsConfig(StageConfig):
    """Human labels."""

    kind: Literal["labels"] = "labels"
    labels: Literal["answers", "pool"] | None = Field(
        None,
        description="What the label file holds: all that `answers` each query, so that other text is known "
        "not to; or grades of a `pool` of passages, so that nothing is known of other text. Default: "
        "`answers` where all labels have the highest grade or each query has one label, and none has grade "
        "0; else `pool`. A run says what it assumes.",
    )
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
    KindAt("cosine", "CosineConfig", "CosineJudge"),
    KindAt("cross_encoder", "CrossEncoderJudgeConfig", "CrossEncoderJudge"),
    KindAt("graph", "GraphConfig", "GraphJudge"),
    home=__package__,
    retired={"reranker": "Use `cross_encoder`."},
)
