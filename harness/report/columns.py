"""How a result table is declared: once, as the dataclass of its rows.

Every field is a column. Its type says what a cell may hold, its `Column` what it means. The writer, the
reader, the page, ``read_table`` and docs/results.md come from that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import cached_property
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as types_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")
Cells = dict[str, str]

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_RANGE = r"[0-9]{1,15}-[0-9]{1,15}"


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None and abs(float(cell)) != float("inf")


Check = tuple[str, Callable[[str], Any]]
# For each type its description, and the check of a cell.
_COUNT: Check = "a whole number", re.compile(r"[0-9]{1,15}").fullmatch
_FIGURE: Check = "a finite number", _is_number
_YES_NO: Check = "yes or no", ("yes", "no").__contains__
_CHUNK: Check = (
    "the id of a chunk such as document:0-100",
    re.compile(rf".*:({_RANGE}\+)*{_RANGE}", re.DOTALL).fullmatch,
)
_RANGES: Check = "ranges such as 0-20 30-40", re.compile(rf"({_RANGE}( {_RANGE})*)?").fullmatch
_NAME: Check = "a name", bool
_BY_TYPE = {int: _COUNT, float: _FIGURE, bool: _YES_NO}


@dataclass(frozen=True, slots=True)
class Column:
    """The meaning of a field as a column, given in its type: ``Annotated[int, Column("how many")]``.

    ``unit`` of a number; ``header`` where the column is not called as the field; ``filled``: text that is
    never empty; ``chunk``: the id of a chunk; ``ranges``: none or more ranges of offsets; ``among``: all it
    may say, where that is known; ``shown`` turns a value into what is written of it; ``restored`` finds the
    text of a cell where its row says more of it.
    """

    about: str
    unit: str = ""
    header: str = ""
    filled: bool = False
    chunk: bool = False
    ranges: bool = False
    among: tuple[str, ...] = ()
    shown: Callable[[Any], Any] | None = None
    restored: Callable[[Cells], str] | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """A column and its field: ``kind`` is the type of its values; ``empty``: None is one of them."""

    name: str
    field: str
    kind: type
    empty: bool
    column: Column

    @property
    def check(self) -> Check | None:
        """The type of a cell in words, and a check whether a cell is of it; None if it may hold anything."""
        column = self.column
        if column.among:
            return f"one of {', '.join(column.among)}", column.among.__contains__
        if column.chunk or column.ranges:
            return _CHUNK if column.chunk else _RANGES
        if self.kind is str:
            return _NAME if column.filled else None
        what, holds = _BY_TYPE[self.kind]
        return (f"{what} or nothing", lambda cell: not cell or holds(cell)) if self.empty else (what, holds)

    def value(self, cell: str) -> Any:
        """The value that a checked cell spells."""
        if self.empty and not cell:
            return None
        return cell == "yes" if self.kind is bool else self.kind(cell)


@dataclass(frozen=True, slots=True)
class Earlier:
    """How an older version wrote a table: known by its ``columns``; ``rows`` turns its cells into ours."""

    columns: frozenset[str]
    rows: Callable[[Cells], Iterable[Cells]]


@dataclass(frozen=True)
class TableSpec(Generic[R]):
    """A table of a result; the file is ``name`` + ``.csv``.

    Of the columns ``key`` no two rows hold the same. Without the columns ``needs`` it cannot be read; results
    of older versions may lack the others. ``when`` says where the table is written; '': always. ``some``: a
    result has at least one row. ``own``: more columns may follow under names of their own.
    """

    name: str
    row: type[R]
    title: str
    when: str
    key: tuple[str, ...]
    needs: tuple[str, ...]
    some: bool
    own: bool
    earlier: Earlier | None
    columns: tuple[Declared, ...]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.csv"

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(one.name for one in self.columns)

    @cached_property
    def by_name(self) -> Mapping[str, Declared]:
        """The columns by their names."""
        return {one.name: one for one in self.columns}

    def lines(self, rows: Iterable[R]) -> Iterable[list[Any]]:
        """The values of every row as they are written, in the order of the columns."""
        values = attrgetter(*(one.field for one in self.columns))
        shown = [(i, one.column.shown) for i, one in enumerate(self.columns) if one.column.shown]
        for row in rows:
            line = list(values(row))
            for i, show in shown:
                line[i] = show(line[i])
            yield line

    def parsed(self, cells: Cells) -> R:
        """A row of the file as a row of the table; columns it lacks have their default."""
        return self.row(
            **{one.field: one.value(cells[one.name]) for one in self.columns if one.name in cells}
        )


TABLES: dict[str, TableSpec[Any]] = {}
"""Every table by the name of its file without ``.csv``, in the order in which they are declared."""

_BY_ROW: dict[type, TableSpec[Any]] = {}


def table(
    name: str,
    title: str,
    *,
    key: Sequence[str] = (),
    needs: Sequence[str] | None = None,
    when: str = "",
    some: bool = False,
    own: bool = False,
    earlier: Earlier | None = None,
) -> Callable[[type[R]], type[R]]:
    """Declare the dataclass below as the rows of a table; see `TableSpec`. Its docstring describes the table.

    ``needs`` are by default the columns whose fields have no default.
    """

    def declare(row: type[R]) -> type[R]:
        types = types_of(row, include_extras=True)
        columns = tuple(_declared(field, types[field.name]) for field in fields(row))
        without = [
            one.name for one, field in zip(columns, fields(row), strict=True) if field.default is MISSING
        ]
        required = tuple(without if needs is None else needs)
        spec = TableSpec(name, row, title, when, tuple(key), required, some, own, earlier, columns)
        TABLES[name] = _BY_ROW[row] = spec
        return row

    return declare


def spec_of(row: type[R]) -> TableSpec[R]:
    """The table whose rows are of this class."""
    return _BY_ROW[row]


def _declared(field: Field[Any], annotated: Any) -> Declared:
    if get_origin(annotated) is not Annotated:
        raise TypeError(f"{field.name} has no Column that says what it means")
    base, column = get_args(annotated)
    parts = get_args(base) if get_origin(base) in (Union, UnionType) else (base,)
    kinds = [part for part in parts if part is not NoneType]
    return Declared(column.header or field.name, field.name, kinds[0], len(kinds) < len(parts), column)
