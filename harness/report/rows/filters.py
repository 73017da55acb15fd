"""What filters left of the documents: query by query, and how many queries each narrows or gets wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import QueryId, Setting


@table(
    "filters",
    "what a filter found in each query",
    key=("setting", "step", "query_id"),
    when="with a filter",
)
@dataclass(frozen=True, slots=True)
class FilterRow:
    """What a filter of a setting found in a query, and what of the labelled text it left out.

    A filter is *wrong* for a query where a document with relevant text is not among those left: restricted,
    the search cannot find it; boosted, other documents are put before it. Text that a judge grades was
    retrieved, so there ``wrong`` counts what some other setting has found.
    """

    setting: Setting
    step: Annotated[str, Column("the step that searches; with a dot, a route", filled=True)]
    query_id: QueryId
    mode: Annotated[str, Column("how the remaining documents are used", among=("restrict", "boost"))]
    named: Annotated[
        str, Column("what the question names, as `column=value|value`, separated by `; `; empty: nothing")
    ]
    dropped: Annotated[
        str,
        Column(
            "columns that were ignored because no document has everything that is named; separated by blanks"
        ),
    ]
    documents: Annotated[int, Column("documents that remain; all of them if nothing is named")]
    of: Annotated[int, Column("documents that are searched without the filter")]
    labelled: Annotated[int, Column("documents with text that is relevant to the query")]
    excluded: Annotated[str, Column("those of them that the filter excludes, separated by blanks")]
    failed: Annotated[str, Column("why it is unknown what the question names; empty: it is known")]

    @property
    def wrong(self) -> bool:
        """Whether it left out a document with relevant text."""
        return bool(self.excluded)


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
