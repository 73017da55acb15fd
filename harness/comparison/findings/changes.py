"""Compare the same settings, paired by query: before and after the reranker, or in two runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from harness.comparison.family import compare_changes
from harness.comparison.findings.compared import difference_cells
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, Options
from harness.measures import across_chunkings
from harness.report import Part, Table
from harness.values import number


def reranked_table(before: ScoreMatrix, after: ScoreMatrix, options: Options | None = None) -> Table | None:
    """Every reranked setting against its own retrieval; None if nothing was reranked."""
    title = f"what the reranker does to {after.measure}"
    return _changes(before, after, title, ("retrieved", "reranked"), options)


def reranked(before: ScoreMatrix, after: ScoreMatrix, options: Options | None = None) -> list[Comparison]:
    """Every reranked setting against its own retrieval, as one family of comparisons."""
    return compare_changes(before.in_order_of(after.query_ids), after, options)


def cut_differently(measure: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """The settings whose chunkings differ in two results, where the measure compares only over one chunking.

    ``before`` and ``after`` say by setting how it cuts documents.
    """
    if across_chunkings(measure):
        return ()
    return tuple(name for name, cut in after.items() if before.get(name, cut) != cut)


def changed_table(
    before: ScoreMatrix,
    after: ScoreMatrix,
    names: tuple[str, str],
    options: Options | None = None,
    apart: Collection[str] = (),
) -> Part | None:
    """The settings that two results have in common, each against itself; None if there are none.

    ``apart`` are settings that the measure cannot compare with themselves, as they cut differently.
    """
    common = [name for name in after.settings if name in before.settings]
    before = before.in_order_of(after.query_ids)
    if common and all(np.array_equal(before.row(one), after.row(one), equal_nan=True) for one in common):
        return (f"{after.measure} is unchanged for the settings that both results have.",)
    title = f"what has changed in {after.measure}, setting by setting"
    return _changes(before, after, title, names, options, apart)


def _changes(
    before: ScoreMatrix,
    after: ScoreMatrix,
    title: str,
    names: tuple[str, str],
    options: Options | None,
    apart: Collection[str] = (),
) -> Table | None:
    found = reranked(before, after, options)
    if not found:
        return None
    found = [replace(one, finding="incomparable") if one.setting in apart else one for one in found]
    level = (options or Options()).level
    family = f"one test of all {len(found)} settings" if len(found) > 1 else "one test"
    return Table(
        title,
        ("setting", "n", *names, "difference", f"{level:.0%} interval", "p", "won/tied/lost", "real?"),
        tuple(map(_row, found)),
        notes=(
            f"Intervals and p are of {family}: real where the interval excludes 0"
            f"{' and the chunks are the same (no: chunks)' if apart else ''}; equivalent where it is "
            f"within ±{(options or Options()).tolerance:g}.",
        ),
    )


def _row(one: Comparison) -> tuple[str, ...]:
    return (
        one.setting,
        str(one.n),
        number(one.mean_against),
        number(one.mean),
        *difference_cells(one),
    )
