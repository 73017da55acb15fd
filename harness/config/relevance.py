"""Where relevance grades come from, and how graded spans grade chunks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SerializeAsAny

from harness.judge import LabelsConfig
from harness.kinds import StageConfig
from harness.types import MAX_GRADE


class RelevanceConfig(StageConfig):
    """Where grades come from, and when a chunk earns the grade of a graded span."""

    judge: SerializeAsAny[StageConfig] = Field(
        LabelsConfig(),
        description="Who grades: `labels` (people, by the label file), `llm`, a `panel` of several, or "
        "the weak "
        "substitutes `cosine`, `reranker` and `graph`. The keys of each judge are in this section; they are "
        "listed below.",
    )
    rule: Literal["half_of_span_or_chunk", "any_overlap", "full_cover"] = Field(
        "half_of_span_or_chunk",
        description="When a chunk covers a span: if they share half of either; any character; the whole "
        "span.",
    )
    span_share: float = Field(0.5, gt=0, le=1, description="The share of the span, for the first rule.")
    chunk_share: float = Field(0.5, gt=0, le=1, description="The share of the chunk, for the first rule.")
    unanswerable: Literal["exclude", "zero"] = Field(
        "exclude",
        description="A query without relevant text: `exclude` it from means and report it separately, or "
        "count it "
        "as `zero`.",
    )
    answerable_from: int = Field(
        1,
        ge=1,
        le=MAX_GRADE,
        description="The lowest grade at which a query counts as answered by the documents; if no text "
        "reaches "
        "it, the query has no relevant text. 2 suits judges that give a 1 for being on topic.",
    )
    seed_ratio: int | None = Field(
        None,
        ge=1,
        description="Also write `seed_ratio.csv` to this depth: a widely copied figure that is called NDCG "
        "but is not; see docs/conventions.md.",
    )
