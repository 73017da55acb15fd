"""The same settings twice, paired by query: before and after the reranker, or in two runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.compare import Comparison, ScoreMatrix, compare_pair, holm
from harness.report import Part, Table
from harness.report.tables import number, signed, signed_interval


def reranked_table(before: ScoreMatrix, after: ScoreMatrix) -> Table | None:
    """Every reranked setting against its own retrieval; None where nothing was reranked."""
    return _changes(before, after, f"what the reranker does to {after.measure}", ("retrieved", "reranked"))


def changed_table(before: ScoreMatrix, after: ScoreMatrix, names: tuple[str, str]) -> Part | None:
    """The settings that two results have in common, each against itself; None where there are none."""
    common = [name for name in after.settings if name in before.settings]
    before = _in_order_of(after, before)
    if common and _equal(before, after, common):
        return (f"Nothing has changed in {after.measure} for the settings that both results have.",)
    return _changes(before, after, f"what has changed in {after.measure}, setting by setting", names)


def _changes(before: ScoreMatrix, after: ScoreMatrix, title: str, names: tuple[str, str]) -> Table | None:
    settings = [name for name in after.settings if name in before.settings]
    before = _in_order_of(after, before)
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


def _in_order_of(one: ScoreMatrix, other: ScoreMatrix) -> ScoreMatrix:
    """``other`` with its queries in the order of ``one``; both are of the same queries."""
    if one.query_ids == other.query_ids:
        return other
    place = {query_id: i for i, query_id in enumerate(other.query_ids)}
    order = [place[query_id] for query_id in one.query_ids]
    return replace(
        other,
        query_ids=one.query_ids,
        values=other.values[:, order],
        splits=tuple(other.splits[i] for i in order),
        strata=tuple(other.strata[i] for i in order) if other.strata else (),
    )


def _equal(before: ScoreMatrix, after: ScoreMatrix, names: list[str]) -> bool:
    return all(np.array_equal(before.row(name), after.row(name), equal_nan=True) for name in names)


def _has_value(before: ScoreMatrix, after: ScoreMatrix, name: str) -> bool:
    both = before.row(name) + after.row(name)
    return bool((both == both).any())


def _row(one: Comparison, p: float) -> tuple[str, ...]:
    return (
        one.setting,
        number(one.mean_against),
        number(one.mean),
        signed(one.difference),
        signed_interval(one.low, one.high, one.n),
        f"{p:.3f}",
        f"{one.wins}/{one.ties}/{one.losses}",
        "yes" if p <= 0.05 else "no",
    )
