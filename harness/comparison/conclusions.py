"""From scores to the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from harness.comparison import paired
from harness.comparison.advice import advise, regrets
from harness.comparison.joint_test import Decided
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.sentences import finding_words
from harness.comparison.stats import ROUNDING, Units, icc, units_of, whole_clusters
from harness.comparison.verdict import (
    Conflict,
    Decision,
    Grounds,
    Loss,
    Needed,
    Population,
    Standing,
    Trust,
    Verdict,
)
from harness.report import part_in_words
from harness.values import finite

MOST_QUERIES = 1_000_000
POWER = 0.8


def conclude(
    matrix: ScoreMatrix,
    grounds: Grounds,
    *,
    others: Sequence[ScoreMatrix] = (),
    baseline: str | None = None,
) -> Verdict:
    """Conclude from the scores of one measure, with ``others`` of the same settings to contradict it.

    One family of comparisons, all pairs or all against the ``baseline``, decides everything: a setting is
    ruled out where another one is really better, best where all others are ruled out, and to be used by the
    rule of ``advise``. Where the measure does not compare settings that cut documents differently, only
    differences between settings of one chunking can be real; nor is one that has another sign with longer or
    shorter labels, whatever the test says. Raises HarnessError if no query has a value.
    """
    options = grounds.options
    defined = paired.usable(matrix)
    names, n = defined.settings, len(defined.query_ids)
    units = units_of(defined.clusters, n)
    pairs = paired.all_pairs(defined) if baseline is None else paired.pairs_to(defined, baseline)
    tested, decided = paired.compare_rows(names, defined.values, pairs, units, options)
    found = [grounds.checked(one, one.pair, matrix.measure) for one in tested]
    order = [names[i] for i in np.argsort(-defined.means, kind="stable").tolist()]
    nothing = not defined.values.any()
    leader, against = _closest(order, found, baseline)
    decision = _decision(order, found, baseline, n, nothing)
    advised = baseline is None and decision in ("best", "equivalent", "open")
    pair = next((one for one in found if (one.setting, one.against) == (leader, against)), None)
    margin = None if nothing else pair
    grounds = replace(
        grounds, warnings=tuple(one for one in grounds.warnings if one.bears_on(matrix.measure))
    )
    verdict = Verdict(
        **grounds.shared(),
        measure=matrix.measure,
        decision=decision,
        leader=None if nothing else leader,
        baseline=baseline,
        standings=_standings(defined, order, regrets(found) if advised else {}, units, grounds),
        margin=margin,
        population=_population(defined, units, leader, against, grounds.unit),
        comparisons=tuple(sorted(found, key=lambda one: (one.p, -abs(one.difference)))),
        conflicts=() if baseline or nothing else _conflicts(others, leader, grounds),
        advice=advise(order, found, grounds.costs.by_setting, options) if advised else None,
        needed=_needed(decided, found, margin, units, decision, options.tolerance),
    )
    return grouped(replace(verdict, advice=None) if verdict.poor else verdict)


def _closest(
    order: Sequence[str], found: Sequence[paired.Comparison], baseline: str | None
) -> tuple[str, str]:
    """The leader, and the setting that it is compared with first."""
    leader = next((name for name in order if name != baseline), order[0])
    if baseline is not None:
        return leader, baseline
    out = paired.beaten(found)
    alike = {(one.setting, one.against) for one in found if one.finding == "equivalent"}
    # not one that is ruled out, while another may be best: the margin says why nothing is decided
    rivals = sorted(
        (name for name in order if name != leader and name not in out),
        key=lambda name: (leader, name) in alike or (name, leader) in alike,
    )
    return leader, next(iter(rivals), order[min(1, len(order) - 1)])


def _standings(
    matrix: ScoreMatrix, order: Sequence[str], regret: Mapping[str, float], units: Units, grounds: Grounds
) -> tuple[Standing, ...]:
    low, high = paired.bounds_of_means(matrix.values, units, grounds.options.level)
    means = matrix.means
    place = {name: at for at, name in enumerate(matrix.settings)}
    return tuple(
        Standing(
            name,
            float(means[place[name]]),
            finite(low[place[name]]),
            finite(high[place[name]]),
            regret.get(name),
            words=grounds.design.words(name),
            losses=tuple(
                Loss(part, part_in_words(part), value) for part, value in grounds.lost.get(name, {}).items()
            ),
        )
        for name in order
    )


def grouped(verdict: Verdict) -> Verdict:
    """The verdict with every setting in its group: to use, may be best, or ruled out, and why."""
    standings = tuple(replace(one, **_group(one, verdict)) for one in verdict.standings)
    return replace(verdict, standings=standings)


def _group(one: Standing, verdict: Verdict) -> dict[str, Any]:
    found = [pair for pair in verdict.comparisons if one.setting in (pair.setting, pair.against)]
    tolerance, here = verdict.options.tolerance, " here" if verdict.here else ""
    if verdict.baseline is not None:
        why = "baseline" if one.setting == verdict.baseline else finding_words(found[0], tolerance)
        beaten = one.setting == verdict.baseline and verdict.beyond_baseline(better=True)
        out = beaten or one.setting in verdict.beyond_baseline(better=False)
        return {"group": "use" if one.setting == verdict.used else "out" if out else "may", "why": why}
    if one.setting == verdict.used:
        return {"group": "use", "why": ""}
    means = {own.setting: own.mean for own in verdict.standings}
    for effect in () if verdict.effects.interactions else verdict.effects.main:
        ahead = effect.found.difference > 0
        better = {b if ahead else a: a if ahead else b for a, b in effect.pairs}
        # by the setting that differs in this alone, if there is one and it is no worse itself
        if effect.found.real and one.mean <= means.get(better.get(one.setting, ""), -math.inf):
            return {"group": "out", "why": f"worse{here} by {effect.factor}"}
    if one.setting in paired.beaten(found):
        return {"group": "out", "why": f"another is better{here}"}
    equal = [pair for pair in found if pair.finding == "equivalent"]
    alike = [pair for pair in equal if verdict.used in (pair.setting, pair.against)]
    return {"group": "may", "why": finding_words(alike[0], tolerance) if alike else ""}


def _decision(
    order: Sequence[str], found: Sequence[paired.Comparison], baseline: str | None, n: int, nothing: bool
) -> Decision:
    if nothing:
        return "nothing found"
    if len(order) < 2:
        return "single"
    if n < paired.FEWEST_TO_CHOOSE:
        return "few"
    if baseline is not None:
        return "better" if any(one.real and one.difference > 0 for one in found) else "not better"
    left = {*order} - paired.beaten(found)
    if len(left) == 1:
        return "best"
    between = [one for one in found if {one.setting, one.against} <= left]
    return "equivalent" if all(one.finding == "equivalent" for one in between) else "open"


def _population(matrix: ScoreMatrix, units: Units, leader: str, other: str, unit: str) -> Population:
    difference = matrix.row(leader) - matrix.row(other)
    alike = icc(difference, matrix.clusters) if matrix.clusters and leader != other else None
    worth = whole_clusters(matrix.clusters).effective if units.clusters else 0.0
    return Population(units.kind, len(matrix.query_ids), units.clusters, worth, unit, alike)


def _conflicts(others: Sequence[ScoreMatrix], leader: str, grounds: Grounds) -> tuple[Conflict, ...]:
    """Other measures of quality by which another setting leads, each tested against ours."""
    conflicts = []
    for other in others:
        if not grounds.trust.get(other.measure, Trust()).quality:
            continue
        defined = other.defined()
        if not defined.query_ids:
            continue
        means = dict(zip(defined.settings, defined.means.tolist(), strict=True))
        theirs = max(means, key=lambda name: means[name])
        if means[theirs] <= means[leader] + ROUNDING:
            continue
        found = next(
            one for one in paired.compare_to(defined, leader, grounds.options) if one.setting == theirs
        )
        conflicts.append(Conflict(other.measure, grounds.checked(found, found.pair, other.measure)))
    return tuple(conflicts)


def _needed(
    decided: Decided | None,
    found: Sequence[paired.Comparison],
    margin: paired.Comparison | None,
    units: Units,
    decision: Decision,
    tolerance: float,
) -> Needed | None:
    """How many queries would show a difference beyond the tolerance; None if it is decided or cannot be."""
    if decided is None or margin is None or decision not in ("open", "not better"):
        return None
    if margin.here or margin.finding in ("incomparable", "equivalent"):
        return None
    closest = {margin.setting, margin.against}
    at = next(k for k, one in enumerate(found) if {one.setting, one.against} == closest)
    error = float(decided.error[at])
    return needed_for(tolerance, error, len(units.of), decided.critical, units.effective)


def needed_for(difference: float, error: float, n: int, critical: float, units: float) -> Needed | None:
    """The number of queries that show a true ``difference`` in 4 of 5 studies, with its 95 % interval.

    A difference is seen where it is ``critical`` standard errors from 0, in 4 of 5 studies where it is 0.84
    more. The standard error was ``error`` with ``n`` queries and falls with their root. It is known from so
    many ``units`` (queries or clusters), and the bounds are those of a variance (chi-square). The difference
    is one that matters, not the one that was observed: the largest of many is likely smaller in truth.

    None if nothing differs at all or more than a million queries would be needed. The upper bound is None
    if it is above that.
    """
    from scipy.special import chdtri

    if error <= 0 or units < 2:
        return None
    needed = n * ((critical + NormalDist().inv_cdf(POWER)) * error / difference) ** 2
    freedom = units - 1
    tail = (1 - 0.95) / 2
    low, high = (needed * freedom / float(chdtri(freedom, share)) for share in (tail, 1 - tail))
    if needed > MOST_QUERIES:
        return None
    most = math.ceil(high) if high <= MOST_QUERIES else None
    return Needed(difference, math.ceil(needed), math.ceil(low), most)
