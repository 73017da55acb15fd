"""What is said of filters: how many queries they narrow, and for how many they are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.report import FilterRow, Table, counted, is_route

_NAMED = 3


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


def filter_table(rows: Iterable[FilterRow]) -> Table:
    """One row a filter, for the terminal."""
    return Table(
        title="Filters: what the questions name, and where a labelled document is left out",
        columns=("setting", "queries", "name something", "column set aside", "documents left", "wrong"),
        rows=tuple(
            (
                setting if not is_route(step) else f"{setting}: {step}",
                str(one.queries),
                str(one.named),
                str(one.dropped),
                f"{one.left:.1f} of {one.of:.0f}",
                f"{one.wrong} of {one.labelled}",
            )
            for (setting, step), one in count_filters(rows).items()
        ),
    )


def filter_notes(
    rows: Mapping[str, Iterable[FilterRow]], names: Mapping[tuple[str, str], str]
) -> tuple[str, ...]:
    """The caveat about filters that are wrong, most often wrong first; none where all are right.

    ``rows`` are those of each result, ``names`` what a (result, setting) is called.
    """
    worst: dict[str, tuple[FilterCounts, bool]] = {}
    for result, own in rows.items():
        kept = list(own)
        modes = {(row.setting, row.step): row.mode for row in kept}
        for (setting, step), one in count_filters(kept).items():
            name = names.get((result, setting))
            if name is None or not one.wrong or (name in worst and worst[name][0].wrong >= one.wrong):
                continue
            worst[name] = one, modes[setting, step] == "restrict" and not is_route(step)
    ordered = sorted(worst.items(), key=lambda item: -item[1][0].wrong)
    if not ordered:
        return ()
    shown = ", ".join(
        f"{name} ({one.wrong} of {counted(one.labelled, 'query', 'queries')})"
        for name, (one, _) in ordered[:_NAMED]
    )
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    lost = "; what they leave out cannot be found" if any(final for _, (_, final) in ordered) else ""
    return (f"Filters leave out labelled documents: {shown}{more}{lost}. filters.csv lists them.",)
