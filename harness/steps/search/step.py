"""The interfaces of the steps of a search: rewriters, filters, retrievers, rerankers, and what flows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import Field, SerializeAsAny, model_validator

from harness.models import EncoderConfig
from harness.steps.search.field import FieldConfig
from harness.steps.search.passages import Contexts, Passages
from harness.values import (
    Amount,
    ConfigError,
    Query,
    Ranking,
    Run,
    Section,
    StageConfig,
    Step,
    Unset,
    under_way,
)

Identity = list[Any]
"""JSON-able facts that decide the output of a step, besides its input."""


class RewriterConfig(StageConfig):
    """Base of the configurations of rewriters."""

    kind: str

    @property
    def most(self) -> int:
        """How many texts it may make of a query."""
        return 1

    @property
    def longest(self) -> int:
        """The most characters of such a text, where a language model writes it."""
        return 0


Config = TypeVar("Config", bound=StageConfig)
Rewriting = TypeVar("Rewriting", bound=RewriterConfig)


class QueryStep(Step[Config]):
    """Base of the steps over queries."""

    def identity(self) -> Identity:
        """Everything that decides the output, besides the queries and the tables that are read."""
        return [self.config.model_dump(mode="json")]


class Rewriter(QueryStep[Rewriting]):
    """Queries → queries for a retriever. Ids, splits and order stay the same.

    One that makes one text of each query defines ``run``; one that makes none or many defines ``phrasings``,
    and in ``fuse`` how the rankings of many become one. Both return what they make, or are generators that
    yield needs. ``repeatable``: running it again costs nothing, so its time can be measured. ``own_code``:
    it runs the user's own code, which may cost something.
    """

    repeatable: ClassVar[bool] = False
    own_code: ClassVar[bool] = False

    def run(self, queries: Sequence[Query]) -> list[Query] | Run[list[Query]]:
        """The rewritten queries, one for each."""
        raise TypeError(f"{type(self).__name__} does not make one text of each query")

    def phrasings(self, queries: Sequence[Query]) -> list[tuple[Query, ...]] | Run[list[tuple[Query, ...]]]:
        """The texts to search for each query; one without any gets no ranking."""
        rewritten = yield from under_way(self.run(queries))
        return [(query,) for query in rewritten]

    def fuse(self, rankings: Sequence[Ranking]) -> dict[str, float]:
        """The score of every chunk that the phrasings of one query have found; only needed for many."""
        raise TypeError(f"{type(self).__name__} makes one text per query and fuses nothing")


@dataclass(frozen=True, slots=True)
class Phrasings:
    """The output of a rewriter: in ``groups`` the texts of each query.

    ``cost`` is what the answers of language models behind it have cost, no matter which run paid: 0 without
    any, None if a price is unknown.
    """

    groups: Sequence[Sequence[Query]]
    cost: float | None = 0.0

    @property
    def queries(self) -> tuple[Query, ...]:
        """All texts one after the other."""
        return tuple(query for group in self.groups for query in group)


class TableConfig(StageConfig):
    """Base of the configurations of steps that read a table of documents."""

    kind: str
    file: Path = Field(
        description="CSV or JSONL with one row per document; rows of other documents are ignored."
    )
    key: str = Field(
        "document", description="The column with the name of the document's file, with or without ending."
    )

    otherwise: ClassVar[str]
    """What to set where documents may lack a row or a value."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it reads, besides the documents."""
        return (self.file,)

    def has_gaps(self, gaps: Mapping[str, Sequence[str]], table: Collection[str], total: int) -> ConfigError:
        """The error of documents that lack values of columns; ``table``: those of ``total`` with a row."""
        missing = (
            f"{column} ({', '.join(gap)})" if column in table else column for column, gap in gaps.items()
        )
        return ConfigError(
            f"{self.file}: a row or value is missing for {len(gaps)} of {total} documents: "
            f"{'; '.join(missing)}. Add them, or set {self.otherwise}."
        )


class FilterConfig(TableConfig):
    """Base of the configurations of filters: a table of documents, and what happens to those not named."""

    otherwise = "on_missing: keep in this filter to search them for every query"

    fields: tuple[str, ...] = Field(
        (),
        description="Columns of names that a question may mention, the most specific first; a list of "
        "lists is a sweep.",
    )
    years: tuple[str, ...] = Field(
        (), description="Columns that hold years, such as `2018` or `FY2018`, matched as numbers."
    )
    years_back: int = Field(
        0,
        ge=0,
        description="A document of one year also covers this many years before it, as annual reports do.",
    )
    separator: str = Field(";", min_length=1, description="The separator between several values in one cell.")
    boost: float | None = Field(
        None,
        gt=0,
        description="Empty: only the named documents are searched. Otherwise the amount added to the "
        "score of each of their chunks, on the scale of the retriever (cosine goes up to 1, BM25 to about "
        "20).",
    )
    on_empty: Literal["drop", "nothing"] = Field(
        "drop",
        description="If no document has everything that is named: ignore columns from the last one on "
        "(`years` first) until one does, or find nothing (`nothing`).",
    )
    on_missing: Literal["fail", "keep"] = Field(
        "fail",
        description="For documents without a row, or with an empty cell: `fail` stops and lists them, "
        "`keep` searches them for every query.",
    )

    @model_validator(mode="after")
    def _check_columns(self) -> FilterConfig:
        if not self.columns:
            raise ValueError("names no column; set `fields` (names) or `years`, such as fields: [company]")
        twice = sorted(set(self.fields) & set(self.years))
        if twice:
            raise ValueError(f"{', '.join(twice)}: is in `fields` and in `years`; keep one")
        return self

    @property
    def mode(self) -> Literal["restrict", "boost"]:
        """The treatment of documents that are not named: left out, or ranked after the others."""
        return "restrict" if self.boost is None else "boost"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at, the most telling first."""
        return tuple(dict.fromkeys((*self.fields, *self.years)))


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The result of a filter for one query: the values it ``named`` by column, and the ``documents`` left.

    ``documents`` None: all ``total`` of them, as it names nothing. ``dropped`` are columns whose values no
    document has together with those of the others. ``failed``: why nothing is known of what it names.
    """

    query_id: str
    mode: str
    named: Mapping[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    documents: frozenset[str] | None
    total: int
    failed: str = ""


SearchOne: TypeAlias = Callable[[Query], Ranking]
"""Searches for one query."""
Fingerprint: TypeAlias = Callable[[EncoderConfig], str]
"""Everything that decides a vector of an encoder besides the text."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of a step: wall seconds, and how many ``values`` (vectors, scores) were not cached."""

    seconds: float = 0.0
    computed: int = 0
    values: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            self.seconds + other.seconds, self.computed + other.computed, self.values + other.values
        )


@dataclass(frozen=True, slots=True)
class IndexPrice:
    """The ``seconds`` that building an index took, and its size in ``bytes``; None where unknown.

    Both depend on the machine, so prices are equal if their keys are.
    """

    key: str
    seconds: float | None = field(default=None, compare=False)
    bytes: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The result of a retriever: one ranking per query, in the order of the queries.

    ``exact_share`` is the share of the true nearest chunks among them, None if that has no meaning.
    ``routes`` are the results that a fusion combined. ``asked`` are the queries that it searched for,
    ``filtered`` the results of a filter by query, empty without a filter. ``rewritings`` are those made for
    it, not for its routes. ``indexes`` are those that were built for it, or for an earlier run. ``search``
    adds the ``name`` of a route, ``asked`` and ``rewritings``.
    """

    rankings: list[Ranking]
    exact_share: float | None = None
    routes: tuple[RetrievalResult, ...] = ()
    filtered: tuple[FilterResult, ...] = ()
    asked: tuple[Query, ...] = ()
    name: str = ""
    rewritings: tuple[Phrasings, ...] = ()
    indexes: tuple[IndexPrice, ...] = ()


class RetrieverConfig(StageConfig):
    """Base of the configurations of retrievers: depth, rewriter and filter."""

    kind: str
    top_k: Annotated[int, Amount()] = Field(20, ge=1, description="Chunks retrieved per query.")
    top_chars: Annotated[int | None, Amount(instead_of="top_k")] = Field(
        None,
        ge=1,
        description="Instead of `top_k`: retrieve chunks until they contain this many characters, so that "
        "all chunkings are searched equally deep.",
    )
    rewrite: Annotated[SerializeAsAny[RewriterConfig] | None, Section("rewrite")] = Field(
        None,
        description="A query rewriter for this retriever only; it is applied after the "
        "rewriter of the setting.",
    )
    filter: Annotated[SerializeAsAny[FilterConfig] | None, Section("filter")] = Field(
        None,
        description="A document filter for this retriever only, such as for one route.",
    )
    context: Annotated[Contexts | None, Section("context"), Unset("setting")] = Field(
        None,
        description="What this retriever, such as a route, indexes around chunks in place of the `context` "
        "of the setting, and written like it; `null`: nothing. Rerankers read that of the setting.",
    )
    field: Annotated[SerializeAsAny[FieldConfig] | None, Section("field")] = Field(
        None, description="What of queries and chunks is searched in place of their text, such as `entities`."
    )

    @model_validator(mode="after")
    def _one_depth(self) -> RetrieverConfig:
        if self.top_chars is not None and "top_k" in self.model_fields_set:
            raise ValueError("top_k and top_chars both say how deep to search; keep one of them")
        return self

    @property
    def parts(self) -> tuple[RetrieverConfig, ...]:
        """The retrievers that a fusion combines; none for all others."""
        return ()

    @property
    def named_parts(self) -> list[tuple[str, RetrieverConfig]]:
        """The parts by their names: their kinds, numbered from the second of a kind on.

        A dash precedes the number if the kind ends in one: ``chroma2``, ``bm25-2``.
        """
        seen: Counter[str] = Counter()
        named = []
        for part in self.parts:
            kind = part.kind
            seen[kind] += 1
            dash = "-" if kind[-1].isdigit() else ""
            named.append((kind if seen[kind] == 1 else f"{kind}{dash}{seen[kind]}", part))
        return named

    def every(self) -> Iterator[RetrieverConfig]:
        """Itself and all retrievers that it combines, each before its own parts."""
        yield self
        for part in self.parts:
            yield from part.every()

    def searching(self, around: Contexts | None = None) -> Iterator[tuple[RetrieverConfig, Contexts | None]]:
        """The retrievers that search an index, each with its own context or that of the fusion around it.

        ``around`` is the one to use where neither has any; None: that of the setting.
        """
        contexts = around if self.context is None else self.context
        if not self.parts:
            yield self, contexts
        for part in self.parts:
            yield from part.searching(contexts)

    @property
    def embed(self) -> EncoderConfig | None:
        """The encoder that it searches with, if any."""
        return None

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """All encoders it searches with, its own and those of its parts, each once."""
        encoders = () if self.embed is None else (self.embed,)
        return tuple(
            dict.fromkeys((*encoders, *(encoder for part in self.parts for encoder in part.encoders())))
        )


class RerankerConfig(StageConfig, ABC):
    """Base of the configurations of rerankers."""

    kind: str
    top_n: Annotated[int | None, Amount(unset="all")] = Field(
        None,
        ge=1,
        description="How many chunks of each ranking are scored; the rest follow in the retriever's "
        "order. Empty: all.",
    )
    reads_context: bool = Field(
        True, description="Whether it reads a chunk with the text that `context` adds, or the chunk alone."
    )

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The name of the model that scores."""

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """The encoders that it uses."""
        return ()


Configured = TypeVar("Configured", bound=RetrieverConfig)


class Retriever(Step[Configured]):
    """(Passages, queries) → rankings.

    ``own_code``: it runs the user's own code, which may cost something. ``one_by_one``: what it makes of
    passages is a need (`Index`, `Built`, `TermsOf`, `Texts` of passages), so that the time of a single query
    is that of the rest.
    """

    own_code: ClassVar[bool] = False
    one_by_one: ClassVar[bool] = False

    @abstractmethod
    def identity(self, fingerprint: Fingerprint) -> Identity:
        """All that decides its rankings, besides passages and queries: settings, models, library versions."""

    @abstractmethod
    def run(self, passages: Passages, queries: Sequence[Query]) -> RetrievalResult | Run[RetrievalResult]:
        """Rank the passages for every query. A query that matches nothing has an empty ranking.

        There is at least one query and one passage. The result, or a generator that yields needs and returns
        it.
        """
