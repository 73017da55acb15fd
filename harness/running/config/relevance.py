"""Where grades come from, and when a chunk earns the grade of a span: the section `relevance`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializeAsAny, model_validator

from harness.judge import JUDGES, LabelsConfig
from harness.measures import Projection
from harness.values import MAX_GRADE, ConfigError, StageConfig, unknown_key


class RelevanceConfig(StageConfig):
    """Where grades come from, and when a chunk earns the grade of a graded span."""

    judge: SerializeAsAny[StageConfig] = Field(
        LabelsConfig(),
        description="Who grades: `labels` (people, by the label file), `llm`, a `panel` of several, or, "
        "without a language model, `cosine`, `cross_encoder` or `graph`. The keys of each judge are in this "
        "section.",
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
        "count it as `zero`.",
    )
    answerable_from: int = Field(
        1,
        ge=1,
        le=MAX_GRADE,
        description="The lowest grade at which a query counts as answered by the documents; if no text "
        "reaches it, the query has no relevant text. 2 suits judges that give a 1 for being on topic.",
    )
    seed_ratio: int | None = Field(
        None,
        ge=1,
        description="Also write `seed_ratio.csv`, for this many of the chunks retrieved first: a widely "
        "copied figure that is called NDCG but is not; see docs/conventions.md. It needs a reranker.",
    )

    @property
    def projection(self) -> Projection:
        """When a chunk covers a span."""
        return Projection(self.rule, self.span_share, self.chunk_share)

    @property
    def without_relevant_text(self) -> Literal["zero", "nan"]:
        """The value of a query without relevant text."""
        return "zero" if self.unanswerable == "zero" else "nan"

    @model_validator(mode="before")
    @classmethod
    def _gives_the_judge_its_keys(cls, section: Any) -> Any:
        """The keys of the judge are beside those of the section; ``judge`` names its kind."""
        name = section.get("judge", JUDGES.default) if isinstance(section, dict) else None
        if not isinstance(section, dict) or isinstance(name, StageConfig):
            return section
        if isinstance(name, dict):
            place = f"relevance: {{judge: {name.get('kind', JUDGES.default)}, model: …}}."
            raise ValueError(f"judge is the name of a kind, and its keys are beside it: {place}")
        try:
            judge = JUDGES.find(name).config
        except ConfigError as error:
            raise ValueError(str(error).partition(": ")[2]) from None
        relevance_fields = cls.model_fields
        all_keys = [*relevance_fields, *(key for key in judge.model_fields if key != "kind")]
        for key in map(str, section):
            if key not in all_keys:
                owners = [name for name, kind in JUDGES.items() if key in kind.config.model_fields]
                hint = f"remove it, or name a judge that has it: relevance: {{judge: {' or '.join(owners)}}}."
                hint = hint if owners and key != "kind" else judge.gone.get(key, "")
                raise unknown_key(key, all_keys, hint)
        fields = {key: value for key, value in section.items() if key in relevance_fields}
        rest = {key: value for key, value in section.items() if key not in relevance_fields}
        return {**fields, "judge": judge.model_validate(rest)}
