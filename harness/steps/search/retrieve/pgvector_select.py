"""Statements to PostgreSQL that select, and names as they are written in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def quoted(name: str) -> str:
    """The name of a column or table, with its schema before a dot, as it is written in SQL."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in name.split("."))


def column(name: str) -> str:
    """The name of a column, whatever it holds."""
    return '"{}"'.format(name.replace('"', '""'))


class SelectOnly:
    """What a connection is used for: statements that select, in a transaction that cannot write."""

    def __init__(self, connection: Any) -> None:
        def select(statement: str, values: Sequence[Any] = (), before: Sequence[str] = ()) -> list[Any]:
            if not statement.lstrip().upper().startswith("SELECT") or ";" in statement:
                raise PermissionError("an existing table is read only")
            # what is set holds until the end of the block, which rolls back
            with connection.transaction(force_rollback=True), connection.cursor() as cursor:
                cursor.execute("SET LOCAL transaction_read_only = on")
                for setting in before:
                    cursor.execute(f"SET LOCAL {setting}")
                cursor.execute(statement, values)
                rows = cursor.fetchall()
            return [tuple(row.values()) if isinstance(row, dict) else row for row in rows]

        self.select = select
