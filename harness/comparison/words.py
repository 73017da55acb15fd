"""A verdict in words, and as plain values for JSON. No other module says what is best, real or open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.comparison.next_steps import NextStep, could_pass, fitting, steps_of
from harness.comparison.paired import Comparison
from harness.comparison.sentences import (
    amount,
    extent_of,
    finding_words,
    queries,
    sentence,
    these,
    worse_than,
)
from harness.comparison.stats import FEWEST_CLUSTERS
from harness.comparison.verdict import ENOUGH_JUDGED, LABELS, Line, Role, Trust, Verdict
from harness.values import FEWEST_FOR_INTERVAL, ResultWarning, by_key, confidence, counted, listed, signed

# With fewer queries, a caveat says that kinds of queries may be missing.
MAY_MISS = 60


def lines_of(verdict: Verdict) -> tuple[Line, ...]:
    """All lines, in the order of reading."""
    lines: list[tuple[Role, str]] = [("decision", sentence(verdict))]
    if verdict.margin is not None:
        lines.append(("margin", _margin(verdict, verdict.margin)))
        lines.append(("test", _test(verdict)))
    lines.append(("population", _population(verdict)))
    lines += [("caveat", text) for text in (*_caveats(verdict), *verdict.notes)]
    lines += [("warning", text) for text in warning_lines(verdict.warnings)]
    first = steps_of(verdict)[0]
    return (*(Line(role, text) for role, text in lines), Line("next", first.text, first.copied))


def sentences_of(verdict: Verdict) -> tuple[str, ...]:
    """All lines, each with its label before it, such as ``Margin: …``."""
    return tuple(f"{LABELS[line.role]}: {NextStep(line.text, line.command)}" for line in lines_of(verdict))


def p_value(p: float) -> str:
    """A p-value as shown: never 0."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def _margin(verdict: Verdict, margin: Comparison) -> str:
    bounds = ""
    if margin.low is not None and margin.high is not None and margin.n >= FEWEST_FOR_INTERVAL:
        bounds = f"{confidence(verdict.level)} interval {signed(margin.low)} to {signed(margin.high)}, "
    finding = finding_words(margin, verdict.options.tolerance)
    leader, other = verdict.quoted(margin.setting), verdict.quoted(margin.against)
    return (
        f"{leader} differs by {signed(margin.difference)} from {other} "
        f"({bounds}{p_value(margin.p)}): {finding}. "
        f"Better on {margin.wins}, equal on {margin.ties}, worse on {margin.losses} of {queries(margin.n)}."
    )


def _test(verdict: Verdict) -> str:
    what = f"whole {verdict.population.unit}s" if verdict.population.kind == "clusters" else "queries"
    count = len(verdict.comparisons)
    family = "one pair"
    if verdict.baseline is not None:
        family = f"{'one setting' if count == 1 else f'all {count} settings'} against the baseline"
    elif count > 1:
        family = f"all {count} pairs of settings at once"
    where = f"if the interval excludes 0 (equivalently, p is at most {1 - verdict.level:.2g})"
    if verdict.measure in verdict.sensitivity:
        where += " and its sign is the same with longer and shorter labels"
    where += "" if verdict.across else ", and only between settings over the same chunks"
    here = f" Here: on {these(verdict.population)}." if verdict.here else ""
    return (
        f"Two-sided sign-flip test over {what}, for {family}. A setting is better or worse {where}; two are "
        f"equal if it lies within ±{verdict.options.tolerance:g}.{here}"
    )


def _population(verdict: Verdict) -> str:
    people = verdict.population
    unit, number = people.unit, people.clusters
    alike = "" if people.icc is None else f" (ICC of the difference {people.icc:.2f})"
    if people.kind == "clusters":
        return f"New queries on new {unit}s like these: {queries(people.queries)} on {number} {unit}s{alike}."
    if people.kind == "few clusters":
        return (
            f"More queries on {these(people)}, but not on new {unit}s{alike}. What holds for new {unit}s "
            f"can be tested with {FEWEST_CLUSTERS} or more that have about as many queries each. These are "
            f"worth only {people.worth:.1f} such {unit}s, so the {queries(people.queries)} are tested one by "
            "one."
        )
    asked = f"Queries like the {people.queries:,} asked"
    if people.kind == "queries":
        return f"{asked}, no two of them on one {unit}."
    return f"{asked}. It is not known here which of them share a document."


def _caveats(verdict: Verdict) -> list[str]:
    if len(verdict.standings) < 2:
        return _unjudged(verdict)
    caveats = _cheaper(verdict)
    n = verdict.population.queries
    if not verdict.across:
        caveats.append(
            f"{verdict.measure} cannot be compared between settings that cut documents differently. "
            f"{fitting(verdict)}"
        )
    if verdict.conflicts:
        caveats.append(_disagreement(verdict))
    caveats += [*_sign_changes(verdict), *_unjudged(verdict)]
    limit = verdict.options.price_limit
    if limit is not None and (verdict.costs.by_setting is None or verdict.baseline is not None):
        why = "as there are no prices" if verdict.costs.by_setting is None else "with a baseline"
        caveats.append(f"The price limit of {amount(limit)} is not applied, {why}.")
    if FEWEST_FOR_INTERVAL <= n < MAY_MISS:
        rare = 1 - 0.05 ** (1 / n)
        caveats.append(
            f"{queries(n)} may hold no example of a rare kind of query, one that is less than {rare:.0%} "
            "of what is asked; the verdict does not cover such kinds."
        )
    return caveats


def _cheaper(verdict: Verdict) -> list[str]:
    """The cheapest setting that loses no more than the tolerance, where that is not the one to use."""
    advice, costs = verdict.advice, verdict.costs.by_setting
    if advice is None or advice.cheaper is None or costs is None:
        return []
    cheaper = advice.cheaper
    return [
        f"If the price counts use {verdict.quoted(cheaper.setting)}: {amount(costs[cheaper.setting])} "
        f"instead of {amount(costs[advice.setting])} {verdict.costs.unit}. It is "
        f"{worse_than(cheaper.regret, 3)} any other, within the tolerance of {verdict.options.tolerance:g}."
    ]


def _sign_changes(verdict: Verdict) -> list[str]:
    """Differences that would be real if label length did not change their sign, the leader's first."""
    pairs = [one for one in verdict.comparisons if one.finding == "turns"]
    if not pairs:
        return []
    pairs.sort(key=lambda one: verdict.leader not in (one.setting, one.against))
    names = [f"{verdict.quoted(one.setting)} against {verdict.quoted(one.against)}" for one in pairs]
    depend = counted(len(pairs), "difference depends", "differences depend")
    return [
        f"{depend} on the length of the labels: {listed(names, 3)}. Beyond chance with the labels as given, "
        "but of another sign with longer or shorter ones: do not rely on that."
    ]


def _unjudged(verdict: Verdict) -> list[str]:
    """How much is judged, if it is little, and which settings the rest could lift above the leader."""
    holes = verdict.holes
    if holes is None:
        return []
    caveats = []
    if holes.least < ENOUGH_JUDGED:
        caveats.append(
            f"Of {extent_of(holes)}, under some setting only {holes.least:.0%} are judged ({holes.measure}); "
            "the rest counts as irrelevant, although its relevance is unknown."
        )
    ahead, passing = could_pass(verdict)
    if passing:
        most = max(holes.upper[name] for name in passing)
        caveats.append(
            f"The bounds overlap: judging the rest could lift {listed(list(map(verdict.quoted, passing)))} "
            f"above the {verdict.mean(ahead):.3f} of {verdict.quoted(ahead)}, up to {most:.3f} "
            f"({holes.bound})."
        )
    return caveats


def _disagreement(verdict: Verdict) -> str:
    """A sentence on the measures with another leader, and one on what each measure is good for."""
    found = by_key(
        ((one.found.setting, finding_words(one.found, verdict.options.tolerance)), one.measure)
        for one in verdict.conflicts
    )
    parts = [f"{verdict.quoted(name)} by {listed(by)} ({words})" for (name, words), by in found.items()]
    return (
        f"Measures disagree: {verdict.quoted(verdict.leader or '')} leads by {verdict.measure}, "
        f"{'; '.join(parts)}. Trust {_trusted(verdict)}."
    )


def _trusted(verdict: Verdict) -> str:
    """The use of each measure; measures that cannot compare these settings are listed separately."""
    by_phrase: dict[str, list[str]] = {}
    for name in (verdict.measure, *(one.measure for one in verdict.conflicts)):
        own = verdict.trust.get(name, Trust())
        phrase = own.phrase or "for what it counts"
        if not own.comparable:
            phrase = "only among settings over the same chunks"
        by_phrase.setdefault(phrase, []).append(name)
    return "; ".join(f"{listed(names)} {phrase}" for phrase, names in by_phrase.items())


# Of one kind; the rest is counted. All are in record.json and verdict.json.
_SHOWN = 3


def warning_lines(warnings: Sequence[ResultWarning]) -> list[str]:
    """One line for each warning, the first few of a kind."""
    lines = []
    told = ((one.kind, one.text if one.text.endswith(".") else f"{one.text}.") for one in warnings)
    for kind, texts in by_key(told).items():
        lines += texts[:_SHOWN]
        if (more := len(texts) - _SHOWN) > 0:
            lines.append(f"{more} more on {kind}: the list warnings of record.json has all.")
    return lines


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Everything that a verdict says."""
    margin, people, holes = verdict.margin, verdict.population, verdict.holes
    return {
        "sentence": sentence(verdict),
        **values_of(verdict, "measure", "decision", "leader", "baseline"),
        **values_of(verdict.options, "tolerance", "price_limit"),
        "advice": None if verdict.advice is None else asdict(verdict.advice),
        "lines": [
            {"role": line.role, "label": LABELS[line.role], "text": line.text} for line in lines_of(verdict)
        ],
        "margin": None
        if margin is None
        else {
            "over": margin.against,
            **values_of(margin, "difference", "low", "high"),
            "level": verdict.level,
            **values_of(margin, "p", "finding", "here"),
        },
        "next": [asdict(one) for one in steps_of(verdict)],
        "population": {
            **values_of(people, "queries", "clusters", "unit"),
            "tested_by": "clusters" if people.kind == "clusters" else "queries",
            **values_of(people, "worth", "icc"),
        },
        "settings": [values_of(one, *_OF_SETTING) for one in verdict.standings],
        "factors": [
            {"factor": one.factor, "pairs": one.pairs, **values_of(one.found, *_OF_EFFECT)}
            for one in verdict.effects.main
        ],
        "interactions": verdict.effects.interactions,
        "judged": None
        if holes is None
        else {
            "measure": holes.measure or None,
            "bound": holes.bound or None,
            # the share judged, and the most that judging the rest could give where it is known
            "settings": [
                {"setting": name, "share": holes.shares.get(name), "upper": holes.upper.get(name)}
                for name in {**holes.shares, **holes.upper}
            ],
        },
        "warnings": [asdict(one) for one in verdict.warnings],
        "conflicts": [
            {"measure": one.measure, "leader": one.found.setting, "finding": one.found.finding}
            for one in verdict.conflicts
        ],
    }


_OF_SETTING = ("setting", "mean", "low", "high", "regret", "group", "why", "words")
# ``setting`` and ``against`` are levels of the factor
_OF_EFFECT = ("setting", "against", "difference", "low", "high", "p", "finding", "here", "n", "family")


def values_of(item: Any, *names: str) -> dict[str, Any]:
    """Some fields of an item as plain values, in this order."""
    plain = asdict(item)
    return {name: plain[name] for name in names}
