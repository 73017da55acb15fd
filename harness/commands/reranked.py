"""What the reranker adds or costs, setting by setting: the same queries before and after it."""

from __future__ import annotations

from harness.compare import Comparison, ScoreMatrix, compare_pair, holm
from harness.report import Table
from harness.report.tables import number, signed


def reranked_table(before: ScoreMatrix, after: ScoreMatrix) -> Table | None:
    """Every reranked setting against its own retrieval; None where nothing was reranked."""
    settings = [name for name in after.settings if name in before.settings]
    if not settings or before.query_ids != after.query_ids:
        return None
    known = [name for name in settings if _has_value(before, after, name)]
    found = [compare_pair(name, after.row(name), name, before.row(name)) for name in known]
    if not found:
        return None
    corrected = holm([one.p for one in found]).tolist()
    rows = [_row(one, p) for one, p in zip(found, corrected, strict=True)]
    return Table(
        f"what the reranker does to {after.measure}",
        ("setting", "retrieved", "reranked", "difference", "95 % interval", "p corrected", "real?"),
        tuple(rows),
        notes=(f"Two-sided randomisation tests, corrected for {len(rows)} settings (Holm).",)
        if len(rows) > 1
        else ("A two-sided randomisation test.",),
    )


def _has_value(before: ScoreMatrix, after: ScoreMatrix, name: str) -> bool:
    both = before.row(name) + after.row(name)
    return bool((both == both).any())


def _row(one: Comparison, p: float) -> tuple[str, ...]:
    bounds = "–"
    if one.low is not None and one.high is not None and one.n >= 5:
        bounds = f"{signed(one.low)} to {signed(one.high)}"
    return (
        one.setting,
        number(one.mean_against),
        number(one.mean),
        signed(one.difference),
        bounds,
        f"{p:.3f}",
        "yes" if p <= 0.05 else "no",
    )
