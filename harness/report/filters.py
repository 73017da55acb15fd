"""How many queries each filter narrows, and for how many it is wrong, from the rows of filters.csv."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.report.rows.filters import FilterRow


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """Counts of queries for one filter: all, those that name something, those with a column set aside.

    ``wrong`` is for how many of the ``labelled`` ones a document with relevant text is left out; ``failed``
    how many have no answer of a language model. ``left`` is the mean number of documents left.
    """

    queries: int
    named: int
    dropped: int
    labelled: int
    wrong: int
    failed: int
    left: float
    of: float


def count_filters(rows: Iterable[FilterRow]) -> dict[tuple[str, str], FilterCounts]:
    """The counts of every filter, by setting and step."""
    by_filter: dict[tuple[str, str], list[FilterRow]] = {}
    for row in rows:
        by_filter.setdefault((row.setting, row.step), []).append(row)
    return {
        which: FilterCounts(
            queries=len(own),
            named=sum(bool(row.named) for row in own),
            dropped=sum(bool(row.dropped) for row in own),
            labelled=sum(row.labelled > 0 for row in own),
            wrong=sum(row.wrong for row in own),
            failed=sum(bool(row.failed) for row in own),
            left=sum(row.documents for row in own) / len(own),
            of=sum(row.of for row in own) / len(own),
        )
        for which, own in by_filter.items()
    }
