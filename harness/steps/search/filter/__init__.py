"""Filters: which documents a question names, by the fields of a table. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness import models
from harness.steps.search.step import FilterConfig, FilterResult, QueryStep
from harness.steps.search.tools import Tools
from harness.values import KindAt, Kinds, Query

Named = Mapping[str, tuple[str, ...]]
"""The values that a question names, by column; a year is written in four digits."""

Configured = TypeVar("Configured", bound=FilterConfig)


@dataclass(frozen=True, slots=True)
class TableValues:
    """The values of a table for the documents that are searched, by column and document.

    A document without a row, or with an empty cell, has no value there.
    """

    documents: tuple[str, ...]
    values: Mapping[str, Mapping[str, tuple[str, ...]]]

    def of(self, column: str) -> tuple[str, ...]:
        """All values of a column, each once, in the order of the documents."""
        by_document = self.values[column]
        found = (by_document.get(one, ()) for one in self.documents)
        return tuple(dict.fromkeys(value for values in found for value in values))


class Filter(QueryStep[Configured]):
    """Questions → the values that each names. It reads the question as the user asked it."""

    @abstractmethod
    def named(
        self, queries: Sequence[Query], facts: TableValues, tools: Tools
    ) -> Sequence[Named | models.Malformed]:
        """The values that each question names; an empty mapping for none, Malformed where that is unknown."""

    def reader(self, facts: TableValues, tools: Tools) -> Callable[[Query], Named | models.Malformed]:
        """A function that reads one question at a time, prepared as far as possible."""
        return lambda query: self.named([query], facts, tools)[0]

    def opened(self, documents: Sequence[str], tools: Tools) -> Callable[[Query], FilterResult]:
        """The same as ``run`` for one question at a time, the table read, to measure the time."""
        facts = read_facts(self.config, documents, tools)
        read = self.reader(facts, tools)
        return lambda query: select(query.query_id, read(query), facts, self.config)

    def run(self, queries: Sequence[Query], documents: Sequence[str], tools: Tools) -> list[FilterResult]:
        """For each query the documents it is about; raises ConfigError for gaps in the table."""
        facts = read_facts(self.config, documents, tools)
        named = self.named(queries, facts, tools)
        return [select(q.query_id, own, facts, self.config) for q, own in zip(queries, named, strict=True)]


def read_facts(config: FilterConfig, documents: Sequence[str], tools: Tools) -> TableValues:
    """The values of the documents by the table of a filter; raises ConfigError if it must have all."""
    documents = tuple(dict.fromkeys(documents))
    from harness.steps.search.filter.names import years_in

    table = tools.facts(config.file, config.key, config.columns, documents)
    values: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in config.columns}
    gaps: dict[str, list[str]] = {}
    for document in documents:
        row = table.get(document, {})
        for column in config.columns:
            parts = [part.strip() for part in row.get(column, "").split(config.separator)]
            own = tuple(part for part in parts if part)
            if column in config.years:
                own = tuple(str(year) for part in own for year in years_in(part))
            if own:
                values[column][document] = own
            else:
                gaps.setdefault(document, []).append(column)
    if gaps and config.on_missing == "fail":
        raise config.has_gaps(gaps, table, len(documents))
    return TableValues(documents, values)


def select(
    query_id: str, named: Named | models.Malformed, facts: TableValues, config: FilterConfig
) -> FilterResult:
    """The documents that have one of the values named in every column where any is named.

    Where there are none, columns are dropped from the last on until there are some, unless the configuration
    says that nothing is to be found then.
    """
    failed = ""
    if isinstance(named, models.Malformed):
        failed, named = named.reason, {}
    used = [column for column in config.columns if named.get(column)]
    left = used
    kept = _allowed(left, named, facts, config)
    while left and not kept and config.on_empty == "drop":
        left = left[:-1]
        kept = _allowed(left, named, facts, config)
    return FilterResult(
        query_id,
        mode=config.mode,
        named={column: named[column] for column in used},
        dropped=tuple(used[len(left) :]),
        documents=frozenset(kept) if left else None,
        total=len(facts.documents),
        failed=failed,
    )


def _allowed(columns: Sequence[str], named: Named, facts: TableValues, config: FilterConfig) -> list[str]:
    allowed = list(facts.documents)
    for column in columns:
        by_document, wanted = facts.values[column], set(named[column])
        back = config.years_back if column in config.years else 0
        allowed = [one for one in allowed if _fits(by_document.get(one), wanted, back)]
    return allowed


def _fits(values: tuple[str, ...] | None, wanted: set[str], back: int) -> bool:
    """Whether a document has a value that is wanted; a document without a known value may have it."""
    if values is None:
        return True
    if wanted.intersection(values):
        return True
    return any(str(int(value) - years) in wanted for value in values for years in range(1, back + 1))


KINDS: Kinds[Filter[Any]] = Kinds(
    "filter",
    KindAt("rules", "RulesConfig", "RulesFilter"),
    KindAt("llm", "LlmFilterConfig", "LlmFilter"),
    home=__name__,
)
