"""Tables that people write: each is declared once, as the dataclass of its rows (harness/values/columns.py).

Reader, checks and messages come from the declaration, and so do the tables of docs/corpora.md. Add one so::

    @input_table("skips", "passages that nobody can grade", LabelError, key=("query_id",))
    @dataclass(frozen=True, slots=True)
    class SkippedRow:
        query_id: Annotated[str, Column("the query")]
        start: Annotated[int, Column("the first character")]
        line: int = 0

Fields called ``line`` and ``where`` have no column: they are the line of the row, and where it is for
messages. Columns called ``start`` and ``end`` are a half-open range.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harness.data.corpus.input_table import (
    FaultsOfRows,
    InputTable,
    Note,
    Row,
    check_offsets,
    plain_cell,
    read_table,
)
from harness.values import Declared, HarnessError, columns_of, refuse_special, suggestion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")
Fault = Callable[[R], str]
"""Says what is wrong with a row as a whole, with the remedy; '' for nothing."""
# two letters exchanged in a word of five: what is less alike may well be a column of another kind
_MISSPELT = 0.8
# fields that name something; the others may hold text of a document
_NAMING = {"query_id", "document", "evidence", "judge"}


@dataclass(frozen=True, slots=True)
class InputSpec(Generic[R]):
    """A table that people write; ``about`` is a line on it, ``error`` what faults raise."""

    name: str
    about: str
    row: type[R]
    error: type[HarnessError]
    key: tuple[str, ...]
    """Of these columns no two rows hold the same, and those that have to be there are never empty."""
    formulas: bool
    """All cells may have the apostrophe that keeps a spreadsheet from running them; it is taken off.

    Names lose it in every table; what is compared with a text keeps it, as it may be in the text.
    """
    columns: tuple[Declared, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that a file must have, and has under no other name."""
        return tuple(
            input_column.name
            for input_column in self.columns
            if input_column.default is MISSING and not input_column.column.names
        )


INPUTS: dict[type[Any], InputSpec[Any]] = {}
"""Every declared table by the class of its rows."""


def input_table(
    name: str, about: str, error: type[HarnessError], *, key: tuple[str, ...] = (), formulas: bool = False
) -> Callable[[type[R]], type[R]]:
    """Declare the dataclass below as the rows of a table that people write; see `InputSpec`."""

    def declare(row: type[R]) -> type[R]:
        INPUTS[row] = InputSpec(name, about, row, error, key, formulas, columns_of(row))
        return row

    return declare


def read_rows(
    path: Path,
    row: type[R],
    note: Note = lambda _: None,
    fault: Fault[R] | None = None,
    *,
    may_lack: bool = False,
) -> list[R]:
    """The rows of a file; with ``may_lack`` none where it is not there or has only a header.

    Raises the error of its declaration, which names all lines at fault, the columns and the remedies.
    """
    spec = INPUTS[row]
    if may_lack and (not path.exists() or is_bare(path, spec.needs)):
        return []
    return rows_of(read_table(path, spec.needs, spec.error, note), row, fault)


def is_bare(path: Path, needed: Collection[str]) -> bool:
    """Whether a file has a header and nothing below it."""
    refuse_special(path)
    with path.open("rb") as file:
        header = file.readline()
        return not file.read(64).strip() and all(name.encode() in header for name in needed)


def rows_of(table: InputTable, row: type[R], fault: Fault[R] | None = None) -> list[R]:
    """The rows of a table that is read already; errors as `read_rows`."""
    spec = INPUTS[row]
    names = _names(spec, table)
    escaped = table.path.suffix.lower() != ".jsonl"
    places = [field.name for field in fields(row) if field.name in ("line", "where")]
    faults, rows, lines = FaultsOfRows(spec.error), list[R](), dict[tuple[Any, ...], int]()
    for raw in table.rows:
        where = f"{table.path}, line {raw.line}"
        with faults.of_a_row():
            values = {
                input_column.field: _value(
                    spec, input_column, names[input_column.field], raw.cells, where, escaped=escaped
                )
                for input_column in spec.columns
            }
            check_offsets(where, values.get("start"), values.get("end"), spec.error)
            place = {"line": raw.line, "where": where}
            record = row(**values, **{name: place[name] for name in places})
            if fault is not None and (wrong := fault(record)):
                raise spec.error(f"{where}: {wrong}")
            key = tuple(values[column] for column in spec.key)
            if key and lines.setdefault(key, raw.line) != raw.line:
                same = ", ".join(filter(None, map(names.__getitem__, spec.key)))
                raise spec.error(f"{where}: has the {same} of line {lines[key]}. Keep one of them.")
            rows.append(record)
    faults.end()
    return rows


def refuse_misspelt(table: InputTable, row: type[Any]) -> None:
    """Raise the error of a table for a likely misspelling of a declared column that is missing.

    Other columns are kept or ignored, so a misspelt one would go unnoticed.
    """
    spec = INPUTS[row]
    # a note is not used either
    names = {name for column in spec.columns for name in (column.name, *column.column.names)} - {"note"}
    # lines of JSON have columns of their own
    first_of: dict[str, Row] = {}
    for line in table.rows:
        for name in line.cells:
            first_of.setdefault(name, line)
    for name, first in first_of.items():
        if name in names:
            continue
        if near := suggestion(name, {other for other in names if other not in first.cells}, _MISSPELT):
            raise spec.error(
                f"{table.path}, line {first.line}: the column {name!r} is not read{near}. Rename it; "
                "if it holds something else, give it another name or remove it."
            )


def _names(spec: InputSpec[Any], table: InputTable) -> dict[str, str]:
    """What the file calls the column of each field; raises the error of the table where one is missing."""
    names: dict[str, str] = {}
    for input_column in spec.columns:
        called = (input_column.name, *input_column.column.names)
        names[input_column.field] = next((name for name in called if name in table.columns), "")
        if not names[input_column.field] and input_column.default is MISSING:
            raise spec.error(
                f"{table.path}: there is no column {' or '.join(called)}. The columns are: "
                f"{', '.join(table.columns)}. Add or rename one."
            )
    return names


def _value(
    spec: InputSpec[Any], column: Declared, name: str, cells: Mapping[str, str], where: str, *, escaped: bool
) -> Any:
    # a column without a name, such as the index that pandas writes, is not the one that is missing
    cell = cells.get(name, "") if name else ""
    if escaped and (spec.formulas or column.field in _NAMING):
        cell = plain_cell(cell)
    try:
        if column.needed and column.field in spec.key and not cell.strip():
            raise ValueError("is empty. Fill it.")
        return column.read(cell)
    except ValueError as fault:
        raise spec.error(f"{where}: {name} {fault}") from None
