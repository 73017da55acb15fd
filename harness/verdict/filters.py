"""What is said of filters: how many queries they narrow, and for how many they are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.report import FilterCounts, FilterRow, Table, count_filters, counted, is_route

_NAMED = 3


def filter_table(rows: Iterable[FilterRow]) -> Table:
    """One row a filter, for the terminal."""
    return Table(
        title="Filters: what the questions name, and labelled documents that are left out",
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
