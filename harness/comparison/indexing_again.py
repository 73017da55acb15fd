"""What indexing again would take, where the setting to use would replace an existing collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harness.comparison.phrases import amount
from harness.comparison.verdict_parts import IndexingCost
from harness.comparison.wordings import sentence_of

if TYPE_CHECKING:
    from harness.comparison.verdict import Verdict
    from harness.report import PriceRow


def indexing_costs(
    prices: Iterable[tuple[str, PriceRow]], counts: Mapping[str, Mapping[str, Any]]
) -> dict[str, IndexingCost]:
    """What indexing takes in every setting, by its rows of prices.csv and the counts of its record."""
    costs = {}
    for name, row in prices:
        embed_seconds = counts.get(name, {}).get("embed_seconds")
        costs[name] = IndexingCost(
            row.index_tokens, row.index_cost, embed_seconds, row.build_seconds, row.index_bytes
        )
    return costs


def indexing_sentence(verdict: Verdict) -> str:
    """What indexing again by the setting to use takes; '' where it would replace no collection."""

    def existing(setting: str) -> bool:
        search = verdict.configured.get(setting, {}).get("retrieve")
        return isinstance(search, Mapping) and bool(search.get("existing"))

    used, cost = verdict.used, verdict.indexing.get(verdict.used)
    if not used or cost is None or existing(used):
        return ""
    if not any(existing(standing.setting) for standing in verdict.standings):
        return ""
    code = "again"
    if cost.embed_seconds == 0:
        code += ".words"
    elif cost.tokens is None:
        return ""
    elif cost.money is not None:
        code += ".cost"
    elif cost.embed_seconds is not None:
        code += ".time"
    code += "" if cost.build_seconds is None else ".built"
    megabytes = "" if cost.bytes is None else f" of {amount(cost.bytes / 1e6)} MB"
    return sentence_of(
        code,
        setting=verdict.quoted(used),
        tokens=f"{cost.tokens or 0:,}",
        money=amount(cost.money or 0.0),
        # an estimate by the speed that a model had
        seconds=amount(float(f"{cost.embed_seconds or 0.0:.2g}")),
        build=amount(cost.build_seconds or 0.0),
        megabytes=megabytes,
    )
