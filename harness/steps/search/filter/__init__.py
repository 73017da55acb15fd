"""Filters: which documents a question names, by the fields of a table. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness import models
from harness.steps.search.needs import Built, Cells
from harness.steps.search.step import FilterConfig, FilterResult, QueryStep
from harness.values import KindAt, Kinds, Query, Run, under_way

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
        columns = (by_document.get(document, ()) for document in self.documents)
        return tuple(dict.fromkeys(value for values in columns for value in values))


class Filter(QueryStep[Configured]):
    """Questions → the values that each names. It reads the question as the user asked it."""

    @abstractmethod
    def named(
        self, queries: Sequence[Query], facts: TableValues
    ) -> Sequence[Named | models.Malformed] | Run[Sequence[Named | models.Malformed]]:
        """The values that each question names; an empty mapping for none, Malformed where that is unknown."""

    def run(self, queries: Sequence[Query], documents: Sequence[str]) -> Run[list[FilterResult]]:
        """For each query the documents it is about; raises ConfigError for gaps in the table."""
        config, documents = self.config, tuple(dict.fromkeys(documents))
        table = yield Cells(config.file, config.key, config.columns, documents)
        facts = yield Built(lambda: values_in(table, config, documents), ("values", documents))
        named = yield from under_way(self.named(queries, facts))
        return [
            select(q.query_id, names_of, facts, config) for q, names_of in zip(queries, named, strict=True)
        ]


def values_in(
    table: Mapping[str, Mapping[str, str]], config: FilterConfig, documents: Sequence[str]
) -> TableValues:
    """The values of the documents by the table of a filter; raises ConfigError if it must have all."""
    from harness.steps.search.filter.names import years_in

    values: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in config.columns}
    gaps: dict[str, list[str]] = {}
    for document in documents:
        row = table.get(document, {})
        for column in config.columns:
            parts = [part.strip() for part in row.get(column, "").split(config.separator)]
            filled = tuple(part for part in parts if part)
            if column in config.years:
                filled = tuple(str(year) for part in filled for year in years_in(part))
            if filled:
                values[column][document] = filled
            else:
                gaps.setdefault(document, []).append(column)
    if gaps and config.on_missing == "fail":
        raise config.has_gaps(gaps, table, len(documents))
    return TableValues(tuple(documents), values)


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
        allowed = [doc_id for doc_id in allowed if _fits(by_document.get(doc_id), wanted, back)]
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
    KindAt("rules", "RulesConfig", "RulesFilter", words="by rules"),
    KindAt("llm", "LlmFilterConfig", "LlmFilter", words="by a language model"),
    home=__name__,
)
