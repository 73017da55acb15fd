"""Tables that say something of documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from harness.corpus import ids_meant
from harness.corpus.table import read_table
from harness.errors import ConfigError


def facts_of(
    file: Path, key: str, columns: Sequence[str], documents: Collection[str]
) -> dict[str, Mapping[str, str]]:
    """The cells of a table by document and column, those of ``documents`` alone; ``key`` names its column.

    Raises ConfigError for a column that is not there and a document that stands twice.
    """
    table = read_table(file, (key, *columns), ConfigError)
    known = set(documents)
    found: dict[str, Mapping[str, str]] = {}
    for row in table.rows:
        doc_id = next((one for one in ids_meant(row.get(key)) if one in known), None)
        if doc_id in found:
            raise ConfigError(
                f"{file}, line {row.line}: document {row.get(key)!r} occurs twice. Remove one row."
            )
        if doc_id is not None:
            found[doc_id] = {column: row.get(column) for column in columns}
    return found


def rows_of(file: Path, columns: Sequence[str]) -> list[Mapping[str, str]]:
    """The cells of a table row by row; raises ConfigError for a column that is not there."""
    table = read_table(file, columns, ConfigError)
    return [{column: row.get(column) for column in columns} for row in table.rows]
