"""What `harness compare` tells: the leaders, the differences, what to choose and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.compare import (
    Advice,
    Comparison,
    Options,
    ScoreMatrix,
    Step,
    advise,
    compare_all,
    compare_to,
    cross_validate,
    front,
    select,
)
from harness.compare.interval import intervals, within
from harness.report import Part, Table
from harness.report.tables import FEWEST_FOR_INTERVAL, interval, number, signed, signed_interval

SHOWN = 30


@dataclass(frozen=True, slots=True)
class Costs:
    """What settings cost, in one ``unit``; or None, for the ``reason``."""

    by_setting: Mapping[str, float] | None
    unit: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of all settings: its ``parts`` in the order of reading, and every pair ``found``."""

    parts: tuple[Part, ...]
    found: tuple[Comparison, ...]


def compare_settings(
    matrix: ScoreMatrix,
    costs: Costs,
    *,
    baseline: str | None = None,
    select_by: str = "train",
    folds: int = 5,
    only_real: bool = False,
) -> Compared:
    """Compare the settings of a matrix of defined queries; ``only_real`` leaves out other differences."""
    if len(matrix.settings) < 2:
        lonely = "There is one setting; compare needs two. Sweep a field, or name a second folder of results."
        return Compared((leader_table(matrix, None, costs), (lonely,)), ())
    pairs = compare_to(matrix, baseline) if baseline else compare_all(matrix)
    found = tuple(sorted(pairs, key=lambda one: (one.p_max, -abs(one.difference))))
    advice = advise(matrix, costs.by_setting, unit=costs.unit)
    told = [*_selected(matrix, select_by, folds)]
    for sentence in advice.sentences():
        told.append(sentence)
        if sentence.startswith("Ruled out"):
            told += _stricter(advice, found)
    told += _front(matrix, costs)
    return Compared(
        (
            leader_table(matrix, advice, costs),
            *_differences(found, only_real and baseline is None, bool(baseline)),
            tuple(told),
        ),
        found,
    )


def leader_table(matrix: ScoreMatrix, advice: Advice | None, costs: Costs) -> Table:
    """The settings by their means, each with its interval, how often it is best, and its price."""
    low, high = within(*intervals(matrix.values), matrix.values, 0.0)
    n = len(matrix.query_ids)
    columns = ["setting", "mean", "95 % interval"]
    columns += ["best in"] if advice else []
    columns += [costs.unit, "front"] if costs.by_setting else []
    on_front = {step.setting for step in _steps(matrix, costs)}
    rows = []
    for i in np.argsort(-matrix.means, kind="stable").tolist():
        name = matrix.settings[i]
        lowest, highest = (None if np.isnan(end[i]) else float(end[i]) for end in (low, high))
        row = [name, number(float(matrix.means[i])), interval(lowest, highest, n)]
        row += [f"{100 * advice.best_share[name]:.0f} %"] if advice else []
        row += (
            [f"{costs.by_setting[name]:,.0f}", "yes" if name in on_front else ""] if costs.by_setting else []
        )
        rows.append(tuple(row))
    notes = ["interval: guarded t (docs/statistics.md); summary.csv has the bootstrap of each mean."]
    notes += ["best in: share of bootstrap resamples of the queries."] if advice else []
    notes += ["Too few queries for intervals."] if n < FEWEST_FOR_INTERVAL else []
    if costs.by_setting:
        notes.append(f"front: no other setting is as good for as few {costs.unit}.")
    return Table(f"{matrix.measure}: means over {n} queries", tuple(columns), tuple(rows), notes=tuple(notes))


def _differences(found: Sequence[Comparison], only_real: bool, against_baseline: bool) -> list[Part]:
    shown = [one for one in found if one.significant() or not only_real]
    family = f"corrected for all {len(found)} {'settings' if against_baseline else 'pairs'}"
    if not shown:
        return [(f"No difference is real at the 5 % level (two-sided tests, {family}).",)]
    columns = ("setting", "against", "difference", "95 % interval", "p corrected", "won/tied/lost", "real?")
    more = len(shown) - SHOWN
    return [
        Table(
            f"{'real differences' if only_real else 'differences'}, the clearest first",
            columns,
            tuple(_row(one) for one in shown[:SHOWN]),
            names=2,
            left=frozenset({0, 1}),
            notes=(
                f"Two-sided randomisation tests, {family}." if len(found) > 1 else "A two-sided test.",
                *([_DISAGREE] if any(_disagrees(one) for one in shown[:SHOWN]) else []),
                *([f"{more} more; --csv FILE writes all of them."] if more > 0 else []),
            ),
        )
    ]


_DISAGREE = (
    "An interval is of one pair alone and of another method; where it and the test part, the test decides."
)


def _disagrees(one: Comparison) -> bool:
    if one.low is None or one.high is None or one.n < FEWEST_FOR_INTERVAL:
        return False
    return (one.low > 0 or one.high < 0) != one.significant()


def _row(one: Comparison) -> tuple[str, ...]:
    return (
        one.setting,
        one.against,
        signed(one.difference),
        signed_interval(one.low, one.high, one.n),
        f"{one.p_max:.3f}",
        f"{one.wins}/{one.ties}/{one.losses}",
        "yes" if one.significant() else "no",
    )


def _selected(matrix: ScoreMatrix, select_by: str, folds: int) -> tuple[str, ...]:
    if select_by == "cross-validated":
        return cross_validate(matrix, folds).sentences()
    if {"train", "validation"} <= set(matrix.splits):
        return select(matrix).sentences()
    return ()


def _stricter(advice: Advice, found: Sequence[Comparison]) -> list[str]:
    """Say why a setting can be ruled out as the best where the table calls its difference not real."""
    unclear = {
        one.against if one.setting == advice.leader else one.setting
        for one in found
        if advice.leader in (one.setting, one.against) and not one.significant(Options().alpha)
    }
    doubtful = [name for name in advice.ruled_out if name in unclear]
    if not doubtful:
        return []
    both = "in both directions" + (f" and over all {len(found)} pairs" if len(found) > 1 else "")
    return [
        f"The table of differences asks {both}, which takes more: it does not call {', '.join(doubtful)} "
        f"different from {advice.leader}."
    ]


def _front(matrix: ScoreMatrix, costs: Costs) -> list[str]:
    steps = _steps(matrix, costs)
    if not steps:
        return [costs.reason] if costs.reason else []
    told = [
        f"{step.setting} ({step.quality:.3f} for {step.cost:,.0f}"
        + (f"; {step.price:,.0f} more for each 0.01)" if step.price is not None else ")")
        for step in steps
    ]
    return [f"On the front of {matrix.measure} against {costs.unit}: {', '.join(told)}."]


def _steps(matrix: ScoreMatrix, costs: Costs) -> list[Step]:
    if costs.by_setting is None:
        return []
    return front(costs.by_setting, dict(zip(matrix.settings, matrix.means.tolist(), strict=True)))
