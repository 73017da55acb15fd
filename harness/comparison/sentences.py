"""The words of a verdict, the same in terminal, page, Markdown, JSON, notebook and gate.

The verdict is one sentence or two of at most 25 words: what to use, how sure, what it may lose at most. What
is known of a difference is two or three.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.comparison.advice import is_poor
from harness.comparison.paired import FEWEST_TO_CHOOSE, Comparison
from harness.comparison.stats import ROUNDING
from harness.comparison.verdict import Holes, Population, Verdict
from harness.measures import family_of, parse_measure, reading_depth
from harness.values import confidence, counted

if TYPE_CHECKING:
    from harness.comparison.gating import GateResult

MOST_WORDS = 25


def sentence(verdict: Verdict) -> str:
    """What to do about the settings, how sure that is, and what it may lose."""
    if verdict.leader is None:
        nothing = f"Nothing was found: {in_words(verdict.measure)} is 0 for every query under every setting."
        return f"{nothing} Labels may be missing." if verdict.unlabelled else nothing
    if verdict.holes is not None and verdict.unlabelled:
        judged = f"{verdict.holes.least:.0%} of {extent_of(verdict.holes)}"
        warning = f"Hardly anything is judged ({judged}): labels may be missing."
        so_far = f"Best so far: {{}} ({verdict.mean(verdict.shown):.2f})."
        if verdict.decision == "few":
            so_far = f"{queries(verdict.population.queries)}: too few to choose by."
        return _fitted(f"{warning} {so_far}", verdict, verdict.shown)
    if verdict.decision == "single":
        mean, people = verdict.mean(verdict.leader), queries(verdict.population.queries)
        good = ", not good enough" if verdict.poor else ", nothing to compare it with"
        return f"One setting{good}: {mean:.2f} in {in_words(verdict.measure)}, on {people}."
    if verdict.decision == "few":
        lead = "So far the leader is {}." if verdict.baseline is None else "Compared with the baseline: {}."
        few = f"{queries(verdict.population.queries)}: too few to choose by, {FEWEST_TO_CHOOSE} are needed."
        return _fitted(f"{few} {lead}", verdict, verdict.leader)
    if verdict.poor:
        best = verdict.standings[0]
        text = f"None is good enough: the best, {{}}, reaches {best.mean:.2f} of 1. Look at the losses first."
        return _fitted(text, verdict, best.setting)
    if verdict.baseline is not None:
        return _against_baseline(verdict)
    return _use(verdict)


def _use(verdict: Verdict) -> str:
    """The setting to use, where any can be advised."""
    advice, leader = verdict.advice, verdict.leader or ""
    if advice is None:
        limit, prices = verdict.options.price_limit, verdict.costs.by_setting
        if limit is not None and prices is not None and all(price > limit for price in prices.values()):
            return f"No setting is within the price limit of {amount(limit)} {verdict.costs.unit}."
        if verdict.unread and verdict.across:
            return _ends_early("The leader is {}, but", verdict, leader)
        unlike = "but that does not compare settings that cut documents differently"
        return _fitted(f"The leader by {in_words(verdict.measure)} is {{}}, {unlike}.", verdict, leader)
    limited = len(advice.among) < len(verdict.standings)
    within = " within the price limit" if limited else ""
    ahead = 0.0 if verdict.margin is None else verdict.margin.difference
    best_of_all = verdict.decision == "best" and advice.setting == leader
    if best_of_all and not verdict.here:
        far = " as far as rankings go" if verdict.read.get(verdict.measure) else ""
        best = f"It is shown to be best{far} ({confidence(verdict.level)}), {ahead:.2f} above the next."
        return _fitted(f"Use {{}}. {best}", verdict, leader)
    if len(advice.among) == 1:
        return _fitted("Use {}, the only setting within the price limit.", verdict, advice.setting)
    loses = f"{worse_than(advice.regret)} any other{within} ({confidence(verdict.level)})"
    if any(one.finding == "turns" for one in verdict.comparisons):
        loses += ", with labels as given"
    if verdict.here:
        if best_of_all:
            loses = f"better than all others, the next by {ahead:.2f} ({confidence(verdict.level)})"
        here = f"On {these(verdict.population)} use {{}}, {loses}."
        return _fitted(f"{here} New {verdict.population.unit}s may differ.", verdict, advice.setting)
    if limited:
        return _fitted(f"Use {{}}: {loses}.", verdict, advice.setting)
    if verdict.decision == "equivalent":
        by = f" by more than {rounded_up(advice.regret)}" if advice.regret > ROUNDING else ""
        text = f"Use {{}}. No other is better{by} ({confidence(verdict.level)})."
        return _fitted(text, verdict, advice.setting)
    return _fitted(f"Use {{}}. Not proven best, but {loses}.", verdict, advice.setting)


def worse_than(regret: float, digits: int = 2) -> str:
    """How much worse a setting may be: ``at most 0.05 worse than``."""
    return "no worse than" if regret <= ROUNDING else f"at most {rounded_up(regret, digits)} worse than"


def deeper(verdict: Verdict, setting: str) -> str:
    """The key, with its value, that makes a setting retrieve all that the measure reads; '' for none here."""
    depth, search = reading_depth(verdict.measure), verdict.configured.get(setting, {}).get("retrieve") or {}
    if depth is None or depth.amount is None or search.get("kind") in (None, "returned"):
        return ""
    if depth.unit == "ranks":
        return f"`retrieve.top_k: {depth.amount}`"
    # no token of a text is longer than eight characters on average
    return f"`retrieve.top_chars: {depth.amount * (8 if depth.unit == 'tokens' else 1)}`"


def _ends_early(lead: str, verdict: Verdict, setting: str) -> str:
    """A sentence on a setting that goes on with whose rankings end before what is read."""
    early = verdict.unread
    whose, called = (f"{len(early)} settings", ()) if len(early) > 1 else ("{}", early)
    return _fitted(f"{lead} rankings of {whose} end before what is read.", verdict, setting, *called)


def _against_baseline(verdict: Verdict) -> str:
    """How many settings are better than the baseline, and which most."""
    baseline, better = verdict.baseline or "", verdict.beyond_baseline(better=True)
    on = f"On {these(verdict.population)} " if verdict.here else ""
    differ = f" New {verdict.population.unit}s may differ." if verdict.here else ""
    if not better:
        none = f"{on}{'no' if on else 'No'} setting is shown to be better than the baseline, {{}}."
        if verdict.unread:
            return _ends_early(f"{none.removeprefix(on).capitalize()[:-1]};", verdict, baseline)
        return _fitted(f"{none}{differ}", verdict, baseline)
    be = "is" if len(better) == 2 else "are"
    others = f" So {be} {counted(len(better) - 1, 'other')}." if len(better) > 1 else ""
    best = f"{on}{'better' if on else 'Better'} than the baseline, {{}}: {{}}."
    return _fitted(f"{best}{others}{differ}", verdict, baseline, better[0])


def finding_words(found: Comparison, tolerance: float) -> str:
    """What is known of a difference; ``here``: of these documents alone."""
    here = " here" if found.here else ""
    return {
        "real": f"{'better' if found.difference > 0 else 'worse'}{here}",
        "equivalent": f"equal within {tolerance:g}{here}",
        "open": "no difference found",
        "few": "too few queries",
        "turns": "depends on labels",
        "incomparable": "not comparable",
        "unread": "rankings end early",
    }[found.finding]


def gate_sentence(result: GateResult, called: Callable[[str], str], unit: str) -> str:
    """Whether a gate passes, how sure that is, and how large a drop it leaves open.

    ``called`` says what a setting is called, ``unit`` what a cluster of queries is.
    """
    checks = result.checks
    failed, most = [one for one in checks if one.failed], [one.most for one in checks]
    level, first = f"({confidence(result.confidence)})", checks[0]
    here = f" New {unit}s may differ." if first.units.kind == "few clusters" else ""
    best = max(one.mean for one in checks)
    here += f" Best {best:.2f}: none is good enough." if is_poor(best, result.measure) else ""
    if any(one.unread for one in checks):
        here += " Rankings end earlier in one of the two runs."
    if failed:
        names = [called(one.setting) for one in checks]
        worst = max(failed, key=lambda one: one.at_least or 0.0)
        others = f" {counted(len(failed) - 1, 'other').capitalize()} failed too." if len(failed) > 1 else ""
        least = f"at least {rounded_down(worst.at_least or 0.0)} {level}"
        return _filled(f"Failed: {{}} dropped by {least}.{others}{here}", [called(worst.setting)], names)
    if None in most:
        return "Passed: a single query cannot show whether a drop is real."
    if all(one.equivalent for one in checks):
        every = "the setting is" if len(checks) == 1 else f"all {len(checks)} settings are"
        return f"Passed: {every} equal to the baseline within {first.tolerance:g} {level}.{here}"
    largest = max(one or 0.0 for one in most)
    return f"Passed: {drop_left_open(largest, rounded_up(largest), first.max_drop)} {level}.{here}"


def drop_left_open(most: float, shown: str, tolerated: float) -> str:
    """The largest drop that a gate leaves open, ``shown`` in decimals, where it finds none beyond chance."""
    if most <= 0:
        return "a drop is excluded"
    if most <= tolerated:
        return f"a drop of more than {shown} is excluded, with {tolerated:g} tolerated"
    return f"no drop beyond the {tolerated:g} tolerated is shown, though one of up to {shown} is not excluded"


def _fitted(template: str, verdict: Verdict, *settings: str) -> str:
    """The template with the names of settings in words."""
    every = [one.words for one in verdict.standings]
    return _filled(template, list(map(verdict.words, settings)), every)


def _filled(template: str, called: Sequence[str], every: Sequence[str]) -> str:
    """The template with names, cut where all would take more than 25 words; ``every`` name there is."""
    left = MOST_WORDS - len(template.split()) + len(called)
    names = []
    for place, name in enumerate(called):
        words = name.split()
        most = max(1, left // (len(called) - place))
        sized = len(words) > 1 and words[0][0].isdigit() and words[1].rstrip(",") in ("characters", "tokens")
        shown = f"chunks of {name}" if sized and len(words) + 2 <= most else name
        # a mark of its own would count as a word
        names.append(shown if len(shown.split()) <= most else _cut(name, most, every))
        left -= min(len(words), most)
    return template.format(*names)


def _cut(name: str, most: int, every: Sequence[str]) -> str:
    """The beginning of a name, or where that is the beginning of others too, what tells it from them."""
    head = " ".join(name.split()[:most]).rstrip(",")
    parts, alike = name.split(", "), [one for one in every if one != name and one.startswith(head)]
    telling = [part for part in parts if not any(part in one.split(", ") for one in alike)]
    last = telling[-1] if alike and telling else ""
    before = " ".join(name.split()[: most - len(last.split())]).rstrip(",")
    if not last or len(before) == 0:
        return f"{head}…"
    return f"{before}…, {last}"


def in_words(measure: str) -> str:
    """A measure in a sentence, such as ``NDCG over the first 10 passages``; its name if it has no words."""
    family = family_of(measure)
    if family is None or not family.words or parse_measure(measure).params:
        return measure
    first = first_read(measure)
    return f"{family.words} over {first}" if first else family.words


def first_read(measure: str) -> str:
    """What a measure reads, such as ``the first 10 passages``; '' where that is all, or is not known."""
    family = family_of(measure)
    cutoff = None if family is None else parse_measure(measure).cutoff
    if family is None or cutoff is None:
        return ""
    return f"the first {cutoff:,} {f'{family.reads} read' if family.cut_in_text else 'passages'}"


def extent_of(holes: Holes) -> str:
    """What is judged a share of, such as ``the first 10 passages``."""
    return first_read(holes.measure) or "what is read"


def these(people: Population) -> str:
    """The clusters of the queries: ``these 4 documents``."""
    return f"these {people.clusters:,} {people.unit}s" if people.clusters > 1 else f"this one {people.unit}"


def queries(n: int) -> str:
    """A number of queries."""
    return counted(n, "query", "queries")


def amount(price: float) -> str:
    """A price, with as many digits as matter."""
    return f"{price:,.0f}" if price >= 1000 else f"{price:.4g}"


def rounded_up(regret: float, digits: int = 2) -> str:
    """A regret bound, rounded up so that it still holds."""
    unit = 10**digits
    return f"{math.ceil(round(unit * regret, 6)) / unit:.{digits}f}"


def rounded_down(bound: float, digits: int = 2) -> str:
    """A lower bound, rounded down so that it still holds."""
    unit = 10**digits
    return f"{math.floor(round(unit * bound, 6)) / unit:.{digits}f}"
