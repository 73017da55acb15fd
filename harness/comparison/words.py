"""The words of a verdict. No other module says what is best, real or open."""

from __future__ import annotations

from harness.comparison.paired import FEWEST_TO_CHOOSE, Comparison
from harness.comparison.verdict import (
    LABELS,
    Conflict,
    Line,
    Needed,
    Role,
    Trust,
    Verdict,
    ways_with_other_sign,
)
from harness.comparison.warned import warning_lines
from harness.stats.units import FEWEST_CLUSTERS
from harness.text.numbers import FEWEST_FOR_INTERVAL, listed, signed

_REAL = {
    "real": "yes",
    "open": "no",
    "few": "too few",
    "turns": "no: labels",
    "incomparable": "no: chunks",
}
# With fewer queries, a caveat says that kinds of questions may be missing.
MAY_MISS = 60


def lines_of(verdict: Verdict) -> tuple[Line, ...]:
    """All lines, in the order of reading."""
    labels: list[tuple[Role, str]] = [("labels", text) for text in verdict.by_labels]
    lines: list[tuple[Role, str]] = [("decision", _decision(verdict))]
    if verdict.corrected:
        lines = [("corrected", verdict.corrected), *labels, ("alone", _decision(verdict))]
    if verdict.margin is not None:
        lines.append(("margin", _margin(verdict, verdict.margin)))
        lines.append(("test", _test(verdict)))
    lines.append(("population", _population(verdict)))
    lines += [] if verdict.corrected else labels
    lines += [("caveat", text) for text in (*_caveats(verdict), *verdict.notes)]
    lines += [("warning", text) for text in warning_lines(verdict.warnings)]
    lines += [("next", text) for text in _next(verdict)]
    return tuple(Line(role, text) for role, text in lines)


def sentences_of(verdict: Verdict) -> tuple[str, ...]:
    """All lines, each with its label before it, such as ``Margin: …``."""
    return tuple(f"{LABELS[line.role]}: {line.text}" for line in lines_of(verdict))


def p_value(p: float) -> str:
    """A p-value as shown: never 0."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def finding_cell(found: Comparison) -> str:
    """The finding on a difference, as a cell of a table."""
    return _REAL[found.finding]


def _decision(verdict: Verdict) -> str:
    measure, leader, n = verdict.measure, verdict.leader, verdict.population.queries
    mean = next(one.mean for one in verdict.standings if one.setting == leader)
    if verdict.decision == "single":
        alone = f"One setting, {leader}, with {measure} {mean:.3f} over {_queries(n)}"
        return f"{alone}: there is nothing to compare it with."
    if verdict.decision == "few":
        place = "leads" if verdict.baseline is None else f"is compared with the baseline {verdict.baseline}"
        return (
            f"{_queries(n)} {'is' if n == 1 else 'are'} too few for a choice (at least {FEWEST_TO_CHOOSE} "
            f"are needed). {leader} {place}, with {measure} {mean:.3f}."
        )
    if verdict.baseline is not None:
        return _against_baseline(verdict)
    if verdict.decision == "best":
        others = "the other setting" if len(verdict.standings) == 2 else "every other setting"
        return f"Use {leader}. Its {measure}, {mean:.3f}, is really better than that of {others}."
    text = f"No setting is shown to be best. {leader} leads in {measure} with {mean:.3f}; "
    text += f"{listed(verdict.named('may be best'))} may be best too."
    out = verdict.named("ruled out")
    other = "another setting" if verdict.comparable else "another setting over the same chunks"
    return text + (f" Ruled out because {other} is really better: {listed(out)}." if out else "")


def _against_baseline(verdict: Verdict) -> str:
    better, worse = verdict.named("better"), verdict.named("worse")
    text = f"No setting is shown to be better than the baseline {verdict.baseline} in {verdict.measure}."
    if better:
        text = f"Really better than the baseline {verdict.baseline} in {verdict.measure}: {listed(better)}."
    return text + (f" Really worse: {listed(worse)}." if worse else "")


def _margin(verdict: Verdict, margin: Comparison) -> str:
    over = "the next"
    if verdict.baseline is not None:
        over = "the baseline"
    elif margin.against != verdict.standings[1].setting:
        over = "the next that may be best"
    bounds = ""
    if margin.low is not None and margin.high is not None and margin.n >= FEWEST_FOR_INTERVAL:
        bounds = f"{verdict.level:.0%} interval {signed(margin.low)} to {signed(margin.high)}, "
    finding = {
        "real": "real",
        "open": "may be chance",
        "few": "too few queries to tell",
        "turns": "not a finding, because its sign changes with the label length",
        "incomparable": "not a finding, because the settings cut documents differently",
    }[margin.finding]
    return (
        f"{margin.setting} differs by {signed(margin.difference)} from {over}, {margin.against} "
        f"({bounds}{p_value(margin.p)}): {finding}. "
        f"Better on {margin.wins}, equal on {margin.ties}, worse on {margin.losses} of {_queries(margin.n)}."
    )


def _test(verdict: Verdict) -> str:
    what = f"whole {verdict.population.unit}s" if verdict.population.kind == "clusters" else "queries"
    count = len(verdict.comparisons)
    family = "one pair"
    if verdict.baseline is not None:
        family = f"{'one setting' if count == 1 else f'all {count} settings'} against the baseline"
    elif count > 1:
        family = f"all {count} pairs of settings at once"
    where = f"if its interval excludes 0 (equivalently, p is at most {1 - verdict.level:.2g})"
    if verdict.turning is not None:
        where += " and its sign is the same with longer and shorter labels"
    where += "" if verdict.comparable else ", and only between settings over the same chunks"
    return f"Two-sided sign-flip test over {what}, for {family}. A difference is real {where}."


def _population(verdict: Verdict) -> str:
    people = verdict.population
    unit, number = people.unit, people.clusters
    alike = "" if people.icc is None else f" (ICC of the difference {people.icc:.2f})"
    if people.kind == "clusters":
        return (
            f"New questions on new {unit}s like these: {_queries(people.queries)} on {number} {unit}s{alike}."
        )
    if people.kind == "few clusters":
        these = f"these {number} {unit}s" if number > 1 else f"this one {unit}"
        return (
            f"More questions on {these}, but not on new {unit}s{alike}. Testing by {unit} takes at least "
            f"{FEWEST_CLUSTERS} {unit}s of equal weight, so the {_queries(people.queries)} are tested one by "
            f"one."
        )
    if people.kind == "queries":
        return f"Questions like these {people.queries}, each on its own {unit}."
    return f"Questions like these {people.queries}. It is not known here which of them share a document."


def _caveats(verdict: Verdict) -> list[str]:
    if len(verdict.standings) < 2:
        return _unjudged(verdict)
    caveats = []
    n = verdict.population.queries
    if not verdict.comparable:
        caveats.append(
            f"{verdict.measure} cannot be compared between settings that cut documents differently. "
            f"{_fitting(verdict)}"
        )
    if verdict.conflicts:
        caveats.append(_disagreement(verdict))
    caveats += [*_sign_changes(verdict), *_unjudged(verdict)]
    if FEWEST_FOR_INTERVAL <= n < MAY_MISS:
        rare = 1 - 0.05 ** (1 / n)
        caveats.append(
            f"A kind of question that makes up less than {rare:.0%} of all may be missing from "
            f"{_queries(n)}, so its effect would be missing too."
        )
    return caveats


def _fitting(verdict: Verdict) -> str:
    """What to do where the measure does not compare the settings."""
    if verdict.instead:
        return f"Use {verdict.instead} instead."
    return "Add ndcg_evidence@5000 to the measures."


def _sign_changes(verdict: Verdict) -> list[str]:
    """Differences that would be real if label length did not change their sign, the leader's first."""
    pairs = [one for one in verdict.comparisons if one.finding == "turns"]
    if not pairs or verdict.turning is None:
        return []
    pairs.sort(key=lambda one: verdict.leader not in (one.setting, one.against))
    names = [f"{one.setting} against {one.against}" for one in pairs]
    if len(pairs) > 1:
        return [
            f"{len(pairs)} differences depend on the length of the labels: {listed(names, 3)}. They are "
            "beyond chance with the labels as given, but change sign with longer or shorter labels. Do not "
            "rely on them."
        ]
    ways = ways_with_other_sign(pairs[0], verdict.turning)
    return [
        f"The difference of {names[0]} depends on the length of the labels: it is beyond chance with the "
        f"labels as given, but changes sign with labels {listed(ways, len(ways))}. Do not rely on it."
    ]


def _unjudged(verdict: Verdict) -> list[str]:
    """How much is judged, if it is little, and which settings the rest could lift above the leader."""
    holes = verdict.holes
    if holes is None:
        return []
    caveats = []
    if holes.few:
        low, high = min(holes.shares.values()), max(holes.shares.values())
        share = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
        caveats.append(
            f"Of the first {holes.depth} ranks, {share} are judged ({holes.measure}); the rest counts as "
            f"irrelevant, although "
            "its relevance is unknown."
        )
    mean, passing = _could_pass(verdict)
    if passing:
        most = max(holes.upper[name] for name in passing)
        caveats.append(
            f"The bounds overlap: judging the rest could lift {listed(passing)} above the {mean:.3f} of "
            f"{verdict.leader}, up to {most:.3f} ({holes.bound})."
        )
    return caveats


def _could_pass(verdict: Verdict) -> tuple[float, tuple[str, ...]]:
    """The leader's mean, and the settings (or the baseline) that judging the rest could lift above it."""
    mean = next(one.mean for one in verdict.standings if one.setting == verdict.leader)
    rivals = [one.setting for one in verdict.standings if one.setting != verdict.leader]
    if verdict.baseline is not None:
        rivals = [name for name in rivals if name == verdict.baseline]
    return mean, () if verdict.holes is None else verdict.holes.could_pass(rivals, mean)


def _disagreement(verdict: Verdict) -> str:
    """A sentence on the measures with another leader, and one on what each measure is good for."""
    by_leader: dict[str, list[Conflict]] = {}
    for one in verdict.conflicts:
        by_leader.setdefault(one.found.setting, []).append(one)
    parts = []
    for name, conflicts in by_leader.items():
        # described by the first that is real, if any is
        clear = max(conflicts, key=lambda one: one.found.real)
        finding = {
            "real": "real",
            "turns": "its sign changes with the label length",
            "incomparable": "not comparable",
        }.get(clear.found.finding, "may be chance")
        ahead = f"{signed(clear.found.difference)} in {clear.measure}, {finding}"
        parts.append(f"{name} by {listed([one.measure for one in conflicts])} ({ahead})")
    return (
        f"Measures disagree: {verdict.leader} leads by {verdict.measure}, {'; '.join(parts)}. "
        f"Trust {_trusted(verdict)}."
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


def _next(verdict: Verdict) -> list[str]:
    margin, costs = verdict.margin, verdict.costs.by_setting
    if verdict.decision == "single":
        return ["Sweep a field, or compare with a second folder of results."]
    if verdict.decision == "few":
        more = FEWEST_TO_CHOOSE - verdict.population.queries
        return [f"Add at least {more} more question{'' if more == 1 else 's'}."]
    _, passing = _could_pass(verdict)
    steps = []
    if verdict.holes is not None and passing:
        steps.append(f"Judge the rest of the first {verdict.holes.depth} ranks.")
    if verdict.decision == "best" and costs is not None and margin is not None:
        each = (f"{_amount(costs[name])} for {name}" for name in (verdict.leader, margin.against))
        return [*steps, f"Weigh the price in {verdict.costs.unit}: {', '.join(each)}."]
    if verdict.decision in ("best", "better"):
        return [*steps, "Confirm it on questions that were not used for tuning."]
    if verdict.cheapest is not None and costs is not None:
        price = f"{_amount(costs[verdict.cheapest])} {verdict.costs.unit}"
        steps.append(
            f"Choose {verdict.cheapest}, the cheapest setting that may be best ({price}), or add questions."
        )
    if verdict.needed is not None:
        steps.append(_asked(verdict.needed, verdict.population.queries))
    if not verdict.comparable:
        return steps or [_fitting(verdict)]
    return steps or ["Add questions, or try a larger change."]


def _asked(needed: Needed, n: int) -> str:
    """How many queries show a difference that matters."""
    if needed.queries <= n:
        return (
            f"Treat the settings that may be best as equal: {_queries(n)} would show a difference of "
            f"{needed.difference:g} in 4 of 5 studies."
        )
    about, low = _about(needed.queries), _about(needed.low)
    high = _about(needed.high) if needed.high is not None else "far more"
    return (
        f"Showing a difference of {needed.difference:g} in 4 of 5 studies takes about {about} "
        f"queries in total ({low} to {high}); there are {n:,}."
    )


def _about(count: int) -> str:
    """A count rounded to two digits, since it is an estimate."""
    digits = max(0, len(str(count)) - 2)
    return f"{round(count, -digits):,}"


def _queries(n: int) -> str:
    return "1 query" if n == 1 else f"{n:,} queries"


def _amount(price: float) -> str:
    return f"{price:,.0f}" if price >= 1000 else f"{price:.4g}"
