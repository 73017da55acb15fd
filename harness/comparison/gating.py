"""A gate for continuous integration: fails only where a drop beyond what is tolerated is real."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np

from harness.comparison.joint_test import bound_below
from harness.comparison.matrix import ScoredOn, ScoreMatrix, differences, matrix_differences
from harness.comparison.paired import TOLERANCE
from harness.comparison.sentences import drop_left_open
from harness.comparison.stats import FEWEST_CLUSTERS, Units, units_of
from harness.comparison.verdict import ENOUGH_READ
from harness.values import HarnessError, counted, printable

RESAMPLES, SEED = 10_000, 7


@dataclass(frozen=True, slots=True)
class Check:
    """One setting against the baseline's of that name over ``n`` queries.

    ``drop`` is the mean of the baseline minus the mean now, ``at_least`` the lower bound of it that holds
    with the gate's confidence (None for a single query), ``p`` that of the drop being ``max_drop`` or less.
    The two agree: it has ``failed``, certainly dropped by more than is tolerated, where the bound is above
    ``max_drop``, which is where ``p`` is small enough for the gate's confidence. A handful of queries that
    drop by the same amount prove nothing. ``units`` are what was
    flipped. ``most`` is the upper bound of the drop, with the same confidence (None for a single query);
    ``equivalent`` says whether the two are the same within ``tolerance``, by two one-sided tests, ``unread``
    whether rankings of one of the two end earlier, so that the change may be of their depth alone.
    """

    setting: str
    n: int
    mean: float
    baseline_mean: float
    drop: float
    at_least: float | None
    p: float
    max_drop: float
    failed: bool
    units: Units
    most: float | None
    tolerance: float
    equivalent: bool
    unread: bool = False

    @property
    def reason(self) -> str:
        """The finding in a sentence or two: what it holds for is said where that is not new documents."""
        found = self._found
        if self.unread:
            found += " Rankings of one of the two end earlier: the change may be of their depth alone."
        if self.units.kind != "few clusters":
            return found
        own = counted(self.units.clusters, "cluster")
        return f"{found} That is about the {own} of these queries; new ones may differ."

    @property
    def _found(self) -> str:
        change = f"{self.baseline_mean:.4f} to {self.mean:.4f} over {counted(self.n, 'query', 'queries')}"
        if self.at_least is None or self.most is None:
            return f"{change}: a single query cannot show whether a drop is real."
        dropped = f"{change}: a drop of {self.drop:.4f}, with {self.max_drop:g} tolerated"
        if self.failed:
            return f"{dropped}; at least {self.at_least:.4f} of it is beyond chance."
        if self.drop > self.max_drop:
            sure = max(self.at_least, 0.0)
            return f"{dropped}, but only {sure:.4f} of it is beyond chance."
        most = f"{max(0.0, self.most):.4f}"  # in this order, as the bound may be -0.0
        if self.equivalent:
            return f"{change}: equivalent within {self.tolerance:g}; a drop is at most {most}."
        return f"{change}: {drop_left_open(self.most, most, self.max_drop)}."


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of one measure; ``confidence`` is that no check at all fails without a real drop."""

    measure: str
    confidence: float
    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(check.failed for check in self.checks)

    @property
    def holds_for(self) -> str:
        """The units drawn at random, to which a failure generalises."""
        units = self.checks[0].units
        if units.kind == "clusters":
            return f"Tested by {units.clusters} whole clusters of queries: holds for new clusters like these."
        if units.kind == "few clusters":
            return (
                f"Tested by queries: {counted(units.clusters, 'cluster')} of queries cannot stand "
                f"for new ones; {FEWEST_CLUSTERS} or more of about equal size can. So this holds only for "
                "more queries on the same clusters."
            )
        return "Tested by queries: holds for queries like these."


def gate(
    results: ScoreMatrix,
    baseline: ScoreMatrix,
    *,
    max_drop: float,
    confidence: float = 0.95,
    tolerance: float = TOLERANCE,
    scored_on: tuple[ScoredOn, ScoredOn] | None = None,
    read: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {}),
) -> GateResult:
    """Check every setting of the results against the baseline's setting of that name.

    ``scored_on`` are results' and baseline's, ``read`` the shares of what is read that rankings hold where
    they were cut short. A check fails where the one-sided confidence bound of the drop
    is above ``max_drop`` (see ``Check``): a true drop of that much or less lets the gate fail in a share of
    at most ``1 - confidence`` of runs, which is divided among the checks (Bonferroni). A drop that is
    uncertain because of few queries passes, and its reason says so, as it does where the two are shown to be
    equivalent within ``tolerance``.

    Raises HarnessError if the two cannot be compared or a baseline setting is missing.
    """
    if not 0 <= max_drop < math.inf or not 0.5 < confidence < 1:
        raise HarnessError(
            f"The gate needs a max-drop of at least 0 and a confidence between 0.5 and 1, not {max_drop:g} "
            f"and {confidence:g}."
        )
    reasons = matrix_differences(results, baseline)
    if scored_on is not None:
        reasons = differences(*scored_on) + reasons
    if reasons:
        raise HarnessError("The results cannot be compared with the baseline:\n  " + "\n  ".join(reasons))
    gone = [name for name in baseline.settings if name not in results.settings]
    if gone:
        raise HarnessError(
            f"The baseline's settings {', '.join(gone)} are not among the results "
            f"({', '.join(results.settings)}). Settings are matched by name, which "
            "lists what varies in the sweep; a sweep of one point is called base. Run the baseline with the "
            "same sweep."
        )
    tail = (1 - confidence) / len(baseline.settings)
    before = baseline.in_order_of(results.query_ids)
    apart = {name: abs(read[0].get(name, 1.0) - read[1].get(name, 1.0)) for name in baseline.settings}
    checks = [
        replace(_check(results, before, name, max_drop, tail, tolerance), unread=more > 1 - ENOUGH_READ)
        for name, more in apart.items()
    ]
    return GateResult(results.measure, confidence, tuple(checks))


def junit(result: GateResult) -> str:
    """The result as JUnit XML, one test case a setting."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"harness gate {printable(result.measure)}",
        tests=str(len(result.checks)),
        failures=str(sum(check.failed for check in result.checks)),
        errors="0",
        skipped="0",
    )
    for check in result.checks:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"gate.{printable(result.measure)}", name=printable(check.setting)
        )
        if check.failed:
            ElementTree.SubElement(case, "failure", message=printable(check.reason), type="drop")
        else:
            ElementTree.SubElement(case, "system-out").text = printable(check.reason)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"


def github_annotations(result: GateResult) -> str:
    """The result as workflow commands of GitHub Actions: an error for what failed, a notice for the rest."""
    lines = []
    for check in result.checks:
        level = "error" if check.failed else "notice"
        title, text = (
            printable(one).replace("%", "%25")
            for one in (f"{result.measure} of {check.setting}", check.reason)
        )
        title = title.replace(":", "%3A").replace(",", "%2C")
        lines.append(f"::{level} title={title}::{text}\n")
    return "".join(lines)


def _check(
    results: ScoreMatrix, baseline: ScoreMatrix, setting: str, max_drop: float, tail: float, tolerance: float
) -> Check:
    now, before = results.row(setting), baseline.row(setting)
    if (np.isnan(now) != np.isnan(before)).any():
        raise HarnessError(
            f"{setting}: {results.measure} is defined for other queries than in the baseline, so the two "
            "were not scored on the same judgments."
        )
    known = ~np.isnan(now)
    if not known.any():
        raise HarnessError(f"{setting}: no query has a value of {results.measure}.")
    drops = before[known] - now[known]
    units = units_of(results.only(known).clusters, len(drops))
    at_least, p, most, equivalent = None, 1.0, None, False
    if len(drops) > 1:
        at_least, p = bound_below(drops, max_drop, units, tail, RESAMPLES, SEED)
        least_rise, too_low = bound_below(-drops, -tolerance, units, tail, RESAMPLES, SEED)
        _, too_high = bound_below(drops, -tolerance, units, tail, RESAMPLES, SEED)
        # nothing drops below 0
        most = min(-least_rise, float(before[known].mean()))
        equivalent = max(too_low, too_high) <= tail
    return Check(
        setting=setting,
        n=len(drops),
        mean=float(now[known].mean()),
        baseline_mean=float(before[known].mean()),
        drop=float(drops.mean()),
        at_least=at_least,
        p=p,
        max_drop=max_drop,
        failed=p <= tail,
        units=units,
        most=most,
        tolerance=tolerance,
        equivalent=equivalent,
    )
