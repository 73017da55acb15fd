"""A verdict at a glance: the sentence, what matters, the leaders, the largest loss, what to do next.

It is the first screen of report.html, a picture in Markdown reports and notebooks, and the end of
``harness bench``, which has at most 24 lines of 80 columns with a small chart of dots and intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from textwrap import wrap
from typing import Any

from harness.comparison.advice import ends_at_one
from harness.comparison.next_steps import NextStep, largest_losses, steps_of
from harness.comparison.scores import loss_measure
from harness.comparison.sentences import in_words, queries, sentence, these
from harness.comparison.verdict import GROUPS, TONES, Bounds, Effect, Standing, Verdict
from harness.comparison.words import values_of
from harness.report import part_in_words
from harness.values import FEWEST_FOR_INTERVAL, confidence, counted, width, wrapped

LINES, COLUMNS = 24, 80
# a row has a name, a value in five columns, a chart and words; the name and the chart share what these leave
_AROUND, _WIDEST_CHART, _NARROWEST_CHART = 10, 21, 9
# as many rows at most, where there is room
_MOST_FACTORS, _FEWEST_SETTINGS = 5, 3
# beyond these, and the one to use, settings are only counted
MOST_SETTINGS = 10
_MARKS = {"use": "●", "may": "○", "out": "×"}
# of a setting, in this order
_OF_SETTING = ("setting", "words", "mean", "low", "high", "group", "why", "regret", "losses")


def glance_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict at a glance as plain values."""
    settings = shown_standings(verdict)
    return {
        "tone": verdict.tone,
        "sentence": sentence(verdict),
        "holds": holds(verdict),
        "measure": verdict.measure,
        "called": in_words(verdict.measure),
        "level": verdict.level,
        "tolerance": verdict.options.tolerance,
        "factors": [
            {
                "factor": one.factor,
                "level": one.found.setting,
                **values_of(one.found, "against", "difference", "low", "high", "finding"),
                "words": one.words,
                "clear": one.found.real,
            }
            for one in verdict.effects.main
        ],
        "interactions": verdict.effects.interactions,
        "settings": [values_of(one, *_OF_SETTING) for one in settings],
        "largest": largest(verdict),
        "next": asdict(steps_of(verdict)[0]),
        "said": TONES[verdict.tone],
        # what is folded, by how many settings are shown
        "more": [folded(settings, most)[1] for most in range(MOST_SETTINGS + 1)],
    }


def head(verdict: Verdict) -> list[str]:
    """The sentence and what it holds for, with the name of the measure after its words."""
    told, called = f"{TONES[verdict.tone]}{sentence(verdict)}\n{holds(verdict)}", in_words(verdict.measure)
    named = called if called == verdict.measure else f"{called} ({verdict.measure})"
    return told.replace(called, named, 1).split("\n")


def shown_standings(verdict: Verdict) -> tuple[Standing, ...]:
    """The settings from the highest mean down, without intervals where queries are too few for them."""
    if verdict.population.queries >= FEWEST_FOR_INTERVAL:
        return verdict.standings
    return tuple(replace(one, low=None, high=None) for one in verdict.standings)


def about_settings(verdict: Verdict) -> str:
    """The title of the chart of settings."""
    if any(one.low is not None for one in shown_standings(verdict)):
        return f"Settings (score, {confidence(verdict.level)} intervals)"
    return "Settings (score; too few queries for intervals)"


def largest(verdict: Verdict) -> str:
    """A sentence on the largest losses of the setting to use, or the leader, which it names."""
    told = [f"{part_in_words(part)} {lost:.2f}" for part, lost in largest_losses(verdict)[:3]]
    if not told:
        return ""
    first, *others = told
    then = f", then {', '.join(others)}" if others else ""
    unit = loss_measure(verdict.trust, verdict.measure)
    of = "" if unit == verdict.measure else f" (in {unit})"
    return f"Largest loss of {verdict.words(verdict.shown)}{of}: {first}{then}."


def holds(verdict: Verdict) -> str:
    """How good the best is, the queries that were asked, and what a finding on them holds for."""
    people = verdict.population
    asked, unit = queries(people.queries), people.unit
    if verdict.leader is None or verdict.decision == "single":
        return f"{asked}."
    # that a setting is little worse than others says nothing of how good it is
    best = verdict.mean(verdict.used or verdict.standings[0].setting)
    good = f"{'Its' if verdict.used else 'The best'} {in_words(verdict.measure)} is {best:.2f}"
    good += " of 1" if ends_at_one(verdict.measure) else ""
    if verdict.decision == "few":
        return f"{good}."
    on = f" on {counted(people.clusters, unit)}" if "clusters" in people.kind else ""
    told = f"{good}, for {asked}{on}."
    if verdict.unlabelled:
        return f"{told} What is unjudged counts as irrelevant."
    like = {"clusters": f"new {unit}s like these", "few clusters": f"more queries on {these(people)} alone"}
    # that it holds would read as praise beside a poor score
    holds = "Expect no better on" if verdict.poor else "Holds for"
    return f"{told} {holds} {like.get(people.kind, 'more queries like these')}."


def glance_lines(verdict: Verdict, ends: Sequence[str] = (), lines: int = LINES) -> list[str]:
    """The lines to print; ``ends`` are printed below, such as where the page is."""
    lead = [line for text in head(verdict) for line in _paragraph(text)]
    tail = [
        *_paragraph(largest(verdict)),
        *_next(steps_of(verdict)[0]),
        *(line for end in ends for line in _paragraph(end, whole=True)),
    ]
    # without two blank lines; each chart has a title
    left = lines - len(lead) - len(tail) - 2
    unlike = _paragraph(interactions_of(verdict)) if left >= _MOST_FACTORS + _FEWEST_SETTINGS + 2 else []
    left -= len(unlike)
    most = min(len(verdict.effects.main), _MOST_FACTORS, max(0, left - 2 - _FEWEST_SETTINGS))
    factors = _factors(verdict.effects.main, most) if most else []
    return [*lead, "", *factors, *unlike, *_settings(verdict, left - len(factors)), "", *tail]


def _paragraph(text: str, whole: bool = False) -> list[str]:
    """Lines of at most 80 columns; a longer word is broken, unless it stays ``whole`` to be copied."""
    longer = any(width(word) > COLUMNS for word in text.split())
    return wrapped(text, COLUMNS, break_words=longer and not whole)


def _next(step: NextStep) -> list[str]:
    """The next step and what to copy, on its own lines where both are too long for one."""
    if width(line := f"Next: {step}") <= COLUMNS:
        return [line]
    # YAML goes on in lines that are indented further, a command does not
    config = wrap(step.config, COLUMNS - 4, subsequent_indent="  ", break_long_words=False)
    return [
        *_paragraph(f"Next: {step.text}"),
        *(f"  {one}" for one in config or filter(None, [step.command])),
    ]


def _factors(factors: Sequence[Effect], most: int) -> list[str]:
    """The title, and a line a factor: what it changes, the interval as a chart, and what that means."""
    first = sorted(factors, key=lambda one: not one.found.real)[:most]
    shown = [one for one in factors if one in first]
    room, columns = _room([(pair_of(one), one.words) for one in shown])
    lines = ["What matters (difference in score)"]
    for one in shown:
        mark = "●" if one.found.real else "○"
        chart = _chart(one.bounds, ends_of(shown), room - columns, mark, zero=True)
        lines.append(_row(padded(pair_of(one), columns), shown_difference(one), chart, one.words))
    return lines


def interactions_of(verdict: Verdict) -> str:
    """The first interaction, and how many more there are; '' for none."""
    first, *more = verdict.effects.interactions or ("",)
    return f"But {first}{f' And {len(more)} more like this.' if more else ''}" if first else ""


def pair_of(effect: Effect) -> str:
    """Two levels, what both end with once: ``500 instead of 1,000 characters``."""
    level, against = effect.found.setting, effect.found.against
    one, _, last = level.rpartition(" ")
    sizes = level[0].isdigit() and level.count(" ") == against.count(" ") == 1
    if one and against.endswith(f" {last}") and (sizes or last == "search"):
        return f"{one} instead of {against}"
    # nor what both begin with
    for shared in (f"{level.rpartition(', ')[0]}, ", "reranked by "):
        against = against.removeprefix(shared) if level.startswith(shared) else against
    return f"{level} instead of {against}"


def shown_difference(one: Effect) -> str:
    """The difference with its sign, without one where it rounds to 0."""
    difference = one.found.difference
    return f"{difference:+.2f}" if round(difference, 2) else "0.00"


def ends_of(shown: Iterable[Effect | Standing]) -> list[float]:
    """All that the axis of a chart spans; of differences also 0."""
    ends = [end for one in shown for end in (*one.bounds, 0.0 if isinstance(one, Effect) else None)]
    return [end for end in ends if end is not None]


def place_on(ends: Sequence[float], value: float) -> float:
    """The place of a value on an axis that spans all ``ends``: 0 where it begins, 1 where it ends."""
    least, most = min(ends), max(ends)
    return (value - least) / (most - least) if most > least else 0.5


def folded(settings: Sequence[Standing], most: int) -> tuple[list[Standing], str]:
    """The first ``most`` with the one to use, and the others: ``5 more: 3 may be best, 2 ruled out``."""
    # one folded row would take as much room
    most += len(settings) == most + 1
    rest = Counter(GROUPS[one.group] for one in settings[most:] if one.group != "use")
    told = ", ".join(f"{n} {what}" if len(rest) > 1 else what for what, n in rest.items())
    shown = [one for place, one in enumerate(settings) if place < most or one.group == "use"]
    return shown, f"{rest.total()} more: {told}" if rest else ""


def _settings(verdict: Verdict, room: int) -> list[str]:
    """The title, and a line a setting, the one to use always among them."""
    settings = shown_standings(verdict)
    fits = (folded(settings, most) for most in range(len(settings), -1, -1))
    shown, more = next(one for one in fits if len(one[0]) + bool(one[1]) < max(room, 3))
    rows = [(one.words, one.short) for one in shown]
    if any(width(one.words) > _room(rows)[1] for one in shown):
        # names come before why one is ruled out
        rows = [(one.words, "" if one.group == "may" else GROUPS[one.group]) for one in shown]
    room, columns = _room(rows)
    lines = [about_settings(verdict)]
    for one, (name, short) in zip(shown, rows, strict=True):
        chart = _chart(one.bounds, ends_of(shown), room - columns, _MARKS[one.group])
        lines.append(_row(padded(name, columns), f"{one.mean:.2f}", chart, short))
    return [*lines, f"  {more}"] if more else lines


def _room(rows: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """How many columns names and charts take together, and names alone; rows are a name and words.

    Words get as much in all charts, to keep these alike, unless names need it.
    """
    name, words = (max(map(width, own), default=0) for own in zip(*rows, strict=True))
    room = COLUMNS - _AROUND - max(words, min(19, COLUMNS - _AROUND - _NARROWEST_CHART - name))
    return room, min(name, room - _NARROWEST_CHART)


def _row(name: str, value: str, chart: str, words: str) -> str:
    return f"  {name} {value:>5} {chart} {words}".rstrip()


def padded(text: str, columns: int) -> str:
    """Text in exactly so many columns, cut with an ellipsis where it is longer."""
    if width(text) > columns:
        while width(text) > columns - 1:
            text = text[:-1]
        text = text.rstrip() + "…"
    return text + " " * (columns - width(text))


def _chart(bounds: Bounds, ends: Sequence[float], columns: int, mark: str, zero: bool = False) -> str:
    """An interval as a line with a mark at its middle value, on an axis that spans all ``ends``.

    It takes so many ``columns``, up to a limit; ``zero`` marks where 0 is.
    """
    low, value, high = bounds
    last = min(columns, _WIDEST_CHART) - 1

    def at(number: float) -> int:
        return round(place_on(ends, number) * last)

    cells = [" "] * (last + 1)
    if zero:
        cells[at(0.0)] = "│"
    if low is not None and high is not None:
        for place in range(at(low), at(high) + 1):
            cells[place] = "┼" if cells[place] == "│" else "─"
    cells[at(value)] = mark
    return "".join(cells)
