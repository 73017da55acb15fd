"""Families of comparisons: all pairs, all against a baseline, or every setting before and after."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, Options, compare_rows
from harness.comparison.stats.arrays import Bools
from harness.comparison.stats.units import units_of
from harness.values import HarnessError


def compare_to(matrix: ScoreMatrix, baseline: str, options: Options | None = None) -> list[Comparison]:
    """Every other setting against ``baseline``; raises HarnessError for an unknown one."""
    defined = usable(matrix)
    units = units_of(defined.clusters, len(defined.query_ids))
    pairs = pairs_to(defined, baseline)
    found, _ = compare_rows(defined.settings, defined.values, pairs, units, options or Options())
    return found


def compare_changes(
    before: ScoreMatrix, after: ScoreMatrix, options: Options | None = None
) -> list[Comparison]:
    """Every setting of ``after`` that ``before`` has too, against itself there; both of the same queries.

    A setting without a query that both score is left out. Raises ValueError if queries differ.
    """
    if before.query_ids != after.query_ids:
        raise ValueError("both must be scored on the same queries, in the same order")
    names = [name for name in after.settings if name in before.settings]
    if not names:
        return []
    stacked = np.vstack([np.stack([m.row(name) for name in names]) for m in (after, before)])
    known: Bools = np.logical_not(np.isnan(stacked).any(axis=0))
    if not known.any():
        return []
    kept = after.only(known)
    units = units_of(kept.clusters, len(kept.query_ids))
    pairs = [(i, len(names) + i) for i in range(len(names))]
    found, _ = compare_rows((*names, *names), stacked[:, known], pairs, units, options or Options())
    return found


def usable(matrix: ScoreMatrix) -> ScoreMatrix:
    """The queries for which the measure is defined; raises HarnessError if there is none."""
    defined = matrix.defined()
    if not defined.query_ids:
        raise HarnessError(f"No query has a value of {matrix.measure}, so there is nothing to compare.")
    return defined


def all_pairs(matrix: ScoreMatrix) -> list[tuple[int, int]]:
    """Every pair of rows, the higher mean first."""
    order = np.argsort(-matrix.means, kind="stable").tolist()
    return [*combinations(order, 2)]


def pairs_to(matrix: ScoreMatrix, baseline: str) -> list[tuple[int, int]]:
    """Every row against that of ``baseline``; raises HarnessError for an unknown one."""
    matrix.row(baseline)
    base = matrix.settings.index(baseline)
    return [(i, base) for i in range(len(matrix.settings)) if i != base]
