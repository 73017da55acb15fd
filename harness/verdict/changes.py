"""The same settings twice, paired by query: before and after the reranker, or in two runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.comparison import Comparison, Options, ScoreMatrix, compare_changes
from harness.report import Part, Table
from harness.report.tables import number
from harness.verdict.compared import difference_cells


def reranked_table(before: ScoreMatrix, after: ScoreMatrix, options: Options | None = None) -> Table | None:
    """Every reranked setting against its own retrieval; None where nothing was reranked."""
    title = f"what the reranker does to {after.measure}"
    return _changes(before, after, title, ("retrieved", "reranked"), options)


def reranked(before: ScoreMatrix, after: ScoreMatrix, options: Options | None = None) -> list[Comparison]:
    """Every reranked setting against its own retrieval, as one family of comparisons."""
    return compare_changes(_in_order_of(after, before), after, options)


def changed_table(
    before: ScoreMatrix, after: ScoreMatrix, names: tuple[str, str], options: Options | None = None
) -> Part | None:
    """The settings that two results have in common, each against itself; None where there are none."""
    common = [name for name in after.settings if name in before.settings]
    before = _in_order_of(after, before)
    if common and _equal(before, after, common):
        return (f"{after.measure} is unchanged for the settings that both results have.",)
    title = f"what has changed in {after.measure}, setting by setting"
    return _changes(before, after, title, names, options)


def _changes(
    before: ScoreMatrix, after: ScoreMatrix, title: str, names: tuple[str, str], options: Options | None
) -> Table | None:
    found = compare_changes(_in_order_of(after, before), after, options)
    if not found:
        return None
    level = (options or Options()).level
    family = f"one test of all {len(found)} settings" if len(found) > 1 else "one test"
    return Table(
        title,
        ("setting", "n", *names, "difference", f"{level:.0%} interval", "p", "won/tied/lost", "real?"),
        tuple(map(_row, found)),
        notes=(f"Intervals and p are of {family}: real where the interval excludes 0.",),
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
        clusters=tuple(other.clusters[i] for i in order) if other.clusters else (),
    )


def _equal(before: ScoreMatrix, after: ScoreMatrix, names: list[str]) -> bool:
    return all(np.array_equal(before.row(name), after.row(name), equal_nan=True) for name in names)


def _row(one: Comparison) -> tuple[str, ...]:
    return (
        one.setting,
        str(one.n),
        number(one.mean_against),
        number(one.mean),
        *difference_cells(one),
    )
