"""What settings cost, from the rows of prices.csv."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from harness.comparison import Costs

NO_PRICES = "Costs are left out: not all results have a prices.csv."
OTHER_DEPTHS = "Costs are left out: the results count tokens to different depths (k)."


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
