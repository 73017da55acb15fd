"""What a benchmark is made of, once read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, SerializeAsAny, field_validator, model_validator

from harness.config.relevance import RelevanceConfig
from harness.corpus import AnchorConfig, ParserConfig, PypdfConfig, SplitConfig
from harness.embed import EmbedConfig
from harness.judge import LabelsConfig
from harness.kinds import StageConfig
from harness.measures import less_is_better, parse_measure

STAGES = ("chunk", "embed", "retrieve", "rerank")


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class BootstrapConfig(StageConfig):
    """The confidence intervals of means over queries."""

    resamples: int = Field(10_000, ge=100, description="Bootstrap resamples of the queries.")
    level: float = Field(0.95, gt=0.5, lt=1, description="Confidence level.")
    seed: int = Field(7, ge=0, description="Seed of the resampling.")


class Setting(StageConfig):
    """One point of the sweep: the configuration of every stage, and a name that says what varies."""

    name: str
    chunk: SerializeAsAny[StageConfig]
    embed: EmbedConfig
    retrieve: SerializeAsAny[StageConfig]
    rerank: SerializeAsAny[StageConfig] | None


class BenchConfig(StageConfig):
    """One benchmark: documents, queries, labels, the settings to compare and how to score them."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="Names the folder of the results; letters, digits, dot, dash, underscore.",
    )
    documents: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = Field(
        min_length=1,
        description="Glob or list of globs: .pdf; .txt, .md, .csv, .tsv as plain text. `**` goes into "
        "folders.",
    )
    parser: ParserConfig = Field(
        PypdfConfig(), description="How PDFs are read: `{kind: pypdf}` or `{kind: pypdfium2}`."
    )
    on_bad_document: Literal["fail", "skip"] = Field(
        "fail", description="A document that cannot be read ends the run, or is skipped and listed."
    )
    queries: Path = Field(
        description="CSV or JSONL with query_id, text and optionally split, answerable, answer, type, note."
    )
    labels: Path | None = Field(
        None,
        description="CSV or JSONL with query_id, document, grade and start/end, or page and quote, or page. "
        "Required by the judge `labels`; beside another judge they are kept to compare it with.",
    )
    anchor: AnchorConfig = Field(AnchorConfig(), description="How quotes are found in the extracted text.")
    split: SplitConfig = Field(
        SplitConfig(), description="Train and validation, where the query file has no split column."
    )
    settings: tuple[Setting, ...] = Field(min_length=1)
    relevance: RelevanceConfig = Field(
        RelevanceConfig(), description="Where grades come from and how spans grade chunks."
    )
    measures: tuple[str, ...] = Field(
        (
            "ndcg_exp@10",
            "ndcg_text@5000",
            "ndcg_lin@10",
            "recall@10",
            "judged@10",
            "ndcg_exp_expected@10",
            "ndcg_exp_upper@10",
        ),
        min_length=1,
        description="Measures with their cutoffs; the first one orders the summary.",
    )
    bootstrap: BootstrapConfig = Field(BootstrapConfig(), description="Confidence intervals.")
    cache: Path = Field(Path(".cache/harness"), description="What may be computed again; safe to delete.")
    results: Path = Field(Path("results"), description="The folder in which results/<name>/ is written.")
    _file_sha256: str = PrivateAttr("")

    @property
    def file_sha256(self) -> str:
        """The hash of the file it was read from; '' where it was made otherwise."""
        return self._file_sha256

    @field_validator("measures")
    @classmethod
    def _are_measures(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        canonical = tuple(parse_measure(name).name for name in names)
        if len(set(canonical)) != len(canonical):
            raise ValueError("a measure is named twice")
        if less_is_better(canonical[0]):
            raise ValueError(
                f"{canonical[0]} is a price, and the first measure orders the summary: name one of quality, "
                "such as ndcg_exp@10, before it"
            )
        return canonical

    @model_validator(mode="after")
    def _labels_have_a_source(self) -> BenchConfig:
        judge = self.relevance.judge
        if isinstance(judge, LabelsConfig):
            if self.labels is None and judge.file is None:
                raise ValueError(
                    "labels: this key is missing. Name the label file, or let a judge grade "
                    "(relevance: {judge: llm, …}); docs/judge.md describes it."
                )
            if self.labels is not None and judge.file is not None:
                raise ValueError("labels and relevance.file both name labels; keep one of them.")
        return self
