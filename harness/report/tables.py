"""A table as plain values: built once, then written as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, one row a tuple as long as ``columns``; the first ``names`` columns say what a row is.

    Columns whose index is in ``left`` are on the left, all others (numbers) on the right. ``notes`` are
    sentences that belong below. ``prose``: how many of the last columns hold text that may run over
    lines.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    left: frozenset[int] = frozenset({0})
    notes: tuple[str, ...] = ()
    prose: int = 0

    def __post_init__(self) -> None:
        """Refuse rows of another length than the head."""
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.title!r} is not as long as its {len(self.columns)} columns")
