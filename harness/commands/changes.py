"""The same settings twice, paired by query: before and after the reranker, or in two runs."""

from __future__ import annotations

import numpy as np

from harness.compare import Comparison, ScoreMatrix, compare_pair, holm
from harness.report import Part, Table
from harness.report.tables import number, signed


def reranked_table(before: ScoreMatrix, after: ScoreMatrix) -> Table | None:
    """Every reranked setting against its own retrieval; None where nothing was reranked."""
    return _changes(before, after, f"what the reranker does to {after.measure}", ("retrieved", "reranked"))


def changed_table(before: ScoreMatrix, after: ScoreMatrix, names: tuple[str, str]) -> Part | None:
    """The settings that two results have in common, each against itself; None where there are none."""
    common = [name for name in after.settings if name in before.settings]
    if common and before.query_ids == after.query_ids and _equal(before, after, common):
        return (f"Nothing has changed in {after.measure} for the settings that both results have.",)
    return _changes(before, after, f"what has changed in {after.measure}, setting by setting", names)


def _changes(before: ScoreMatrix, after: ScoreMatrix, title: str, names: tuple[str, str]) -> Table | None:
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
        title,
        ("setting", *names, "difference", "95 % interval", "p corrected", "won/tied/lost", "real?"),
        tuple(rows),
        notes=(f"Two-sided randomisation tests, corrected for {len(rows)} settings (Holm).",)
        if len(rows) > 1
        else ("A two-sided randomisation test.",),
    )


def _equal(before: ScoreMatrix, after: ScoreMatrix, names: list[str]) -> bool:
    return all(np.array_equal(before.row(name), after.row(name), equal_nan=True) for name in names)


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
        f"{one.wins}/{one.ties}/{one.losses}",
        "yes" if p <= 0.05 else "no",
    )
