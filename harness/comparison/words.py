"""A verdict in words, and as plain values for JSON. No other module says what is best, real or open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harness.comparison.advice import shortfalls
from harness.comparison.conclusion import conclusion_of, level_ones
from harness.comparison.indexing_again import indexing_sentence
from harness.comparison.next_steps import NextStep, could_pass, fitting, steps_of
from harness.comparison.paired import Comparison
from harness.comparison.phrases import amount, extent_of, finding_words, queries, rounded_up, these
from harness.comparison.reading import leaders_in_words
from harness.comparison.sentences import said
from harness.comparison.stats import FEWEST_CLUSTERS, ROUNDING
from harness.comparison.verdict import LABELS, Line, Role, Verdict
from harness.comparison.verdict_parts import ENOUGH_JUDGED, Trust
from harness.comparison.wordings import sentence_of
from harness.values import FEWEST_FOR_INTERVAL, ResultWarning, by_key, confidence, listed, signed

# With fewer queries, a caveat says that kinds of queries may be missing.
MAY_MISS = 60


def lines_of(verdict: Verdict) -> tuple[Line, ...]:
    """All lines, in the order of reading."""
    lines: list[tuple[Role, str]] = [("decision", said(conclusion_of(verdict), verdict))]
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
    bounded = margin.low is not None and margin.high is not None and margin.n >= FEWEST_FOR_INTERVAL
    difference = sentence_of(
        "margin.bounded" if bounded else "margin",
        leader=verdict.quoted(margin.setting),
        other=verdict.quoted(margin.against),
        difference=signed(margin.difference),
        level=confidence(verdict.level),
        low=signed(margin.low or 0.0),
        high=signed(margin.high or 0.0),
        p=p_value(margin.p),
        finding=finding_words(margin, verdict.options.tolerance),
    )
    counts = sentence_of(
        "margin.queries",
        wins=margin.wins,
        ties=margin.ties,
        losses=margin.losses,
        queries=queries(margin.n),
    )
    return f"{difference} {counts}"


def _test(verdict: Verdict) -> str:
    people, count = verdict.population, len(verdict.comparisons)
    units = f"whole {people.unit}s" if people.kind == "clusters" else "queries"
    if verdict.baseline is not None:
        family = "test.baseline" + {1: ".one", 2: ".both"}.get(count, "")
    else:
        family = "test.pairs" if count > 1 else "test.pair"
    rule = "test.rule"
    rule += ".labels" if verdict.measure in verdict.sensitivity else ""
    rule += "" if verdict.across else ".chunks"
    p, tolerance = f"{1 - verdict.level:.2g}", f"{verdict.options.tolerance:g}"
    lines = [sentence_of(family, units=units, count=count), sentence_of(rule, p=p, tolerance=tolerance)]
    if verdict.here:
        lines.append(sentence_of("test.here", documents=these(people)))
    return " ".join(lines)


def _population(verdict: Verdict) -> str:
    people = verdict.population
    alike = "" if people.icc is None else ".alike"
    shown = {
        "unit": people.unit,
        "number": people.clusters,
        "queries": queries(people.queries),
        "count": f"{people.queries:,}",
        "documents": these(people),
        "icc": "" if people.icc is None else f"{people.icc:.2f}",
        "fewest": FEWEST_CLUSTERS,
        "worth": f"{people.worth:.1f}",
    }
    if people.kind == "clusters":
        return sentence_of(f"population.clusters{alike}", **shown)
    if people.kind == "few clusters":
        worth = "population.worth.one" if round(people.worth, 1) <= 1 else "population.worth"
        return f"{sentence_of(f'population.few{alike}', **shown)} {sentence_of(worth, **shown)}"
    return sentence_of("population.queries" if people.kind == "queries" else "population.unknown", **shown)


def _caveats(verdict: Verdict) -> list[str]:
    if len(verdict.standings) < 2:
        return _unjudged(verdict)
    caveats = [*_rule(verdict), *_cheaper(verdict)]
    n = verdict.population.queries
    if not verdict.across:
        caveats.append(f"{sentence_of('unfit', measure=verdict.measure)} {fitting(verdict)}")
    if verdict.conflicts:
        caveats.append(_disagreement(verdict))
    caveats += [*_sign_changes(verdict), *_unjudged(verdict)]
    if again := indexing_sentence(verdict):
        caveats.append(again)
    if leaders := leaders_in_words(verdict):
        caveats.append(f"{sentence_of('depths')} {leaders}")
    limit = verdict.options.price_limit
    if limit is not None and (verdict.costs.by_setting is None or verdict.baseline is not None):
        why = "limit.no prices" if verdict.costs.by_setting is None else "limit.baseline"
        caveats.append(sentence_of(why, limit=amount(limit)))
    if FEWEST_FOR_INTERVAL <= n < MAY_MISS:
        caveats.append(sentence_of("rare", queries=queries(n), share=f"{1 - 0.05 ** (1 / n):.0%}"))
    return caveats


def _rule(verdict: Verdict) -> list[str]:
    """Why another setting is named than the one with the highest mean."""
    advice = verdict.advice
    by_effects = advice is not None and advice.rule == "effects"
    # levels may lead back to the highest mean, of which nothing has to be said
    if advice is None or advice.rule == "mean" or (by_effects and advice.setting == advice.among[0]):
        return []
    first = advice.among[0] if advice.among[0] != advice.setting else advice.among[1]
    named = {
        "setting": verdict.quoted(advice.setting),
        "first": verdict.quoted(first),
        "behind": f"{verdict.mean(first) - verdict.mean(advice.setting):.3f}",
        "tolerance": f"{verdict.options.tolerance:g}",
    }
    if by_effects:
        return [sentence_of("rule.effects", **named)]
    drawn, costs = verdict.sensitivity.get(verdict.measure), verdict.costs.by_setting
    if advice.rule == "labels" and drawn is not None:
        short = shortfalls({name: drawn.means[name] for name in advice.among})
        behind = {"short": f"{short[advice.setting]:.2f}", "other": f"{short[first]:.2f}"}
        return [sentence_of("rule.labels", **named, **behind)]
    if advice.rule == "price" and costs is not None:
        prices = {"price": amount(costs[advice.setting]), "other": amount(costs[first])}
        return [sentence_of("rule.price", **named, **prices, unit=verdict.costs.unit)]
    bounds = {"regret": f"{advice.regret:.3f}", "other": f"{advice.bounds[first]:.3f}"}
    return [sentence_of("rule.regret", **named, **bounds)]


def _cheaper(verdict: Verdict) -> list[str]:
    """The cheapest setting that loses no more than the tolerance, where that is not the one to use."""
    advice, costs = verdict.advice, verdict.costs.by_setting
    if advice is None or advice.cheaper is None or costs is None:
        return []
    cheaper = advice.cheaper
    return [
        sentence_of(
            "cheaper.none" if cheaper.regret <= ROUNDING else "cheaper",
            setting=verdict.quoted(cheaper.setting),
            price=amount(costs[cheaper.setting]),
            dearer=amount(costs[advice.setting]),
            unit=verdict.costs.unit,
            regret=rounded_up(cheaper.regret, 3),
            tolerance=f"{verdict.options.tolerance:g}",
        )
    ]


def _sign_changes(verdict: Verdict) -> list[str]:
    """Differences that would be real if label length did not change their sign, the leader's first."""
    pairs = [pair for pair in verdict.comparisons if pair.finding == "turns"]
    if not pairs:
        return []
    pairs.sort(key=lambda pair: verdict.leader not in (pair.setting, pair.against))
    names = [f"{verdict.quoted(pair.setting)} against {verdict.quoted(pair.against)}" for pair in pairs]
    code = "turns.one" if len(pairs) == 1 else "turns"
    return [sentence_of(code, count=f"{len(pairs):,}", pairs=listed(names, 3))]


def _unjudged(verdict: Verdict) -> list[str]:
    """What labels are taken for; how much is judged, if little, and which settings the rest could lift."""
    holes = verdict.holes
    if verdict.complete and verdict.assumed:
        return [sentence_of("judged.assumed")]
    if holes is None:
        return []
    caveats = []
    if holes.least < ENOUGH_JUDGED:
        code = "judged.single" if len(holes.shares) == 1 else "judged"
        share, extent = f"{holes.least:.0%}", extent_of(holes)
        lines = [sentence_of(code, share=share, extent=extent, measure=holes.measure)]
        lines += [sentence_of("judged.answers")] if verdict.assumed else []
        caveats.append(" ".join(lines))
    ahead, passing = could_pass(verdict)
    if passing:
        caveats.append(
            sentence_of(
                "overlap",
                settings=listed(list(map(verdict.quoted, passing))),
                mean=f"{verdict.mean(ahead):.3f}",
                leader=verdict.quoted(ahead),
                most=f"{max(holes.upper[name] for name in passing):.3f}",
                bound=holes.bound,
            )
        )
    return caveats


def _disagreement(verdict: Verdict) -> str:
    """A sentence on the measures with another leader, and one on what each measure is good for.

    Measures that cannot compare the settings contradict nothing.
    """
    fit = [conflict for conflict in verdict.conflicts if conflict.found.finding != "incomparable"]
    if not fit:
        unfit = listed([conflict.measure for conflict in verdict.conflicts])
        return sentence_of("disagree.unfit", measures=unfit)
    measures = by_key(
        ((conflict.found.setting, finding_words(conflict.found, verdict.options.tolerance)), conflict.measure)
        for conflict in verdict.conflicts
    )
    others = [f"{verdict.quoted(name)} by {listed(by)} ({words})" for (name, words), by in measures.items()]
    return sentence_of(
        "disagree.tied" if verdict.tied else "disagree",
        tied=level_ones(verdict),
        leader=verdict.quoted(verdict.leader or ""),
        measure=verdict.measure,
        others="; ".join(others),
        uses=_trusted(verdict),
    )


def _trusted(verdict: Verdict) -> str:
    """The use of each measure; measures that cannot compare these settings are listed separately."""
    by_phrase: dict[str, list[str]] = {}
    for name in (verdict.measure, *(conflict.measure for conflict in verdict.conflicts)):
        trust = verdict.trust.get(name, Trust())
        phrase = trust.phrase or "for what it counts"
        if not trust.comparable:
            phrase = "only among settings over the same chunks"
        by_phrase.setdefault(phrase, []).append(name)
    return "; ".join(f"{listed(names)} {phrase}" for phrase, names in by_phrase.items())


# Of one kind; the rest is counted. All are in record.json and verdict.json.
_SHOWN = 3


def warning_lines(warnings: Sequence[ResultWarning]) -> list[str]:
    """One line for each warning, the first few of a kind."""
    lines = []
    by_kind = (
        (warning.kind, warning.text if warning.text.endswith(".") else f"{warning.text}.")
        for warning in warnings
    )
    for kind, texts in by_key(by_kind).items():
        lines += texts[:_SHOWN]
        if (more := len(texts) - _SHOWN) > 0:
            lines.append(sentence_of("more warnings", count=more, kind=kind))
    return lines


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Everything that a verdict says."""
    margin, people, holes = verdict.margin, verdict.population, verdict.holes
    conclusion = conclusion_of(verdict)
    return {
        "sentence": said(conclusion, verdict),
        "conclusion": asdict(conclusion),
        "tone": verdict.tone,
        **values_of(verdict, "measure", "decision"),
        # with a baseline the others are compared with it, however many are level
        "leader": None if verdict.tied and verdict.baseline is None else verdict.leader,
        "tied": verdict.tied,
        **values_of(verdict, "baseline"),
        **values_of(verdict.options, "tolerance", "price_limit"),
        "advice": None
        if verdict.advice is None
        else values_of(verdict.advice, "setting", "regret", "among", "cheaper"),
        "lines": [
            {"role": line.role, "label": LABELS[line.role], "text": line.text} for line in lines_of(verdict)
        ],
        # of the setting to use, where an existing collection would be replaced by it
        "indexing_again": asdict(verdict.indexing[verdict.used]) if indexing_sentence(verdict) else None,
        "margin": None
        if margin is None
        else {
            "over": margin.against,
            **values_of(margin, "difference", "low", "high"),
            "level": verdict.level,
            **values_of(margin, "p", "finding", "here"),
        },
        "next": [asdict(step) for step in steps_of(verdict)],
        "population": {
            **values_of(people, "queries", "clusters", "unit"),
            "tested_by": "clusters" if people.kind == "clusters" else "queries",
            **values_of(people, "worth", "icc"),
        },
        "settings": [values_of(standing, *_OF_SETTING) for standing in verdict.standings],
        "factors": [
            {"factor": effect.factor, "pairs": effect.pairs, **values_of(effect.found, *_OF_EFFECT)}
            for effect in verdict.effects.main
        ],
        "interactions": verdict.effects.interactions,
        "labels": {"hold": "answers" if verdict.complete else "pool", "assumed": verdict.assumed},
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
        # what speaks against the judge of the grades
        "doubt": asdict(verdict.doubt) if verdict.doubt else None,
        "warnings": [asdict(warning) for warning in verdict.warnings],
        "conflicts": [
            {"measure": conflict.measure, "leader": conflict.found.setting, "finding": conflict.found.finding}
            for conflict in verdict.conflicts
        ],
    }


_OF_SETTING = ("setting", "mean", "low", "high", "regret", "group", "why", "words")
# ``setting`` and ``against`` are levels of the factor
_OF_EFFECT = ("setting", "against", "difference", "low", "high", "p", "finding", "here", "n", "family")


def values_of(item: Any, *names: str) -> dict[str, Any]:
    """Some fields of an item as plain values, in this order."""
    plain = asdict(item)
    return {name: plain[name] for name in names}
