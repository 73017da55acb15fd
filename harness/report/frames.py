"""The tables of a result as pandas DataFrames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.report.columns import TABLES, Declared
from harness.report.read import no_result
from harness.report.stored import RECORD, read_rows

if TYPE_CHECKING:
    import pandas as pd


def read_table(folder: Path | str, name: str) -> pd.DataFrame:
    """A table of a result with the types that it is declared with, such as ``read_table(folder, "summary")``.

    Whole numbers are int64, or Int64 where a cell may be empty; numbers float64 with NaN for an empty cell;
    yes and no are bool; text is as it was before it was made safe for spreadsheets, '' where it is empty.
    docs/results.md has every table and column. Raises HarnessError for an unknown name, a folder without
    results, a table that this result does not have, and a damaged one.
    """
    import pandas as pd

    folder, known = Path(folder), name.removesuffix(".csv")
    if known not in TABLES:
        raise HarnessError(f"There is no table {name!r}. Tables: {', '.join(TABLES)}.")
    spec = TABLES[known]
    try:
        rows = read_rows(folder, known)
    except FileNotFoundError as error:
        if not (folder / RECORD).exists():
            raise no_result(folder, error) from None
        when = spec.when or "by newer versions"
        raise HarnessError(f"{folder} has no {spec.file}: it is written {when}.") from None
    names = list(rows[0]) if rows else list(spec.names)
    return pd.DataFrame(
        {name: _column([row[name] for row in rows], spec.by_name.get(name)) for name in names}
    )


def _column(cells: list[str], column: Declared | None) -> pd.Series:
    """One column; without a declaration it is text."""
    import pandas as pd

    if column is None or column.kind is str:
        try:
            return pd.Series(cells, dtype="str")
        except UnicodeEncodeError:
            # half a character, as damaged documents hold, has no place in Arrow
            return pd.Series(cells, dtype="object")
    values = [column.value(cell) for cell in cells]
    dtypes = {int: "Int64" if column.empty else "int64", float: "float64", bool: "bool"}
    return pd.Series(values, dtype=dtypes[column.kind])
