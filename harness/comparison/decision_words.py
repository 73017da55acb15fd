"""The first line of a verdict: what was decided, which setting to use, and what it may lose."""

from __future__ import annotations

import math

from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.stats.intervals import ROUNDING
from harness.comparison.stats.units import FEWEST_CLUSTERS
from harness.comparison.verdict import Population, Verdict
from harness.values import counted, listed


def decision(verdict: Verdict) -> str:
    """The decision in sentences."""
    if verdict.decision in ("nothing found", "single", "few", "not decidable"):
        return _undecided(verdict)
    if verdict.baseline is not None:
        return _against_baseline(verdict)
    advised = _advised(verdict)
    if verdict.decision != "best":
        return f"{advised} {_open(verdict)}".strip()
    others = "the other setting" if len(verdict.standings) == 2 else "every other setting"
    better = f"Its {verdict.measure}, {_mean(verdict):.3f}, is really better than that of {others}."
    if verdict.advice is not None and verdict.advice.setting == verdict.leader:
        return f"Use {verdict.leader}. {better}"
    return f"{advised} {verdict.leader} is best whatever it costs. {better}".strip()


def these(people: Population) -> str:
    """The clusters of the queries: ``these 4 documents``."""
    return f"these {people.clusters:,} {people.unit}s" if people.clusters > 1 else f"this one {people.unit}"


def queries(n: int) -> str:
    """A number of queries."""
    return counted(n, "query", "queries")


def amount(price: float) -> str:
    """A price, with as many digits as matter."""
    return f"{price:,.0f}" if price >= 1000 else f"{price:.4g}"


def at_most(regret: float) -> str:
    """A regret bound, rounded up: ``at most 0.044``."""
    return f"at most {math.ceil(round(1000 * regret, 6)) / 1000:.3f}" if regret > ROUNDING else "nothing"


def _mean(verdict: Verdict) -> float:
    return next(one.mean for one in verdict.standings if one.setting == verdict.leader)


def _undecided(verdict: Verdict) -> str:
    """Why nothing is decided, and which setting leads."""
    measure, leader, people = verdict.measure, verdict.leader, verdict.population
    n = people.queries
    if leader is None:
        every = "the one query" if n == 1 else f"all {n:,} queries"
        return f"Nothing was found: {measure} is 0 for {every} under every setting, so none leads."
    scored = f"with {measure} {_mean(verdict):.3f}"
    if verdict.decision == "single":
        return f"One setting, {leader}, {scored} over {queries(n)}: there is nothing to compare it with."
    place = "leads" if verdict.baseline is None else f"is compared with the baseline {verdict.baseline}"
    if verdict.decision == "few":
        are = "is" if n == 1 else "are"
        return (
            f"{queries(n)} {are} too few for a choice (at least {FEWEST_TO_CHOOSE} are needed). {leader} "
            f"{place}, {scored}."
        )
    worth = f", worth {people.worth:.1f} of equal size" if people.worth < people.clusters - 0.05 else ""
    held = f"{counted(people.clusters, people.unit)}{worth}"
    return (
        f"Not decidable for new {people.unit}s: the {queries(n)} are on {held}, and at least "
        f"{FEWEST_CLUSTERS} are needed. On {these(people)} {leader} {place}, {scored}. {_advised(verdict)}"
    ).strip()


def _against_baseline(verdict: Verdict) -> str:
    better, worse, alike = (verdict.named(place) for place in ("better", "worse", "equivalent"))
    text = f"No setting is shown to be better than the baseline {verdict.baseline} in {verdict.measure}."
    if better:
        text = f"Really better than the baseline {verdict.baseline} in {verdict.measure}: {listed(better)}."
    text += f" Really worse: {listed(worse)}." if worse else ""
    within = f" Equivalent to it within {verdict.options.tolerance:g}: {listed(alike)}."
    return text + (within if alike else "")


def _advised(verdict: Verdict) -> str:
    """The setting to use, and what it loses to any other at most; '' where nothing can be advised."""
    advice, limit = verdict.advice, ""
    if verdict.costs.by_setting is not None and verdict.options.price_limit is not None:
        limit = f"the price limit of {amount(verdict.options.price_limit)} {verdict.costs.unit}"
        if not any(price <= verdict.options.price_limit for price in verdict.costs.by_setting.values()):
            return f"No setting is within {limit}."
    if advice is None:
        return ""
    others, regret, which, use = " to any other", advice.regret, "", "Use"
    if len(advice.among) == 1:
        which = f", the only setting within {limit}"
        regret = next(one.regret or 0.0 for one in verdict.standings if one.setting == advice.setting)
    elif limit:
        others = f" to any other within {limit}"
    if verdict.decision == "not decidable":
        use = f"For more questions on {these(verdict.population)} alone use"
    turns = any(one.finding == "turns" for one in verdict.comparisons)
    given = " and the labels as given" if turns else ""
    sure = f"with {verdict.level:.0%} confidence{given}"
    return f"{use} {advice.setting}{which}: {sure} it loses {at_most(regret)}{others}."


def _open(verdict: Verdict) -> str:
    """Who leads, and who may be as good."""
    alike, rivals = verdict.named("equivalent"), verdict.named("may be best")
    text = f"{verdict.leader} leads in {verdict.measure} with {_mean(verdict):.3f}"
    if verdict.decision == "open":
        text = f"No setting is shown to be best. {text}"
    if rivals:
        text += f"; {listed(rivals)} may be best too"
    if alike:
        are = "is" if len(alike) == 1 else "are"
        text += f"; {listed(alike)} {are} equivalent to it within {verdict.options.tolerance:g}"
    out = verdict.named("ruled out")
    other = "another setting" if verdict.across else "another setting over the same chunks"
    return f"{text}." + (f" Ruled out because {other} is really better: {listed(out)}." if out else "")
