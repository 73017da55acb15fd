"""From scores to the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.comparison import paired
from harness.comparison.advice import Advice, advise, affordable, regrets
from harness.comparison.joint_test import Decided
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.needed import Needed, needed_for
from harness.comparison.phrases import FINDINGS, finding_words
from harness.comparison.sentences import sentence
from harness.comparison.stats import ROUNDING, Units, icc, units_of, whole_clusters
from harness.comparison.verdict import Decision, Grounds, Verdict
from harness.comparison.verdict_parts import Conflict, Loss, Population, Standing, Trust
from harness.report import part_in_words
from harness.values import finite


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
    comparisons = [grounds.checked(comparison, comparison.pair, matrix.measure) for comparison in tested]
    order = [names[i] for i in np.argsort(-defined.means, kind="stable").tolist()]
    nothing = not defined.values.any()
    leader, against = _closest(order, comparisons, baseline)
    decision = _decision(order, comparisons, baseline, n, nothing)
    advised = baseline is None and decision in ("best", "equivalent", "open")
    closest = (pair for pair in comparisons if (pair.setting, pair.against) == (leader, against))
    margin = None if nothing else next(closest, None)
    grounds = replace(
        grounds, warnings=tuple(warning for warning in grounds.warnings if warning.bears_on(matrix.measure))
    )
    bounds = regrets(defined, comparisons, options) if advised else {}
    verdict = Verdict(
        **grounds.shared(),
        measure=matrix.measure,
        decision=decision,
        leader=None if nothing else leader,
        baseline=baseline,
        standings=_standings(defined, order, bounds, units, grounds),
        margin=margin,
        population=_population(defined, units, leader, against, grounds.unit),
        comparisons=tuple(sorted(comparisons, key=lambda pair: (pair.p, -abs(pair.difference)))),
        conflicts=() if baseline or nothing else _conflicts(others, _level(defined, leader), grounds),
        advice=_advice(defined, order, comparisons, bounds, grounds) if advised else None,
        needed=_needed(decided, comparisons, margin, defined, units, decision, options),
    )
    return grouped(verdict if verdict.advisable else replace(verdict, advice=None))


def _advice(
    matrix: ScoreMatrix,
    order: Sequence[str],
    comparisons: Sequence[paired.Comparison],
    bounds: Mapping[str, float],
    grounds: Grounds,
) -> Advice | None:
    """The setting to use within the price limit; ``bounds`` are those among all settings."""
    prices, options = grounds.costs.by_setting, grounds.options
    among = affordable(order, prices, options)
    if len(among) < len(order) or not {*among} <= bounds.keys():
        bounds = regrets(matrix, comparisons, options, among)
    labels = grounds.sensitivity.get(matrix.measure)
    drawn = labels.means if labels is not None and {*among} <= labels.means.keys() else {}
    return advise(among, comparisons, bounds, prices, drawn, options)


def _closest(
    order: Sequence[str], comparisons: Sequence[paired.Comparison], baseline: str | None
) -> tuple[str, str]:
    """The leader, and the setting that it is compared with first."""
    leader = next((name for name in order if name != baseline), order[0])
    if baseline is not None:
        return leader, baseline
    out = paired.beaten(comparisons)
    alike = {(pair.setting, pair.against) for pair in comparisons if pair.finding == "equivalent"}
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
    standings = tuple(replace(standing, **_group(standing, verdict)) for standing in verdict.standings)
    verdict = replace(verdict, standings=standings)
    return replace(verdict, said=sentence(verdict))


def _group(standing: Standing, verdict: Verdict) -> dict[str, Any]:
    pairs = [pair for pair in verdict.comparisons if standing.setting in (pair.setting, pair.against)]
    tolerance, here = verdict.options.tolerance, ".here" if verdict.here else ""
    if verdict.baseline is not None:
        why = "baseline" if standing.setting == verdict.baseline else finding_words(pairs[0], tolerance)
        beaten = standing.setting == verdict.baseline and verdict.beyond_baseline(better=True)
        out = beaten or standing.setting in verdict.beyond_baseline(better=False)
        return {"group": "use" if standing.setting == verdict.used else "out" if out else "may", "why": why}
    if standing.setting == verdict.used:
        return {"group": "use", "why": ""}
    means = {other.setting: other.mean for other in verdict.standings}
    for effect in () if verdict.effects.interactions else verdict.effects.main:
        ahead = effect.found.difference > 0
        better = {b if ahead else a: a if ahead else b for a, b in effect.pairs}
        # by the setting that differs in this alone, if there is one and it is no worse itself
        if effect.found.real and standing.mean <= means.get(better.get(standing.setting, ""), -math.inf):
            return {"group": "out", "why": FINDINGS[f"worse by{here}"].format(factor=effect.factor)}
    if standing.setting in paired.beaten(pairs):
        return {"group": "out", "why": FINDINGS[f"beaten{here}"]}
    equal = [pair for pair in pairs if pair.finding == "equivalent"]
    alike = [pair for pair in equal if verdict.used in (pair.setting, pair.against)]
    return {"group": "may", "why": finding_words(alike[0], tolerance) if alike else ""}


def _decision(
    order: Sequence[str],
    comparisons: Sequence[paired.Comparison],
    baseline: str | None,
    n: int,
    nothing: bool,
) -> Decision:
    if nothing:
        return "nothing found"
    if len(order) < 2:
        return "single"
    if n < paired.FEWEST_TO_CHOOSE:
        return "few"
    if baseline is not None:
        return "better" if any(pair.real and pair.difference > 0 for pair in comparisons) else "not better"
    left = {*order} - paired.beaten(comparisons)
    if len(left) == 1:
        return "best"
    between = [pair for pair in comparisons if {pair.setting, pair.against} <= left]
    return "equivalent" if all(pair.finding == "equivalent" for pair in between) else "open"


def _population(matrix: ScoreMatrix, units: Units, leader: str, other: str, unit: str) -> Population:
    difference = matrix.row(leader) - matrix.row(other)
    alike = icc(difference, matrix.clusters) if matrix.clusters and leader != other else None
    worth = whole_clusters(matrix.clusters).effective if units.clusters else 0.0
    return Population(units.kind, len(matrix.query_ids), units.clusters, worth, unit, alike)


def _level(matrix: ScoreMatrix, leader: str) -> list[str]:
    """The leader and all settings whose mean is as high."""
    means = dict(zip(matrix.settings, matrix.means.tolist(), strict=True))
    others = (name for name, mean in means.items() if mean >= means[leader] - ROUNDING and name != leader)
    return [leader, *others]


def _conflicts(
    others: Sequence[ScoreMatrix], leaders: Sequence[str], grounds: Grounds
) -> tuple[Conflict, ...]:
    """Other measures of quality by which another setting leads, each tested against the first of ours."""
    leader = leaders[0]
    conflicts = []
    for other in others:
        if not grounds.trust.get(other.measure, Trust()).quality:
            continue
        defined = other.defined()
        if not defined.query_ids:
            continue
        means = dict(zip(defined.settings, defined.means.tolist(), strict=True))
        rival = max(means, key=lambda name: means[name])
        # to tell apart settings that ours has level contradicts nothing
        if means[rival] <= max(means[name] for name in leaders) + ROUNDING:
            continue
        comparison = next(
            pair for pair in paired.compare_to(defined, leader, grounds.options) if pair.setting == rival
        )
        conflicts.append(Conflict(other.measure, grounds.checked(comparison, comparison.pair, other.measure)))
    return tuple(conflicts)


def _needed(
    decided: Decided | None,
    comparisons: Sequence[paired.Comparison],
    margin: paired.Comparison | None,
    matrix: ScoreMatrix,
    units: Units,
    decision: Decision,
    options: paired.Options,
) -> Needed | None:
    """How many queries would show a difference beyond the tolerance; None if it is decided or cannot be."""
    if decided is None or margin is None or decision not in ("open", "not better", "few"):
        return None
    if margin.finding in ("incomparable", "equivalent"):
        return None
    closest = {margin.setting, margin.against}
    at = next(k for k, pair in enumerate(comparisons) if {pair.setting, pair.against} == closest)
    row = matrix.row(margin.setting) - matrix.row(margin.against)
    return needed_for(
        options.tolerance, row, float(decided.error[at]), decided.critical, units, options.level
    )
