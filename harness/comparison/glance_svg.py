"""A verdict at a glance as an SVG picture for Markdown reports and notebooks: light and dark, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from textwrap import wrap

from harness.comparison import glance
from harness.comparison.first_screen import (
    LEFT,
    MOST_SETTINGS,
    Axis,
    DrawnShape,
    FactorChart,
    SettingChart,
    dots_of,
    factor_chart,
    setting_chart,
)
from harness.comparison.next_steps import steps_of
from harness.comparison.sentences import sentence
from harness.comparison.short_names import shortened
from harness.comparison.verdict import Verdict
from harness.report import colours
from harness.values import width

WIDTH, LINE, MARGIN = 860, 24, 16
# where the columns begin: values, charts, words or bars
_VALUE, _CHART, _CHART_END, _WORDS, _BAR_END = 424, 440, 600, 616, 860
_LETTERS = 96
_NAME_LETTERS = 54

_LEFT = "var(--left)"
# what tells the parts apart where colours do not, in a square of 6: strokes and dots of the page
_PATTERNS = {
    "parser": "M0,3H6M3,0V6",
    "chunking": "M0,6L6,0",
    "candidates": "M3,0V6",
    "order": "",
    "change": "M0,0L6,6",
    "change-1": "M0,3H6",
    "change-2": "M0,6L6,0M0,0L6,6",
    "else": "M2,3H4",
}
_USED = ("bg", "surface", "ink", "ink-2", "line-2", "line-4", "missed", "accent", "left")

_STYLE = """
svg {{ max-width: 100%; height: auto }}
svg {{ {light} color: var(--ink); font: 13px system-ui, sans-serif }}
@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}
text {{ fill: var(--ink) }} .quiet {{ fill: var(--ink-2) }} .lead {{ font-size: 17px; font-weight: 600 }}
.title {{ font-weight: 600 }} .end {{ text-anchor: end }} .middle {{ text-anchor: middle }}
.lead.poor {{ fill: var(--missed) }} .lead.caution {{ fill: var(--line-4) }}
.line {{ stroke: var(--line-2); stroke-width: 1 }}
line.interval {{ stroke: var(--ink-2); stroke-width: 2 }} line.interval.use {{ stroke: var(--accent) }}
path.cross {{ stroke: var(--ink-2); stroke-width: 2; fill: none }}
circle {{ stroke-width: 2 }} circle.use {{ fill: var(--accent); stroke: var(--accent) }}
circle.may {{ fill: var(--surface); stroke: var(--ink-2) }}
text.use {{ fill: var(--accent) }} rect.bar {{ stroke: var(--bg); stroke-width: 1 }}
.marks {{ stroke: var(--bg); stroke-width: 1.2; fill: none }}
"""


def svg_of(verdict: Verdict) -> str:
    """The picture: the sentence, what matters, the settings and what they lose, what to do next."""
    parts: list[str] = []
    top = MARGIN

    def write(text: str, kind: str = "", letters: int = _LETTERS) -> None:
        nonlocal top
        for line in wrap(text, letters):
            top += LINE
            parts.append(_text(0, top, line, kind))

    lead, holds = glance.head(verdict)
    write(lead, f"lead {verdict.tone}", 78)
    write(holds, "quiet")
    factors, settings = factor_chart(verdict), setting_chart(verdict).first(MOST_SETTINGS)
    if factors.rows:
        top += 2 * LINE
        parts += [_text(0, top, "What matters (difference in score)", "title"), *_factors(factors, top)]
        top += LINE * (len(factors.rows) + 1)
        write(glance.interactions_of(verdict))
    top += 2 * LINE
    parts.append(_text(0, top, settings.title, "title"))
    legend = _legend(settings.parts, top)
    parts += [part for row in legend for part in row]
    top += LINE * len(legend)
    parts += _settings(settings, top)
    top += LINE * (len(settings.rows) + 1)
    parts.append(_text(0, top, settings.more, "quiet"))
    write(glance.largest(verdict))
    step = steps_of(verdict)[0]
    write(f"Next: {step.text} {step.copied}".strip())
    height, fillings = top + MARGIN, dict.fromkeys(kind for kind, _ in settings.parts.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {WIDTH + 2 * MARGIN} {height}" '
        f'width="{WIDTH + 2 * MARGIN}" role="img" aria-label="{escape(sentence(verdict), quote=True)}">'
        f"<style>{_style()}</style><defs>{''.join(_pattern(kind) for kind in fillings)}</defs>"
        f'<rect x="{-MARGIN}" width="{WIDTH + 2 * MARGIN}" height="{height}" style="fill: var(--bg)"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _style() -> str:
    """The style, in the colours of the page."""
    both = {name: colours()[name] for name in (*_USED, *(f"loss-{part}" for part in _PATTERNS))}
    light, dark = (" ".join(f"--{name}: {shades[at]};" for name, shades in both.items()) for at in (0, 1))
    return _STYLE.format(light=light, dark=dark)


def _pattern(kind: str) -> str:
    """The filling of a part: its colour, and marks that tell it apart in grey."""
    return (
        f'<pattern id="lost-{kind}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" style="fill: var(--loss-{kind})"/>'
        f'<path class="marks" d="{_PATTERNS[kind]}"/></pattern>'
    )


def _legend(lost: Mapping[str, tuple[str, str]], top: float) -> list[list[str]]:
    """The rows of the legend: a swatch with each filling, and what it stands for."""
    rows: list[list[str]] = []
    x = float(WIDTH)
    for fill, label in [
        (_LEFT, "reached"),
        *((f"url(#lost-{kind})", label) for kind, label in reversed([*lost.values()])),
    ]:
        needed = 36 + 7 * width(label)
        if x + needed > WIDTH:
            rows.append([])
            x = 0.0
        y = top + LINE * len(rows)
        rows[-1] += [_box(x, y, 13, label, fill), _text(x + 18, y, label, "quiet")]
        x += needed
    return rows if lost else []


def _factors(chart: FactorChart, top: float) -> Iterable[str]:
    axis = chart.axis
    zero = _across(axis.place(0.0))
    yield _line(zero, top + LINE / 4, zero, top + LINE * (len(chart.rows) + 0.4), "line")
    yield _text(zero, top, "no difference", "quiet middle")
    yield from _scale(axis, top + LINE * (len(chart.rows) + 1), "+")
    names = shortened([row.name for row in chart.rows], _NAME_LETTERS)
    for place, (row, name) in enumerate(zip(chart.rows, names, strict=True), start=1):
        y = top + LINE * place
        yield _text(0, y, name)
        yield _text(_VALUE, y, row.shown, "end")
        yield from (_shape(shape, y, _CHART, _CHART_END) for shape in dots_of(row, axis))
        yield _text(_WORDS, y, row.words, "" if row.group == "use" else "quiet")


def _settings(chart: SettingChart, top: float) -> Iterable[str]:
    axis = chart.axis
    yield from _scale(axis, top + LINE * (len(chart.rows) + 1))
    whole = [f"{row.name} ({row.words})" if row.words else row.name for row in chart.rows]
    names = shortened(whole, _NAME_LETTERS)
    for place, (row, name) in enumerate(zip(chart.rows, names, strict=True), start=1):
        y = top + LINE * place
        kind = {"use": "use", "out": "quiet"}.get(row.group, "")
        yield _text(0, y, name, kind)
        yield _text(_VALUE, y, row.shown, "end")
        yield from (_shape(shape, y, _CHART, _CHART_END) for shape in dots_of(row, axis))
        yield from (_shape(shape, y, _WORDS, _BAR_END) for shape in row.bar)


def _shape(shape: DrawnShape, y: float, begin: float, end: float) -> str:
    """A shape on the strip from ``begin`` to ``end``, beside the text at ``y``."""
    x, last = (begin + place * (end - begin) for place in (shape.begin, shape.end))
    middle = y - 4
    if shape.shape == "bar":
        return _box(x, y, last - x, shape.label, _LEFT if shape.kind == LEFT else f"url(#lost-{shape.kind})")
    if shape.shape == "line":
        return _line(x, middle, last, middle, f"interval {shape.kind}")
    if shape.shape == "cross":
        return f'<path class="cross" d="M{x - 4:.1f},{middle - 4:g}l8,8m-8,0l8,-8"/>'
    return f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="5" class="{shape.kind}"/>'


def _box(x: float, y: float, wide: float, title: str, fill: str) -> str:
    return (
        f'<rect class="bar" x="{x:.1f}" y="{y - 11:.1f}" width="{max(0.0, wide):.1f}" height="13" '
        f'style="fill: {fill}"><title>{escape(title)}</title></rect>'
    )


def _scale(axis: Axis, y: float, sign: str = "") -> Iterable[str]:
    """The ticks of an axis."""
    for tick in axis.ticks:
        text = f"{tick:{sign}.{axis.digits}f}" if tick else "0"
        yield _text(_across(axis.place(tick)), y, text, "quiet middle")


def _across(place: float) -> float:
    """Where on the picture a place on an axis is."""
    return round(_CHART + place * (_CHART_END - _CHART), 1)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>' if text else ""
