"""A verdict at a glance: the sentence, what matters, the leaders, the largest loss, what to do next.

It is the first screen of report.html, a picture in Markdown reports and notebooks, and the end of
``harness bench``, which has at most 24 lines of 80 columns with a small chart of dots and intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from harness.comparison.advice import ends_at_one
from harness.comparison.first_screen import (
    MOST_SETTINGS,
    Axis,
    ChartRow,
    DrawnShape,
    FactorChart,
    SettingChart,
    dots_of,
    factor_chart,
    setting_chart,
)
from harness.comparison.indexing_again import indexing_sentence
from harness.comparison.next_steps import NextStep, largest_losses, steps_of
from harness.comparison.phrases import in_words, others_like, queries
from harness.comparison.reading import leaders_in_words, reading_json, reading_line
from harness.comparison.scores import loss_measure
from harness.comparison.sentences import sentence
from harness.comparison.short_names import shortened
from harness.comparison.verdict import TONES, Verdict
from harness.comparison.verdict_parts import GROUPS
from harness.comparison.wordings import sentence_of
from harness.comparison.words import values_of
from harness.report import part_in_words
from harness.values import counted, width, wrapped

LINES, COLUMNS = 24, 80
# a row has a name, a value in five columns, a chart and words; the name and the chart share the room that is
# left, of which the chart keeps a third, or less if it needs less
_AROUND, _WIDEST_CHART = 10, 21
# as many rows at most, where there is room
_MOST_FACTORS, _FEWEST_SETTINGS = 5, 3
_MARKS = {"dot": "●", "ring": "○", "cross": "×"}
# of a setting, in this order
_OF_SETTING = ("setting", "words", "mean", "low", "high", "group", "why", "regret", "losses")


def glance_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict at a glance as plain values."""
    factors, settings = factor_chart(verdict), setting_chart(verdict)
    factor_axis, setting_axis = factors.axis, settings.axis
    return {
        "tone": verdict.tone,
        "sentence": sentence(verdict),
        "holds": holds(verdict),
        "again": indexing_sentence(verdict),
        "measure": verdict.measure,
        "called": in_words(verdict.measure),
        "level": verdict.level,
        "tolerance": verdict.options.tolerance,
        "factors": [
            {
                "factor": row.effect.factor,
                "level": row.effect.found.setting,
                **values_of(row.effect.found, "against", "difference", "low", "high", "finding"),
                "pair": row.pair,
                "words": row.words,
                "clear": row.effect.found.real,
                "drawn": _shapes(dots_of(row, factor_axis)),
            }
            for row in factors.rows
        ],
        "factor_axis": _axis(factor_axis),
        "interactions": verdict.effects.interactions,
        "settings": [
            {
                **values_of(row.standing, *_OF_SETTING),
                "drawn": _shapes(dots_of(row, setting_axis)),
                "bar": _shapes(row.bar),
                "reached": row.standing.reached,
            }
            for row in settings.rows
        ],
        "setting_axis": _axis(setting_axis),
        # what each filling of the bars stands for
        "parts": dict(settings.parts),
        "largest": largest(verdict),
        "others": other_measures(verdict),
        "reading": {"rows": reading_json(verdict), "others": leaders_in_words(verdict)},
        "next": asdict(steps_of(verdict)[0]),
        "said": TONES[verdict.tone],
        # what is folded, by how many settings are shown
        "more": [settings.first(most).more for most in range(MOST_SETTINGS + 1)],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    """An axis as plain values: its ticks, with the place of each, the decimals of these, and where 0 is."""
    places = [[tick, round(axis.place(tick), 5)] for tick in axis.ticks]
    return {"ticks": places, "digits": axis.digits, "zero": round(axis.place(0.0), 5)}


def _shapes(shapes: Sequence[DrawnShape]) -> list[list[Any]]:
    """Shapes as plain values: what is drawn, its kind, and from where to where in shares of the width."""
    return [[shape.shape, shape.kind, round(shape.begin, 5), round(shape.end, 5)] for shape in shapes]


def head(verdict: Verdict) -> list[str]:
    """The sentence and what it holds for, with the name of the measure after its words."""
    text, called = f"{TONES[verdict.tone]}{sentence(verdict)}\n{holds(verdict)}", in_words(verdict.measure)
    named = called if called == verdict.measure else f"{called} ({verdict.measure})"
    return text.replace(called, named, 1).split("\n")


def largest(verdict: Verdict) -> str:
    """A sentence on the largest losses of the setting to use, or the leader, which it names."""
    parts = [f"{part_in_words(part)} {lost:.2f}" for part, lost in largest_losses(verdict)[:3]]
    if not parts:
        return ""
    first, *others = parts
    then = f", then {', '.join(others)}" if others else ""
    unit = loss_measure(verdict.trust, verdict.measure)
    of = "" if unit == verdict.measure else f" (in {unit})"
    return f"Largest loss of {verdict.words(verdict.shown)}{of}: {first}{then}."


def other_measures(verdict: Verdict) -> dict[str, Any] | None:
    """Whether other measures of quality have the same leader: the text, and the names of those that have not.

    None where there is none, or nothing leads that they could contradict. ``unfit``: all of those named
    cannot compare these settings.
    """
    count = sum(trust.quality for name, trust in verdict.trust.items() if name != verdict.measure)
    if not count or verdict.leader is None or verdict.baseline is not None or len(verdict.standings) < 2:
        return None
    conflicts = verdict.conflicts
    if verdict.tied and not conflicts:
        return None
    apart = sum(conflict.found.finding == "incomparable" for conflict in conflicts)
    clear = sum(conflict.found.real for conflict in conflicts)
    if not conflicts:
        codes = [{1: "measures.one", 2: "measures.both"}.get(count, "measures")]
    elif apart == len(conflicts):
        of_all = "measures.unfit.all" if count > 1 else "measures.unfit.one"
        codes = [of_all if apart == count else "measures.unfit"]
    else:
        codes = [f"measures.{'better' if clear else 'open'}{'' if count > 1 else '.one'}"]
        codes += [] if not apart else ["measures.apart" if apart > 1 else "measures.apart.one"]
    values = {"count": count, "shown": len(conflicts), "clear": clear, "apart": apart}
    return {
        "text": " ".join(sentence_of(code, **values) for code in codes),
        "names": [conflict.measure for conflict in conflicts],
        "unfit": bool(conflicts) and apart == len(conflicts),
    }


def holds(verdict: Verdict) -> str:
    """How good the best is, the queries that were asked, and what a finding on them holds for."""
    people = verdict.population
    asked = queries(people.queries)
    if verdict.leader is None or verdict.decision == "single":
        return sentence_of("holds.queries", queries=asked)
    if "clusters" in people.kind:
        asked = f"{asked} on {counted(people.clusters, people.unit)}"
    # that a setting is little worse than others says nothing of how good it is
    best = f"{verdict.mean(verdict.used or verdict.standings[0].setting):.2f}"
    best += " of 1" if ends_at_one(verdict.measure) else ""
    code = "holds.used" if verdict.used else "holds.best"
    code += ".few" if verdict.decision == "few" else ""
    good = sentence_of(code, measure=in_words(verdict.measure), mean=best, queries=asked)
    if verdict.decision == "few":
        return good
    if verdict.unlabelled:
        return f"{good} {sentence_of('holds.unjudged')}"
    how = "also.doubt" if verdict.doubt else "also.poor" if verdict.poor else "also"
    how = "only" if verdict.here and how == "also" else how
    return f"{good} {sentence_of(f'holds.{how}', others=others_like(people))}"


def glance_lines(verdict: Verdict, ends: Sequence[str] = (), lines: int = LINES) -> list[str]:
    """The lines to print; ``ends`` are printed below, such as where the page is."""
    lead = [line for text in head(verdict) for line in _paragraph(text)]
    tail = [
        *_paragraph(largest(verdict)),
        *_paragraph(reading_line(verdict)),
        *_paragraph(indexing_sentence(verdict)),
        *_next(steps_of(verdict)[0]),
        *(line for end in ends for line in _paragraph(end, whole=True)),
    ]
    # without two blank lines; each chart has a title
    left = lines - len(lead) - len(tail) - 2
    unlike = _paragraph(interactions_of(verdict)) if left >= _MOST_FACTORS + _FEWEST_SETTINGS + 2 else []
    left -= len(unlike)
    factors = _factors(factor_chart(verdict), left - 1 - _FEWEST_SETTINGS)
    settings = _settings(setting_chart(verdict), left - len(factors))
    return [*lead, "", *factors, *unlike, *settings, "", *tail]


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
        *(f"  {part}" for part in config or filter(None, [step.command])),
    ]


def _factors(chart: FactorChart, room: int) -> list[str]:
    """The title, and what each factor changes, the interval as a chart, and what that means, as far as fits.

    A name is always whole: one that does not fit beside the chart stands above it.
    """
    for most in range(min(len(chart.rows), _MOST_FACTORS), 0, -1):
        lines = _factor_lines(chart.first(most))
        if len(lines) <= room:
            return lines
    return []


def _factor_lines(chart: FactorChart) -> list[str]:
    axis = chart.axis
    room, columns = _room([(row.name, row.words) for row in chart.rows])
    lines = ["What matters (difference in score)"]
    for row in chart.rows:
        name = row.name
        if width(name) > columns:
            lines += wrapped(name, COLUMNS, indent="  ")
            name = ""
        drawn = _drawn(row, axis, room - columns, zero=True)
        lines.append(_row(_padded(name, columns), row.shown, drawn, row.words))
    return lines


def interactions_of(verdict: Verdict) -> str:
    """The first interaction, and how many more there are; '' for none."""
    first, *more = verdict.effects.interactions or ("",)
    return f"But {first}{f' And {len(more)} more like this.' if more else ''}" if first else ""


def _settings(chart: SettingChart, room: int) -> list[str]:
    """The title, and a line a setting, the one to use always among them."""
    fits = (chart.first(most) for most in range(len(chart.rows), -1, -1))
    chart = next(fit for fit in fits if len(fit.rows) + bool(fit.more) < max(room, 3))
    rows = [(row.name, row.words) for row in chart.rows]
    if any(width(row.name) > _room(rows)[1] for row in chart.rows):
        # names come before why one is ruled out
        rows = [(row.name, "" if row.group == "may" else GROUPS[row.group]) for row in chart.rows]
    room, columns = _room(rows)
    axis, lines = chart.axis, [chart.title]
    names = shortened([name for name, _ in rows], columns)
    for row, name, (_, words) in zip(chart.rows, names, rows, strict=True):
        drawn = _drawn(row, axis, room - columns)
        lines.append(_row(_padded(name, columns), row.shown, drawn, words))
    return [*lines, f"  {chart.more}"] if chart.more else lines


def _room(rows: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """How many columns names and charts take together, and names alone; rows are a name and words.

    Words get as much in all charts, to keep these alike, unless names need it.
    """
    name, words = (max(map(width, column), default=0) for column in zip(*rows, strict=True))
    room = COLUMNS - _AROUND - max(words, min(19, COLUMNS - _AROUND - _WIDEST_CHART - name))
    return room, min(name, room - min(_WIDEST_CHART, -(-room // 3)))


def _row(name: str, value: str, chart: str, words: str) -> str:
    return f"  {name} {value:>5} {chart} {words}".rstrip()


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _drawn(row: ChartRow, axis: Axis, columns: int, zero: bool = False) -> str:
    """The strip of a row in so many ``columns``, up to a limit; ``zero`` marks where 0 is."""
    last = min(columns, _WIDEST_CHART) - 1
    cells = [" "] * (last + 1)
    if zero:
        cells[round(axis.place(0.0) * last)] = "│"
    for shape in dots_of(row, axis):
        begin, end = round(shape.begin * last), round(shape.end * last)
        for place in range(begin, end + 1):
            line = "┼" if cells[place] == "│" else "─"
            cells[place] = _MARKS.get(shape.shape, line)
    return "".join(cells)
