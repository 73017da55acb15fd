"""A gate for continuous integration: fails only where a drop beyond what is tolerated is real."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.etree import ElementTree

import numpy as np

from harness.comparison.doubted_judge import JudgeDoubt
from harness.comparison.joint_test import bound_below
from harness.comparison.matrix import ScoredOn, ScoreMatrix, differences, matrix_differences
from harness.comparison.paired import TOLERANCE
from harness.comparison.stats import FEWEST_CLUSTERS, Units, units_of
from harness.comparison.verdict_parts import ENOUGH_READ
from harness.comparison.wordings import doubt_sentence, sentence_of
from harness.values import HarnessError, counted, printable

RESAMPLES, SEED = 10_000, 7
# More are drawn where the least p-value that they can give is above the tail; not more than this many.
MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One setting against the baseline's of that name over ``n`` queries.

    ``drop`` is the mean of the baseline minus the mean now, ``at_least`` the lower bound of it that holds
    with the gate's confidence (None where queries are too few for any), ``p`` that of the drop being
    ``max_drop`` or less. The two agree: it has ``dropped``, certainly by more than is tolerated, where the
    bound is above ``max_drop``, which is where ``p`` is small enough for the gate's confidence. A handful of
    queries that drop by the same amount prove nothing. ``units`` are what was flipped. ``most`` is the
    upper bound of the drop, with the same confidence (None as above);
    ``equivalent`` says whether the two are the same within ``tolerance``, by two one-sided tests, ``unread``
    whether rankings of one of the two end earlier, so that the change may be of their depth alone. ``least``
    is the mean that is required, None for any; ``must_decide`` says that what is undecided fails.
    """

    setting: str
    n: int
    mean: float
    baseline_mean: float
    drop: float
    at_least: float | None
    p: float
    max_drop: float
    dropped: bool
    units: Units
    most: float | None
    tolerance: float
    equivalent: bool
    unread: bool
    least: float | None = None
    must_decide: bool = False

    @property
    def tested(self) -> bool:
        """Whether there are enough queries for a test: with fewer no drop can be shown or excluded."""
        return self.most is not None

    @property
    def undecided(self) -> bool:
        """Whether a drop beyond what is tolerated is neither shown nor excluded."""
        return not self.dropped and (self.most is None or self.most > self.max_drop)

    @property
    def too_low(self) -> bool:
        """Whether the mean is below what is required."""
        return self.least is not None and self.mean < self.least

    @property
    def failed(self) -> bool:
        """Whether it has dropped, is too low, or is undecided where it must not be."""
        return self.dropped or self.too_low or (self.must_decide and self.undecided)

    @property
    def reason(self) -> str:
        """The finding in a sentence or two: what it holds for is said where that is not new documents."""
        codes = ["check.low"] if self.too_low else []
        codes.append(f"check.{self._finding}")
        if self.must_decide and self.undecided:
            codes.append("check.undecided")
        if self.unread:
            codes.append("check.unread")
        if self.units.kind == "few clusters" and self.tested:
            codes.append("check.here")
        shown = {
            "mean": f"{self.mean:.4f}",
            "before": f"{self.baseline_mean:.4f}",
            "least": "" if self.least is None else f"{self.least:g}",
            "queries": counted(self.n, "query", "queries"),
            "units": units_in_words(self.units),
            "drop": f"{self.drop:.4f}",
            "tolerated": f"{self.max_drop:g}",
            "tolerance": f"{self.tolerance:g}",
            "sure": f"{max(self.at_least or 0.0, 0.0):.4f}",
            # in this order, as the bound may be -0.0
            "most": f"{max(0.0, self.most or 0.0):.4f}",
            "clusters": counted(self.units.clusters, "cluster"),
        }
        return " ".join(sentence_of(code, **shown) for code in codes)

    @property
    def _finding(self) -> str:
        """The code of what is found about the drop."""
        if self.at_least is None or self.most is None:
            return "one query" if self.n == 1 else "few queries"
        if self.dropped:
            return "dropped"
        if self.drop > self.max_drop:
            return "chance" if round(max(self.at_least, 0.0), 4) == 0 else "chance.part"
        if self.equivalent:
            return "equivalent"
        if self.most <= 0:
            return "excluded"
        return "tolerated" if self.most <= self.max_drop else "open"


@dataclass(frozen=True, slots=True)
class NewSetting:
    """A setting that the baseline does not have, so that no drop of it can be tested; see ``Check``."""

    setting: str
    mean: float
    least: float | None

    @property
    def failed(self) -> bool:
        """Whether the mean is below what is required; so is one without any value."""
        return self.least is not None and not self.mean >= self.least

    @property
    def reason(self) -> str:
        """The finding in a sentence or two."""
        new = sentence_of("check.new")
        if self.least is None or not self.failed:
            return new
        return f"{sentence_of('check.low', mean=f'{self.mean:.4f}', least=f'{self.least:g}')} {new}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of one measure; ``confidence`` is that no check at all fails without a real drop.

    ``doubt`` is what speaks against the judge whose grades the scores rest on, ``new`` are the settings that
    the baseline does not have.
    """

    measure: str
    confidence: float
    checks: tuple[Check, ...]
    doubt: JudgeDoubt = field(default_factory=JudgeDoubt)
    new: tuple[NewSetting, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any check failed, or a new setting does not reach the mean that is required."""
        return any(check.failed for check in self.everything)

    @property
    def everything(self) -> tuple[Check | NewSetting, ...]:
        """The checks, and the settings that the baseline does not have."""
        return (*self.checks, *self.new)

    @property
    def holds_for(self) -> str:
        """The units drawn at random, to which a failure generalises; empty where nothing could be tested."""
        tested = [check.units for check in self.checks if check.tested]
        if not tested:
            return ""
        units = tested[0]
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
    least: float | None = None,
    must_decide: bool = False,
    doubt: JudgeDoubt | None = None,
) -> GateResult:
    """Check every setting of the results against the baseline's setting of that name.

    ``scored_on`` are results' and baseline's, ``read`` the shares of what is read that rankings hold where
    they were cut short. A check fails where the one-sided confidence bound of the drop
    is above ``max_drop`` (see ``Check``): a true drop of that much or less lets the gate fail in a share of
    at most ``1 - confidence`` of runs, which is divided among the checks (Bonferroni). A drop that is
    uncertain because of few queries passes, unless it ``must_decide``, and its reason says so, as it does
    where the two are shown to be equivalent within ``tolerance``. A mean below ``least`` fails too, also
    under a setting that the baseline does not have. What is in ``doubt`` about the judge is told with the
    result, and fails nothing.

    Raises HarnessError if the two cannot be compared or a baseline setting is missing.
    """
    if not 0 <= max_drop < math.inf or not 0.5 < confidence < 1:
        raise HarnessError(
            f"The gate needs a max-drop of at least 0 and a confidence between 0.5 and 1, not {max_drop:g} "
            f"and {confidence:g}."
        )
    if least is not None and not math.isfinite(least):
        raise HarnessError(f"--min is the mean that a setting must reach; it cannot be {least:g}.")
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
        replace(
            _check(results, before, name, max_drop, tail, tolerance, more > 1 - ENOUGH_READ),
            least=least,
            must_decide=must_decide,
        )
        for name, more in apart.items()
    ]
    means = dict(zip(results.settings, map(float, results.means), strict=True))
    new = tuple(NewSetting(name, mean, least) for name, mean in means.items() if name not in apart)
    return GateResult(results.measure, confidence, tuple(checks), doubt or JudgeDoubt(), new)


def units_in_words(units: Units) -> str:
    """How many units a test flips, such as '3 queries'."""
    unit = ("cluster",) if units.kind == "clusters" else ("query", "queries")
    return counted(units.count, *unit)


def junit(result: GateResult) -> str:
    """The result as JUnit XML, one test case a setting."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"harness gate {printable(result.measure)}",
        tests=str(len(result.everything)),
        failures=str(sum(check.failed for check in result.everything)),
        errors="0",
        skipped="0",
    )
    for check in result.everything:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"gate.{printable(result.measure)}", name=printable(check.setting)
        )
        if check.failed:
            kind = _kind(check)
            ElementTree.SubElement(case, "failure", message=printable(check.reason), type=kind)
        else:
            ElementTree.SubElement(case, "system-out").text = printable(check.reason)
    if result.doubt:
        ElementTree.SubElement(suite, "system-out").text = doubt_sentence(result.doubt)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode") + "\n"


def _kind(check: Check | NewSetting) -> str:
    """In a word why a check failed."""
    if isinstance(check, NewSetting):
        return "low"
    return "drop" if check.dropped else "low" if check.too_low else "undecided"


def github_annotations(result: GateResult) -> str:
    """The result as workflow commands of GitHub Actions: an error for each that failed, one notice in all.

    The notice is about the setting for which the largest drop is left open.
    """
    annotations = [("error", check.setting, check.reason) for check in result.everything if check.failed]
    passed = [check for check in result.checks if not check.failed]
    if passed:
        widest = max(passed, key=lambda check: math.inf if check.most is None else check.most)
        others = f" {counted(len(passed) - 1, 'other')} passed too." if len(passed) > 1 else ""
        annotations.append(("notice", widest.setting, widest.reason + others))
    if result.doubt:
        annotations.append(("warning", "all settings", doubt_sentence(result.doubt)))
    return "".join(
        _annotation(level, f"{result.measure} of {name}", text) for level, name, text in annotations
    )


def _annotation(level: str, title: str, text: str) -> str:
    title, text = (printable(part).replace("%", "%25") for part in (title, text))
    return f"::{level} title={title.replace(':', '%3A').replace(',', '%2C')}::{text}\n"


def _check(
    results: ScoreMatrix,
    baseline: ScoreMatrix,
    setting: str,
    max_drop: float,
    tail: float,
    tolerance: float,
    unread: bool,
) -> Check:
    now, before = results.row(setting), baseline.row(setting)
    if (np.isnan(now) != np.isnan(before)).any():
        raise HarnessError(
            f"{setting}: {results.measure} is defined for other queries than in the baseline, so the two "
            "were not scored on the same judgments."
        )
    defined = ~np.isnan(now)
    if not defined.any():
        raise HarnessError(f"{setting}: no query has a value of {results.measure}.")
    drops = before[defined] - now[defined]
    units = units_of(results.only(defined).clusters, len(drops))
    at_least, p, most, equivalent = None, 1.0, None, False
    if len(drops) > 1:
        resamples = max(RESAMPLES, min(math.ceil(1 / tail), MOST_RESAMPLES))
        at_least, p = bound_below(drops, max_drop, units, tail, resamples, SEED)
        least_rise, too_low = bound_below(-drops, -tolerance, units, tail, resamples, SEED)
        _, too_high = bound_below(drops, -tolerance, units, tail, resamples, SEED)
        # nothing drops below 0
        most = None if least_rise is None else min(-least_rise, float(before[defined].mean()))
        equivalent = max(too_low, too_high) <= tail
    return Check(
        setting=setting,
        n=len(drops),
        mean=float(now[defined].mean()),
        baseline_mean=float(before[defined].mean()),
        drop=float(drops.mean()),
        at_least=at_least,
        p=p,
        max_drop=max_drop,
        dropped=p <= tail,
        units=units,
        most=most,
        tolerance=tolerance,
        equivalent=equivalent,
        unread=unread,
    )
