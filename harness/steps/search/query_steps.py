"""Steps over queries before a search: rewriters reword them, filters choose the documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from harness.values import Query, Ranking, StageConfig, Step

if TYPE_CHECKING:
    from harness.steps.search.step import Identity
    from harness.steps.search.tools import Tools


class RewriterConfig(StageConfig):
    """Base of the configurations of rewriters."""

    kind: str


Config = TypeVar("Config", bound=StageConfig)
Rewriting = TypeVar("Rewriting", bound=RewriterConfig)


class QueryStep(Step[Config]):
    """Base of the steps over queries."""

    def identity(self) -> Identity:
        """Everything that decides the output, besides the queries and the tables that are read."""
        return [self.config.model_dump(mode="json")]


class Rewriter(QueryStep[Rewriting]):
    """Queries → queries for a retriever. Ids, splits and order stay the same.

    ``repeatable``: running it again costs nothing, so its time can be measured. ``own_code``: it
    runs the user's own code, which may cost something.
    """

    repeatable: ClassVar[bool] = False
    own_code: ClassVar[bool] = False

    @abstractmethod
    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """The rewritten queries, one for each."""

    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The texts to search for each query: one here; see ``SeveralRewriter`` for none and many."""
        return [(query,) for query in self.run(queries, tools)]

    def again(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The same phrasings, computed even if they are cached, to measure the time."""
        return self.phrasings(queries, tools)

    def fuse(self, rankings: Sequence[Ranking]) -> dict[str, float]:
        """The score of every chunk that the phrasings of one query have found; only needed for many."""
        raise TypeError(f"{type(self).__name__} makes one text per query and fuses nothing")


class SeveralRewriter(Rewriter[Rewriting], Generic[Rewriting]):
    """Query → any number of queries with its id, each of which is searched by itself.

    A rewriter that makes several texts of a query defines in ``fuse`` how their rankings become one.
    """

    repeatable = True

    @abstractmethod
    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """The texts to search for each query; without any it gets no ranking."""

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """All rewritten queries, one after the other."""
        return [query for group in self.phrasings(queries, tools) for query in group]


@dataclass(frozen=True, slots=True)
class Phrasings:
    """The output of a rewriter: all texts one after the other, and how many of them belong to each query.

    ``cost`` is what the answers of language models behind it have cost, no matter which run paid: 0 without
    any, None if a price is unknown.
    """

    queries: tuple[Query, ...]
    sizes: tuple[int, ...]
    cost: float | None = 0.0

    @property
    def one_each(self) -> bool:
        """Whether every query has exactly one text."""
        return all(size == 1 for size in self.sizes)


class TableConfig(StageConfig):
    """Base of the configurations of steps that read a table of documents."""

    kind: str
    file: Path = Field(
        description="CSV or JSONL with one row per document; rows of other documents are ignored."
    )
    key: str = Field(
        "document", description="The column with the name of the document's file, with or without ending."
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it reads, besides the documents."""
        return (self.file,)


class FilterConfig(TableConfig):
    """Base of the configurations of filters: a table of documents, and what happens to those not named."""

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
