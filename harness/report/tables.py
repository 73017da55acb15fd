"""A table as plain values: built once, then written as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_FOR_INTERVAL = 5
"""With fewer queries an interval says less than it seems to, and none is shown."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, one row a tuple as long as ``columns``; the first ``names`` columns say what a row is.

    Columns whose index is in ``left`` stand on the left, all others (numbers) on the right. ``notes`` are
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


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its word: ``1 query``, ``2 queries``; ``many`` is ``one`` with an s unless given."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where there is none; what rounds to zero has no sign."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text if text.strip("-0.") else f"{0:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """A figure with its sign; what rounds to zero has none."""
    text = f"{value:+.{digits}f}"
    return text if text.strip("+-0.") else f"{0:.{digits}f}"


def signed_interval(low: float | None, high: float | None, n: int) -> str:
    """`interval` of a difference."""
    if low is None or high is None or n < FEWEST_FOR_INTERVAL:
        return "–"
    return f"{signed(low)} to {signed(high)}"


def interval(low: float | None, high: float | None, n: int) -> str:
    """The two ends of an interval, or a dash where there is none or ``n`` queries are too few for one."""
    if low is None or high is None or n < FEWEST_FOR_INTERVAL:
        return "–"
    return f"{low:.3f}–{high:.3f}"
