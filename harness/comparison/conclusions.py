"""From scores to the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from harness.comparison.advice import advise, refuse_missing, regrets
from harness.comparison.joint_test import Decided
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import (
    FEWEST_TO_CHOOSE,
    Comparison,
    Options,
    all_pairs,
    bounds_of_means,
    compare_rows,
    compare_to,
    number,
    pairs_to,
    usable,
)
from harness.comparison.stats.units import Units, icc, units_of, whole_clusters
from harness.comparison.verdict import (
    Conflict,
    Decision,
    Grounds,
    Needed,
    Place,
    Population,
    Standing,
    Trust,
    Verdict,
)

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
    ruled out where another one is really better, best where all others are ruled out, and to be used where it
    may lose the least. Where the measure does not compare settings that cut documents differently, only
    differences between settings of one chunking can be real; nor is one that has another sign with longer or
    shorter labels, whatever the test says. Raises HarnessError if no query has a value or a setting has no
    cost.
    """
    options, costs = grounds.options, grounds.costs
    defined = usable(matrix)
    if costs.by_setting is not None:
        refuse_missing(costs.by_setting, defined.settings)
    names, n = defined.settings, len(defined.query_ids)
    units = units_of(defined.clusters, n)
    pairs = all_pairs(defined) if baseline is None else pairs_to(defined, baseline)
    tested, decided = compare_rows(names, defined.values, pairs, units, options)
    found = grounds.checked(tested, matrix.measure)
    order = [names[i] for i in np.argsort(-defined.means, kind="stable").tolist()]
    nothing = not defined.values.any()
    undecided = _undecided(units, len(order), nothing)
    places = _places(order, found, undecided) if baseline is None else _beside(found, baseline, undecided)
    leader, against = _closest(order, places, baseline)
    decision = undecided or _decision(order, found, places, baseline)
    advised = baseline is None and undecided in (None, "not decidable")
    margin = None if nothing else both_ways(found).get((leader, against))
    grounds = replace(
        grounds, warnings=tuple(one for one in grounds.warnings if one.bears_on(matrix.measure))
    )
    return Verdict(
        **grounds.shared(),
        measure=matrix.measure,
        decision=decision,
        leader=None if nothing else leader,
        baseline=baseline,
        standings=_standings(defined, order, places, regrets(found) if advised else {}, units, options),
        margin=margin,
        population=_population(defined, units, leader, against, grounds.unit),
        comparisons=tuple(sorted(found, key=lambda one: (one.p, -abs(one.difference)))),
        conflicts=() if baseline or nothing else _conflicts(others, leader, grounds),
        advice=advise(order, found, costs.by_setting, options) if advised else None,
        needed=_needed(decided, found, margin, units, decision, options.tolerance),
    )


def _undecided(units: Units, settings: int, nothing: bool) -> Decision | None:
    """Why nothing is decided, whatever the differences; None if something can be."""
    if nothing:
        return "nothing found"
    if settings < 2:
        return "single"
    if len(units.of) < FEWEST_TO_CHOOSE:
        return "few"
    return "not decidable" if units.kind == "few clusters" else None


def _closest(order: Sequence[str], places: Mapping[str, Place], baseline: str | None) -> tuple[str, str]:
    """The leader, and the setting that it is compared with first."""
    leader = next((name for name in order if name != baseline), order[0])
    # not one that is ruled out, while another may be best: the margin says why nothing is decided
    rivals = [name for kind in ("may be best", "equivalent") for name in order if places[name] == kind]
    return leader, baseline or next(iter(rivals), order[min(1, len(order) - 1)])


def _standings(
    matrix: ScoreMatrix,
    order: Sequence[str],
    places: Mapping[str, Place],
    regret: Mapping[str, float],
    units: Units,
    options: Options,
) -> tuple[Standing, ...]:
    low, high = (
        dict(zip(matrix.settings, map(number, bounds), strict=True))
        for bounds in bounds_of_means(matrix.values, units, options.level)
    )
    means = dict(zip(matrix.settings, matrix.means.tolist(), strict=True))
    return tuple(
        Standing(name, means[name], low[name], high[name], places[name], regret.get(name)) for name in order
    )


_UNDECIDED: Mapping[Decision, Place] = {
    "few": "too few",
    "not decidable": "not decidable",
    "nothing found": "nothing found",
}


def _places(
    order: Sequence[str], found: Sequence[Comparison], undecided: Decision | None
) -> dict[str, Place]:
    """The place of every setting among all, by one rule, from the pairs that are real or equivalent."""
    if undecided is not None:
        places = dict.fromkeys(order, _UNDECIDED.get(undecided, "leads"))
        return places if undecided == "nothing found" else places | {order[0]: "leads"}
    beaten = {one.against if one.difference > 0 else one.setting for one in found if one.real}
    left = [name for name in order if name not in beaten]
    alike = {
        name
        for one in found
        if one.finding == "equivalent"
        for name in (one.setting, one.against)
        if left[0] in (one.setting, one.against)
    }
    places = {
        name: "ruled out" if name in beaten else "equivalent" if name in alike else "may be best"
        for name in order
    }
    places[left[0]] = "best" if len(left) == 1 else "leads"
    return places


def _beside(found: Sequence[Comparison], baseline: str, undecided: Decision | None) -> dict[str, Place]:
    """The place of every setting relative to the baseline."""
    places: dict[str, Place] = {baseline: "baseline"}
    for one in found:
        if undecided is not None:
            places[one.setting] = _UNDECIDED.get(undecided, "open")
        elif one.real:
            places[one.setting] = "better" if one.difference > 0 else "worse"
        else:
            places[one.setting] = "equivalent" if one.finding == "equivalent" else "open"
    return places


def _decision(
    order: Sequence[str], found: Sequence[Comparison], places: Mapping[str, Place], baseline: str | None
) -> Decision:
    if baseline is not None:
        return "better" if "better" in places.values() else "not better"
    if "best" in places.values():
        return "best"
    left = {name for name in order if places[name] != "ruled out"}
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
        if means[theirs] <= means[leader]:
            continue
        found = next(one for one in compare_to(defined, leader, grounds.options) if one.setting == theirs)
        conflicts.append(Conflict(other.measure, grounds.checked([found], other.measure)[0]))
    return tuple(conflicts)


def _needed(
    decided: Decided | None,
    found: Sequence[Comparison],
    margin: Comparison | None,
    units: Units,
    decision: Decision,
    tolerance: float,
) -> Needed | None:
    """How many queries would show a difference beyond the tolerance; None if it is decided or cannot be."""
    if decided is None or margin is None or decision not in ("open", "not better"):
        return None
    if margin.finding in ("incomparable", "equivalent"):
        return None
    closest = {margin.setting, margin.against}
    at = next(k for k, one in enumerate(found) if {one.setting, one.against} == closest)
    error = float(decided.error[at])
    queries = needed_for(tolerance, error, len(units.of), decided.critical, units.effective)
    return None if queries is None else Needed(tolerance, *queries)


def needed_for(
    difference: float, error: float, n: int, critical: float, units: float
) -> tuple[int, int, int | None] | None:
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
    return math.ceil(needed), math.ceil(low), math.ceil(high) if high <= MOST_QUERIES else None


def both_ways(found: Iterable[Comparison]) -> dict[tuple[str, str], Comparison]:
    """Every comparison by (setting, against), and the other way round."""
    both: dict[tuple[str, str], Comparison] = {}
    for one in found:
        both[one.setting, one.against] = one
        both[one.against, one.setting] = swapped(one)
    return both


def swapped(one: Comparison) -> Comparison:
    """``against`` minus ``setting``."""
    return replace(
        one,
        setting=one.against,
        against=one.setting,
        mean=one.mean_against,
        mean_against=one.mean,
        difference=-one.difference,
        low=None if one.high is None else -one.high,
        high=None if one.low is None else -one.low,
        wins=one.losses,
        losses=one.wins,
        d_z=None if one.d_z is None else -one.d_z,
        dominance=-one.dominance,
    )
