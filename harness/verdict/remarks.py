"""What stands beside a verdict: what settings cost, and what filters do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from harness.comparison import Costs
from harness.report import FilterCounts, FilterRow, Table, count_filters, counted, is_route

_NAMED = 3
NO_PRICES = "Costs are left out: not all results have a prices.csv."
OTHER_DEPTHS = "Costs are left out: the results count tokens to different depths (k)."


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


def costs_of(
    prices: Mapping[str, Iterable[Mapping[str, Any]]],
    names: Mapping[tuple[str, str], str],
    stage: str = "final",
) -> Costs:
    """The tokens to read in every setting's first k chunks, where all results say so for one k.

    ``prices`` maps results to the rows of their prices.csv, ``names`` each (result, setting) to what it is
    called here.
    """
    tokens: dict[tuple[str, str], float] = {}
    depths = set()
    for result, rows in prices.items():
        # rows stand in the order of the stages, so that the last one stays
        for row in rows:
            if stage in ("final", row["stage"]):
                tokens[result, row["setting"]] = float(row["tokens_at_k"] or math.nan)
                depths.add(str(row["k"] if row["k"] is not None else ""))
    if not tokens:
        return Costs(None, "")
    if any(not math.isfinite(tokens.get(key, math.nan)) for key in names):
        return Costs(None, "", NO_PRICES)
    if len(depths) > 1:
        return Costs(None, "", OTHER_DEPTHS)
    k = depths.pop()
    return Costs({name: tokens[key] for key, name in names.items()}, f"tokens@{k}" if k else "tokens")
