"""What a search step is: the values that go in and come out, and what its configuration says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, SerializeAsAny, model_validator

from harness.kinds import Section, StageConfig
from harness.models.encoder import EncoderConfig
from harness.types import Query, Ranking

if TYPE_CHECKING:
    from harness.search.tools import Tools

Identity = list[Any]
"""JSON-able facts that decide the output of a step, besides what it is given."""
SearchOne = Callable[[Query], Ranking]
"""Searches for one query."""


class NotMeasuredError(Exception):
    """What a step takes for a single query cannot be told, and why."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The chunks of a setting as steps see them.

    ``texts`` is what is indexed: the chunk, and the context of the setting around it; ``lengths`` are the
    characters that count as read, those of the chunk alone; ``key`` identifies all of it.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    key: str

    @property
    def documents(self) -> tuple[str, ...]:
        """The document of each chunk."""
        return tuple(chunk_id.rpartition(":")[0] for chunk_id in self.ids)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a filter made of one query: the values it ``named`` by column, and the ``documents`` left.

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


@dataclass(frozen=True, slots=True)
class Effort:
    """What a step took: wall seconds, and how many of its ``values`` (vectors, scores) were not cached."""

    seconds: float = 0.0
    computed: int = 0
    values: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(
            self.seconds + other.seconds, self.computed + other.computed, self.values + other.values
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What a retriever found: one ranking a query, in the order of the queries.

    ``exact_share`` is the share of the true nearest chunks among them, None where that has no meaning.
    ``asked`` are the queries as it has put them in the end; none where that is as they came. ``filtered`` is
    what a filter found in each query, none where there was no filter.
    """

    rankings: list[Ranking]
    exact_share: float | None = None
    routes: tuple[StepOutput, ...] = ()
    filtered: tuple[Narrowed, ...] = ()
    asked: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class Phrased:
    """What a rewriter asks: all texts one after the other, and how many of them belong to each query.

    ``cost`` is what the answers of language models behind it have cost, whoever paid for them: 0 without
    any, None where a price is unknown.
    """

    queries: tuple[Query, ...]
    sizes: tuple[int, ...]
    cost: float | None = 0.0

    @property
    def one_each(self) -> bool:
        """Whether every query is asked in one text."""
        return all(size == 1 for size in self.sizes)


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The rankings after one step. ``routes`` are the outputs that a fusion was made of, by their names.

    ``asked`` are the queries as this step asked them, ``filtered`` what a filter made of each.
    """

    name: str
    rankings: list[Ranking]
    asked: tuple[Query, ...]
    effort: Effort = Effort()
    exact_share: float | None = None
    routes: tuple[StepOutput, ...] = field(default=())
    filtered: tuple[Narrowed, ...] = ()


class RewriterConfig(StageConfig):
    """Base of the configurations of rewriters."""

    kind: str


class FilterConfig(StageConfig):
    """Base of the configurations of filters: a table of documents, and what becomes of those not named."""

    kind: str
    file: Path = Field(
        description="CSV or JSONL with one row per document; rows of other documents are ignored."
    )
    key: str = Field(
        "document", description="The column with the name of the document's file, with or without ending."
    )
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
        "`keep` searches "
        "them for every query.",
    )

    @model_validator(mode="after")
    def _looks_at_something(self) -> FilterConfig:
        if not self.columns:
            raise ValueError("names no column; set `fields` (names) or `years`, such as fields: [company]")
        twice = sorted(set(self.fields) & set(self.years))
        if twice:
            raise ValueError(f"{', '.join(twice)}: is in `fields` and in `years`; keep one")
        return self

    @property
    def mode(self) -> Literal["restrict", "boost"]:
        """What becomes of the documents that are not named: they are left out, or come after the others."""
        return "restrict" if self.boost is None else "boost"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at, the most telling first."""
        return tuple(dict.fromkeys((*self.fields, *self.years)))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it reads, besides the documents."""
        return (self.file,)


class RetrieverConfig(StageConfig):
    """Base of the configurations of retrievers: how deep to search, and what to ask."""

    kind: str
    top_k: int = Field(20, ge=1, description="Chunks retrieved per query.")
    top_chars: int | None = Field(
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

    @model_validator(mode="after")
    def _one_depth(self) -> RetrieverConfig:
        if self.top_chars is not None and "top_k" in self.model_fields_set:
            raise ValueError("top_k and top_chars both say how deep to search; keep one of them")
        return self

    @property
    def parts(self) -> tuple[RetrieverConfig, ...]:
        """The retrievers that this one combines; none for one that searches by itself."""
        return ()

    @property
    def embed(self) -> EncoderConfig | None:
        """The encoder that it searches with, if any."""
        return None

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """All encoders it searches with, its own and those of its parts, each once."""
        own = () if self.embed is None else (self.embed,)
        return tuple(dict.fromkeys((*own, *(one for part in self.parts for one in part.encoders()))))


class RerankerConfig(StageConfig, ABC):
    """Base of the configurations of rerankers."""

    kind: str
    top_n: int | None = Field(
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


Configured = TypeVar("Configured", bound=RetrieverConfig)
Rewriting = TypeVar("Rewriting", bound=RewriterConfig)


class Rewriter(ABC, Generic[Rewriting]):
    """Queries → queries, as they are put to a retriever. Ids, splits and order stay.

    ``repeatable``: to run it again costs nothing, so that what it takes can be measured. ``own_code``: it
    runs code of the user's own, which may cost something.
    """

    repeatable: ClassVar[bool] = False
    own_code: ClassVar[bool] = False

    def __init__(self, config: Rewriting) -> None:
        self.config = config

    def identity(self) -> Identity:
        """All that decides what is asked, besides the queries."""
        return [self.config.model_dump(mode="json")]

    @abstractmethod
    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """The queries as they are asked, one for each."""

    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """What is asked for each query: one text here; see ``search.rewrite.several`` for none and many."""
        return [(query,) for query in self.run(queries, tools)]

    def again(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The same phrasings made anew, whatever is kept, to measure what that takes."""
        return self.phrasings(queries, tools)

    def fuse(self, rankings: Sequence[Ranking]) -> dict[str, float]:
        """The score of every chunk that the phrasings of one query have found; only needed for many."""
        raise TypeError(f"{type(self).__name__} asks one thing for a query and fuses nothing")


class Retriever(ABC, Generic[Configured]):
    """(Passages, queries) → rankings. Pure but for what ``tools`` lend it.

    ``own_code``: it runs code of the user's own, which may cost something.
    """

    own_code: ClassVar[bool] = False

    def __init__(self, config: Configured) -> None:
        self.config = config

    @abstractmethod
    def identity(self, tools: Tools) -> Identity:
        """All that decides its rankings, besides passages and queries: settings, models, library versions."""

    @abstractmethod
    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> Found:
        """Rank the passages for every query. A query that matches nothing has an empty ranking."""

    def warm(self, passages: Passages, tools: Tools) -> AbstractContextManager[SearchOne]:
        """Searches one query at a time with the index open, as a service would, to measure what that takes.

        Raises NotMeasuredError where the kind does not offer it, or a search would cost money.
        """
        raise NotMeasuredError(f"{self.config.kind} cannot be searched one query at a time")

    def to_embed(
        self, passages: Passages, queries: Sequence[Query]
    ) -> Iterable[tuple[EncoderConfig, list[str]]]:
        """The texts it will embed, by encoder, so that one pass of each model can serve all settings.

        What the parts of a fusion embed is theirs to say.
        """
        return ()


def leaves(config: RetrieverConfig) -> list[RetrieverConfig]:
    """The retrievers below a configuration that search by themselves; itself where it fuses none."""
    return [leaf for part in config.parts for leaf in leaves(part)] if config.parts else [config]
