"""How a result table is declared: once, as the dataclass of its rows, whose fields are the columns.

The writer, the reader, the page, ``read_table`` and docs/results.md come from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, dataclass_transform

from harness.values import SPLITS, Cells, Column, Declared, columns_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")
T = TypeVar("T")


@dataclass(frozen=True)
class TableSpec(Generic[R]):
    """A table of a result; the file is ``name`` + ``.csv``.

    Of the columns ``key`` no two rows hold the same. ``when`` says where the table is written; '': always.
    ``some``: a result has at least one row. ``extra_columns``: more columns may follow, under names
    that the file chooses. ``foreign``: its settings are in no other table of the result.
    """

    name: str
    row: type[R]
    title: str
    when: str
    key: tuple[str, ...]
    some: bool
    extra_columns: bool
    foreign: bool
    columns: tuple[Declared, ...]

    @property
    def file(self) -> str:
        """The name of its file, where it is not packed."""
        return f"{self.name}.csv"

    def path_in(self, folder: Path) -> Path:
        """Its file in a folder of results: the packed one if that alone is there."""
        plain, packed = folder / self.file, folder / f"{self.file}.gz"
        return packed if packed.exists() and not plain.exists() else plain

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def by_name(self) -> Mapping[str, Declared]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    def lines(self, rows: Iterable[R]) -> Iterable[list[Any]]:
        """The values of every row as they are written, in the order of the columns."""
        values = attrgetter(*(column.field for column in self.columns))
        shown = [
            (i, declared.column.shown) for i, declared in enumerate(self.columns) if declared.column.shown
        ]
        for row in rows:
            line = list(values(row))
            for i, show in shown:
                line[i] = show(line[i])
            yield line

    def parsed(self, cells: Cells) -> R:
        """A row of the file as a row of the table."""
        return self.row(**{column.field: column.value(cells[column.name]) for column in self.columns})


TABLES: dict[str, TableSpec[Any]] = {}
"""Every table by the name of its file without ``.csv``, in the order in which they are declared."""

_BY_ROW: dict[type, TableSpec[Any]] = {}


@dataclass_transform(frozen_default=True)
def table(
    name: str,
    title: str,
    *,
    key: Sequence[str] = (),
    when: str = "",
    some: bool = False,
    extra_columns: bool = False,
    foreign: bool = False,
    header: str = "",
    kw_only: bool = False,
) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass of the class below, the rows of a table; see `TableSpec`.

    Its docstring describes the table. ``header`` has the columns in their order, where fields
    of a base class are not to come first. ``kw_only`` is that of dataclasses.
    """

    def declare(declared: type[T]) -> type[T]:
        row: Any = dataclass(frozen=True, slots=True, kw_only=kw_only)(declared)
        columns = columns_of(row)
        if header:
            columns = tuple(sorted(columns, key=lambda column: header.split().index(column.name)))
        if bare := {field.name for field in fields(row)} - {column.field for column in columns}:
            raise TypeError(f"{min(bare)} has no Column that says what it means")
        TABLES[name] = _BY_ROW[row] = TableSpec(
            name, row, title, when, tuple(key), some, extra_columns, foreign, columns
        )
        declared_row: type[T] = row
        return declared_row

    return declare


def spec_of(row: type[R]) -> TableSpec[R]:
    """The table whose rows are of this class."""
    return _BY_ROW[row]


# columns that recur
Setting = Annotated[str, Column("the name of a setting: a point of the sweep", filled=True)]
Stage = Annotated[
    str, Column("the step that ranked, such as `retrieve` or `rerank`; with a dot, a route", filled=True)
]
QueryId = Annotated[str, Column("the query", filled=True)]
QuerySplit = Annotated[str, Column("`train` or `validation`", among=SPLITS)]
Measure = Annotated[str, Column("a measure with its cutoff", filled=True)]
ChunkId = Annotated[str, Column("document and offsets, `document:start-end`", chunk=True)]
DocumentId = Annotated[str, Column("the document", filled=True)]
Start = Annotated[int, Column("the first character", unit="characters")]
End = Annotated[int, Column("the end, exclusive", unit="characters")]
Page = Annotated[int | None, Column("the page where it begins, from 1")]
CiLow = Annotated[float | None, Column("the lower end of its interval")]
CiHigh = Annotated[float | None, Column("the upper end of its interval")]
