"""The configuration of a benchmark, read and checked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, SerializeAsAny, field_validator, model_validator

from harness import steps
from harness.data import AnchorConfig, ParserConfig, ParsingConfig, PypdfConfig, SplitConfig, document_id
from harness.judge import LabelsConfig
from harness.measures import is_quality, less_is_better, parse_measure
from harness.models import PRECISION_TEXT, BiEncoderConfig, ModelConfig, Precision, default_tokenizer
from harness.running.config.answer_measures import DEFAULT_TOKENIZER, AnswerMeasures, AnswerScoringConfig
from harness.running.config.bootstrap import BootstrapConfig
from harness.running.config.naming import short_names
from harness.running.config.relevance import RelevanceConfig
from harness.running.config.stored_chunks import searches_existing
from harness.running.config.tune_keys import PartConfig, TuneConfig
from harness.running.engine import EngineConfig
from harness.values import BY, StageConfig, guide, kind_of, unlike_a_name

STAGES = ("parse", "chunk", "context", "rewrite", "filter", "retrieve", "rerank", "read", "answer")


class LatencyConfig(StageConfig):
    """How long a query takes, alone and among many: measured when all is warm, and kept in the cache."""

    queries: int = Field(0, ge=0, description="How many randomly chosen queries are timed; 0: none.")
    seconds: float = Field(
        10.0,
        gt=0,
        description="A setting that takes longer for all of them is timed on fewer.",
    )
    own_code: bool = Field(
        False,
        description="Whether your own code (`kind: python`) is called again, query by query, to time it.",
    )


class Setting(StageConfig):
    """One point of the sweep: the configuration of every step, and a name that says what varies.

    ``parse`` is what reads the files, and ``tokenizer`` names the model in whose tokens chunks are counted;
    ``context`` is what is indexed around chunks, the outermost first, and ``rerank`` the rerankers in their
    order; none for an empty tuple. ``read`` is what is read for a chunk that was found, None for the chunk
    itself. ``filter`` narrows the whole search, with all routes of a fusion. ``answer`` is the answerer, None
    for none.
    """

    name: str
    parse: ParserConfig = PypdfConfig()
    chunk: SerializeAsAny[steps.ChunkerConfig]
    tokenizer: str = Field(default_factory=default_tokenizer)
    context: tuple[SerializeAsAny[steps.ContextConfig], ...] = ()
    rewrite: SerializeAsAny[steps.RewriterConfig] | None = None
    filter: SerializeAsAny[steps.FilterConfig] | None = None
    retrieve: SerializeAsAny[steps.RetrieverConfig]
    rerank: tuple[SerializeAsAny[steps.RerankerConfig], ...] = ()
    read: SerializeAsAny[steps.ReadConfig] | None = None
    answer: SerializeAsAny[steps.AnswerConfig] | None = None

    @property
    def finder(self) -> steps.RetrieverConfig:
        """The retriever with the filter of the setting."""
        return self.retrieve.model_copy(update={"filter": self.filter}) if self.filter else self.retrieve

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names of the encoders and rerankers that search."""
        names = [encoder.model_name for encoder in self.retrieve.encoders()]
        names += [reranker.model_name for reranker in self.rerank]
        return tuple(dict.fromkeys(names))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that contexts and filters read, besides the documents."""
        filters = (part.filter for part in self.finder.every())
        routes = [part.context for part in self.finder.every() if part.context is not None]
        contexts = [context for around in (self.context, *routes) for context in around]
        paths = [
            *(context.files for context in contexts),
            *(condition.files for condition in filters if condition is not None),
        ]
        return tuple(file for files in paths for file in files)

    @property
    def services(self) -> list[steps.ServiceConfig]:
        """The user's own services that the search asks, each once."""
        stages: list[StageConfig | None] = [self.rewrite, *self.rerank]
        for retriever in self.retrieve.every():
            stages += (retriever, retriever.rewrite)
        services = {step.model_dump_json(): step for step in stages if isinstance(step, steps.ServiceConfig)}
        return list(services.values())


def parsers_of(settings: Iterable[Setting]) -> dict[str, ParserConfig]:
    """The distinct parsers in the order of the settings, by short names that can be in an id.

    Names have no blanks, colons or ``@``; the only parser of a run is called ``base``.
    """
    distinct = {setting.parse.model_dump_json(): setting.parse for setting in settings}
    parsers: dict[str, ParserConfig] = {}
    for name, parser in zip(short_names("parse", list(distinct.values())), distinct.values(), strict=True):
        safe = document_id(name).replace(BY, "_")
        while safe in parsers:
            safe += "_"
        parsers[safe] = parser
    return parsers


class BenchConfig(StageConfig):
    """One benchmark: documents, queries, labels, the settings to compare and how to score them."""

    name: str = Field(
        description="The folder of the results; at most 100 letters and digits of any script, dots, dashes, "
        "underscores, in at most 200 bytes (66 Chinese letters)."
    )
    documents: Annotated[
        tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
    ] = Field(
        min_length=1,
        description="Glob or list of globs: .pdf; .txt, .md, .csv, .tsv as plain text; .xlsx, .docx, .html, "
        ".pptx, each with an extra. `**` goes into folders. A URL, such as `s3://bucket/*.pdf`, is copied to "
        "the cache. `passages://NAME` alone: the passages of the collection NAME, which a setting searches "
        "with `existing: true`.",
    )
    parsing: ParsingConfig = Field(
        ParsingConfig(),
        description="Limits on reading a document, and on the share of suspect text.",
    )
    on_bad_document: Literal["fail", "skip", "fail_at_end"] = Field(
        "fail",
        description="A document that cannot be used stops the run (`fail`) or is skipped and listed; with "
        "`fail_at_end` the run exits with code 1 after everything is written.",
    )
    queries: Path = Field(
        description="CSV, XLSX or JSONL with query_id, text and optionally split, answerable, cluster (the "
        "group of questions it is tested with; default: the document of its evidence), answer, type, note."
    )
    labels: Path | None = Field(
        None,
        description="CSV, XLSX or JSONL with query_id, document, grade and start/end, or page and quote, or "
        "page. Required by the judge `labels`; with another judge they are kept for comparison.",
    )
    anchor: AnchorConfig = Field(AnchorConfig(), description="How quotes are found in the extracted text.")
    split: SplitConfig = Field(
        SplitConfig(),
        description="How to divide queries into train and validation if the query file has no split column.",
    )
    tokenizer: str | None = Field(
        None,
        description="The model whose tokens are used to cut and count chunks, in all settings. Empty: "
        "the setting's own embedding model; a setting without one uses that of the first setting that has "
        "one, else `embedded:all-MiniLM-L6-v2` where it is installed, else `words`: words, marks of "
        "punctuation, and characters of scripts without spaces, which need no model.",
    )
    precision: Precision = Field("exact", description=PRECISION_TEXT)
    int8_changes: float = Field(
        0.0,
        ge=0,
        le=1,
        description="With `precision: fast`: the largest share of the first ten places of a sample that "
        "computing in int8 may change, such as 0.05; 0: int8 is not tried. For bi-encoders and "
        "cross-encoders on a CPU; needs `pip install 'ndcg-harness[screen]'`.",
    )
    settings: tuple[Setting, ...] = Field(min_length=1)
    relevance: RelevanceConfig = Field(
        RelevanceConfig(), description="Where grades come from and how spans grade chunks."
    )
    measures: tuple[str, ...] = Field(
        (
            "ndcg_exp@10",
            "ndcg_evidence@5000",
            "ndcg_text@5000",
            "ndcg_lin@10",
            "recall@10",
            "judged@10",
            "ndcg_exp_expected@10",
            "ndcg_exp_upper@10",
            "ndcg_evidence_upper@5000",
            "judged_text@5000",
        ),
        min_length=1,
        description="Measures with their cutoffs. The headline is one that is comparable between the "
        "settings: ndcg_evidence, else ndcg_text, if they cut documents differently; if not, ndcg_exp.",
    )
    answer_measures: AnswerMeasures = Field(
        (),
        description="Measures of answers: a list of kinds, or of mappings with a kind and its keys; "
        "docs/answer-measures.md lists them. For settings with an `answer` section.",
    )
    answer_judge: ModelConfig | None = Field(
        None,
        description="The language model used by measures of answers: a section with the "
        "`endpoint`, `prices` and limits of `answer: {kind: llm}`.",
    )
    answer_embedding: BiEncoderConfig = Field(
        BiEncoderConfig(model=DEFAULT_TOKENIZER),
        description="The bi-encoder for measures of answers that compare vectors.",
    )
    answer_max_unscored: float = Field(
        0.1,
        ge=0,
        le=1,
        description="The largest share of answers without a value because a call failed; above it "
        "the run stops. An answer that is not scored never counts as 0.",
    )
    bootstrap: BootstrapConfig = Field(BootstrapConfig(), description="Intervals and tests.")
    tolerance: float = Field(
        0.02,
        gt=0,
        lt=1,
        description="Differences of means that do not matter: settings that differ by less, with confidence, "
        "are equivalent, and a cheaper setting is named if it loses no more.",
    )
    price_limit: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="What a recommended setting may cost at most, in the unit of price that the verdict "
        "names; empty: any price.",
    )
    latency: LatencyConfig = Field(LatencyConfig(), description="How long a query takes, by step.")
    part: PartConfig = Field(PartConfig(), description="Only a part of documents and queries.")
    tune: TuneConfig = Field(TuneConfig(), description="What `harness tune` may spend.")
    engine: EngineConfig = Field(EngineConfig(), description="Where models compute and documents are read.")
    cache: Path = Field(
        Path(".cache/harness"),
        description="The cache folder: everything that can be recomputed, and what was paid for: "
        "judgments (judgments.sqlite), and "
        "vectors and scores of endpoints (paid/). `harness cache --clear` keeps those.",
    )
    shared_cache: str | None = Field(
        None,
        description="A URL where several machines share what they have computed and paid for, such as "
        "`s3://bucket/cache`: what is there is copied to the cache before a run, and what is new is added "
        "after it. Indexes are not shared.",
    )
    results: Path = Field(Path("results"), description="The folder in which results/<name>/ is written.")
    _file_sha256: str = PrivateAttr("")
    _existing: tuple[Any, ...] = PrivateAttr(())

    @classmethod
    def of_documents(
        cls, documents: Sequence[str], queries: Path, labels: Path | None, **more: Any
    ) -> BenchConfig:
        """A benchmark of which only the documents are used: those, and nothing of its one setting.

        ``queries`` and ``labels`` need not exist; where they do, they are not documents.
        """
        setting = Setting(name="any", tokenizer="", chunk=steps.PageConfig(), retrieve=steps.Bm25Config())
        return cls(
            **{"name": "documents"} | more,
            documents=tuple(documents),
            queries=queries,
            labels=labels,
            settings=(setting,),
        )

    def model_post_init(self, context: Any) -> None:
        """Remember the collections of all settings."""
        self._existing = self.existing

    @property
    def existing(self) -> tuple[Any, ...]:
        """What searches existing collections: also of settings that a copy with fewer of them leaves out."""
        searches = [setting.retrieve for setting in self.settings if searches_existing(setting.retrieve)]
        return (*self._existing, *(search for search in searches if search not in self._existing))

    @property
    def file_sha256(self) -> str:
        """The hash of the file it was read from; '' where it was made otherwise."""
        return self._file_sha256

    @field_validator("name")
    @classmethod
    def _is_a_folder(cls, name: str) -> str:
        # however its accents were typed
        name = unicodedata.normalize("NFC", name)
        if why := unlike_a_name(name):
            raise ValueError(why)
        return name

    @field_validator("measures")
    @classmethod
    def _are_measures(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        canonical = tuple(parse_measure(name).name for name in names)
        if len(set(canonical)) != len(canonical):
            raise ValueError("a measure is named twice; remove one")
        if less_is_better(canonical[0]):
            raise ValueError(
                f"{canonical[0]} is a cost, and the first measure orders the summary: put a measure of "
                "quality, such as ndcg_exp@10, before it"
            )
        if not any(map(is_quality, canonical)):
            raise ValueError(
                f"{canonical[0]} is a bound, or says how much was judged or is unknown, not how good a "
                "ranking is: add a measure of quality, such as ndcg_exp@10"
            )
        return canonical

    @model_validator(mode="after")
    def _int8_is_probed(self) -> BenchConfig:
        if self.int8_changes and (self.precision != "fast" or self.engine.kind != "local"):
            raise ValueError(
                "int8_changes lets `precision: fast` try int8, in this process alone: set precision: fast "
                "and leave out engine, or leave out int8_changes"
            )
        return self

    @model_validator(mode="after")
    def _labels_have_a_source(self) -> BenchConfig:
        if isinstance(self.relevance.judge, LabelsConfig) and self.labels is None:
            raise ValueError(
                "labels: this key is missing. Give the label file, or use a judge "
                f"(relevance: {{judge: llm, …}}); {guide('judge.md')} describes it."
            )
        return self

    @property
    def answer_scoring(self) -> AnswerScoringConfig:
        """What scores answers."""
        return AnswerScoringConfig(**{name: getattr(self, name) for name in AnswerScoringConfig.model_fields})

    @model_validator(mode="after")
    def _answers_can_be_measured(self) -> BenchConfig:
        if self.answer_scoring.answer_measures and all(setting.answer is None for setting in self.settings):
            raise ValueError(
                "answer_measures measures answers, but no setting has answers: add a section such as "
                "`answer: {kind: extractive}`, or omit answer_measures"
            )
        return self

    @model_validator(mode="after")
    def _altered_passages_are_answered(self) -> BenchConfig:
        for setting in self.settings:
            if setting.read is None or not setting.read.alters:
                continue
            kind = kind_of(setting.read)
            if setting.answer is None:
                raise ValueError(
                    f"read: kind {kind} changes what is read to answer, but there is no `answer` section: "
                    "add one, such as `answer: {kind: llm, …}`"
                )
            if self.labels is None:
                raise ValueError(
                    f"read: kind {kind} needs labels, which say what passages hold the answer: give the "
                    "label file"
                )
        return self

    @model_validator(mode="after")
    def _several_parsers_need_labels(self) -> BenchConfig:
        """A grade holds for one text, a label row for all: only rows have one ideal under every parser."""
        if len(parsers_of(self.settings)) > 1 and not isinstance(self.relevance.judge, LabelsConfig):
            raise ValueError(
                "parse: several parsers can be compared only by human labels. A judge grades the passages of "
                "each text separately, and it is unknown which of them say the same: their ideals would "
                "differ. Use one parser, or relevance: {judge: labels}."
            )
        return self
