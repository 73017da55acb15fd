"""The values of a table that are in the question, by rules: names, their aliases, years."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from harness.steps.search.filter import Filter, Named, TableValues
from harness.steps.search.filter.names import Names, years_in
from harness.steps.search.needs import Built, TableRows
from harness.steps.search.step import FilterConfig, Identity
from harness.values import ConfigError, Query, Run

_ALIAS_COLUMNS = ("field", "value", "alias")
# Raised when the same question is read differently.
_VERSION = 2


class RulesConfig(FilterConfig):
    """The values in the question itself: a value of the table, one of its aliases, or a year."""

    kind: Literal["rules"] = "rules"
    aliases: Path | None = Field(
        None,
        description="CSV or JSONL of other names, with the columns field, value and alias: "
        "`company,Johnson & Johnson,JnJ`. One alias may refer to several values.",
    )

    @property
    def files(self) -> tuple[Path, ...]:
        """The table, and the aliases."""
        return (self.file,) if self.aliases is None else (self.file, self.aliases)


class RulesFilter(Filter[RulesConfig]):
    """Loads no model. Names are compared as in ``Names``, years as in ``years_in``.

    A year counts only where some document has it, in reach of ``years_back``: a question about a year that
    no document is of names none.
    """

    def identity(self) -> Identity:
        """The settings and the version of the rules."""
        return [*super().identity(), _VERSION]

    def named(self, queries: Sequence[Query], facts: TableValues) -> Run[list[Named]]:
        """The values that each question names, column by column."""
        aliases = self.config.aliases
        rows = () if aliases is None else (yield TableRows(aliases, _ALIAS_COLUMNS))
        read = yield Built(lambda: self._reader(facts, rows), ("names", facts.documents))
        return list(map(read, queries))

    def _reader(self, facts: TableValues, rows: Sequence[Mapping[str, str]]) -> Callable[[Query], Named]:
        """Reads one question at a time, names and aliases looked up beforehand."""
        c = self.config
        names = {column: Names.of(pairs) for column, pairs in self._pairs(facts, rows).items()}
        reach = range(c.years_back + 1)
        values_of = {
            column: {str(int(value) - years) for value in facts.of(column) for years in reach}
            for column in c.years
        }

        def read(query: Query) -> Named:
            named = {column: names[column].found_in(query.text) for column in c.fields}
            years = [str(year) for year in years_in(query.text)]
            named |= {
                column: tuple(year for year in years if year in values_of[column]) for column in c.years
            }
            return {column: values for column, values in named.items() if values}

        return read

    def _pairs(
        self, facts: TableValues, rows: Sequence[Mapping[str, str]]
    ) -> dict[str, list[tuple[str, str]]]:
        """The names by column, and the value that each stands for."""
        pairs = {column: [(value, value) for value in facts.of(column)] for column in self.config.fields}
        aliases = [(row["field"], row["value"], row["alias"]) for row in rows]
        if aliases and pairs and not any(column in pairs for column, _, _ in aliases):
            others = ", ".join(dict.fromkeys(column for column, _, _ in aliases))
            raise ConfigError(
                f"{self.config.aliases}: has aliases of {others}, and none of this filter's fields "
                f"({', '.join(pairs)}). Correct its column `field`, or omit `aliases`."
            )
        for column, value, alias in aliases:
            # rows of other columns may be, and rows about documents that are not here
            if column in pairs and any(value == one for _, one in pairs[column]):
                pairs[column].append((alias, value))
        return pairs
