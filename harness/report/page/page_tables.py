"""The tables of a result as rows of text, the names that they refer to, and numbers in short form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.report.loss_tables import is_route
from harness.report.read import refuse_foreign
from harness.report.rows.score_rows import ScoreRow
from harness.report.stored_tables import Kept, NoResultError, Row, read_record, read_rows
from harness.report.table_spec import TABLES, spec_of
from harness.report.write import Results, rows_as_read
from harness.values import real_path

# Ranks further down are not shown, and rankings are by far the longest table.
DEEPEST = 10
# Of more queries than this, the page has the rankings and passages of as many: all are too much for a
# browser, and for memory.
MOST_DRILLED = 1000
# Scores are carried as whole millionths: six decimals, and shorter JSON than fractions.
SCALE = 1_000_000
# The page rounds what it shows to three decimals. Numbers carried with barely more would be rounded twice:
# 0.123496 to 0.1235, and that to 0.124.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one folder by their names; each is read when it is first asked for.

    ``results`` is what the folder was written from, where that is at hand: then few files are read.
    """

    name: str
    record: Mapping[str, Any]
    folder: Path
    results: Results | None = None
    _rows: dict[str, list[Row] | None] = field(default_factory=dict)

    def __getitem__(self, table: str) -> list[Row]:
        """The rows of one table; none if its file is missing. Raises HarnessError for a damaged one."""
        return self._read(table) or []

    def __contains__(self, table: str) -> bool:
        return self._read(table) is not None

    @property
    def drilled(self) -> frozenset[str] | None:
        """The queries whose rankings are on the page, evenly spaced in their order; None: all."""
        ids = list(dict.fromkeys(row["query_id"] for row in self["per_query"]))
        if len(ids) <= MOST_DRILLED:
            return None
        return frozenset(ids[i * len(ids) // MOST_DRILLED] for i in range(MOST_DRILLED))

    @property
    def note(self) -> str:
        """A sentence where the page has rankings of some queries only; else ''."""
        if self.drilled is None:
            return ""
        count = len({row["query_id"] for row in self["per_query"]})
        return (
            f"Scores are those of all {count:,} queries; rankings and passages are here for "
            f"{MOST_DRILLED:,} of them, evenly spaced in their order; {self.file('rankings')} has the others."
        )

    def file(self, table: str) -> str:
        """The name of the file of a table, packed where it lies there packed."""
        return TABLES[table].path_in(self.folder).name

    @property
    def scored(self) -> list[ScoreRow]:
        """Every value of the rankings."""
        if self.results is not None:
            return self.results.per_query
        spec = spec_of(ScoreRow)
        return [spec.parsed(row) for row in self["per_query"]]

    def _kept(self, table: str) -> Kept:
        """Which rows of a long table the page needs, by their cells."""
        drilled = self.drilled if table in ("rankings", "passages") else None
        if table == "rankings":
            ranks: Kept = {"rank": {str(rank) for rank in range(1, DEEPEST + 1)}}
            return ranks if drilled is None else {**ranks, "query_id": drilled}
        return {} if drilled is None else {"chunk_id": {row["chunk_id"] for row in self["rankings"]}}

    def _read(self, table: str) -> list[Row] | None:
        if table not in self._rows:
            self._rows[table] = rows = self._rows_of(table)
            if table == "rankings":
                for row in rows or ():
                    del row["snippet"]
        return self._rows[table]

    def _rows_of(self, table: str) -> list[Row] | None:
        spec, keep = TABLES[table], self._kept(table)
        # names of own columns are in the file alone
        if self.results is not None and not spec.extra_columns:
            return rows_as_read(self.results, spec, keep)
        try:
            rows = read_rows(self.folder, table, keep)
        except NoResultError:
            return None
        if table != "summary":
            refuse_foreign(self.folder, table, rows, self["summary"])
        return rows


def read_tables(folder: Path, name: str = "", results: Results | None = None) -> Tables:
    """Open a folder of results, called ``name`` (default: as the folder), and written from ``results``.

    Raises HarnessError if it is none or a file that every result has cannot be read.
    """
    tables = Tables(name or real_path(folder).name, read_record(folder), folder, results)
    for table in ("summary", "per_query"):
        if table not in tables:
            raise NoResultError(folder / tables.file(table))
    return tables


class Axes:
    """The names that tables refer to, each in the order of first mention, and their places."""

    def __init__(self, settings: list[str], stages: list[str], measures: list[str], queries: list[str]):
        self.settings, self.stages, self.measures, self.queries = settings, stages, measures, queries
        self.setting, self.stage, self.measure, self.query = (
            {name: i for i, name in enumerate(names)} for names in (settings, stages, measures, queries)
        )

    def know(self, row: Row) -> bool:
        """Whether the setting and the query of a row were scored or listed."""
        return row["setting"] in self.setting and row["query_id"] in self.query

    @classmethod
    def of(cls, tables: Tables) -> Axes:
        """Gather the names of a result; queries that were not scored come last."""
        scored, listed = tables["per_query"], tables["queries"]
        rows = [*tables["summary"], *scored]
        return cls(
            list(dict.fromkeys(row["setting"] for row in rows)),
            # routes before the steps, whichever setting names them first: the last scored is the final one
            sorted(dict.fromkeys(row["stage"] for row in rows), key=lambda stage: not is_route(stage)),
            list(dict.fromkeys(row["measure"] for row in rows)),
            list(dict.fromkeys(row["query_id"] for row in [*scored, *listed])),
        )


def scaled(score: str | float) -> int | None:
    """A score as whole millionths; None for an empty cell."""
    return None if score == "" else round(float(score) * SCALE)


def figure(value: Any) -> float | None:
    """A number with nine significant digits; None if there is none."""
    if value is None or value == "":
        return None
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def plain(cell: str) -> float | int | str | None:
    """A cell as the number it spells, else as text; None for an empty one."""
    if cell == "":
        return None
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() and abs(number) < 2**53 else figure(number)


def cut(text: str, characters: int | None, shortest: int) -> str:
    """The first ``characters`` of a text, and no fewer than ``shortest``; None: all of it."""
    most = len(text) if characters is None else max(characters, shortest)
    return text if len(text) <= most else text[:most] + " …"
