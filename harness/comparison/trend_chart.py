"""A trend as a table for the terminal, and as a picture: SVG, alone or in a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from harness.comparison.trend import Look, Trend
from harness.report import Table, colours
from harness.values import interval, number

_CELLS = 20
_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP, _BOTTOM = 860, 240, 48, 12, 44, 44
_USED = ("bg", "ink", "ink-2", "line-2", "missed", "accent")
_STYLE = """
svg {{ max-width: 100%; height: auto }}
svg {{ {light} color: var(--ink); font: 13px system-ui, sans-serif }}
@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}
text {{ fill: var(--ink) }} .quiet {{ fill: var(--ink-2) }} .title {{ font-weight: 600 }}
.end {{ text-anchor: end }} .middle {{ text-anchor: middle }}
.grid {{ stroke: var(--line-2) }} .interval {{ stroke: var(--ink-2); stroke-width: 2 }}
.mean {{ fill: none; stroke: var(--ink-2) }} circle {{ fill: var(--ink) }}
.fall {{ stroke: var(--missed); fill: var(--missed) }} .rise {{ stroke: var(--accent); fill: var(--accent) }}
.began {{ stroke-dasharray: 4 3 }} text.fall, text.rise {{ stroke: none }}
"""


def trend_table(trend: Trend) -> Table:
    """A row for each look: mean, interval, queries, a small chart, and where changes began and were shown."""
    low, high = _range(trend.looks)
    some_missing = any(look.missing for look in trend.looks)
    rows = []
    for place, look in enumerate(trend.looks):
        mean = look.mean
        missing = (str(look.missing),) if some_missing else ()
        bounds = interval(mean.low, mean.high, mean.n)
        rows.append(
            (
                look.name,
                number(mean.value),
                bounds,
                str(mean.n),
                *missing,
                _bar(look, low, high),
                _changes_at(trend, place),
            )
        )
    chart = f"{low:g} to {high:g}"
    columns = ("look", "mean", "95% interval", "n", *(["no value"] * some_missing), chart, "change")
    left = frozenset({0, len(columns) - 2, len(columns) - 1})
    return Table(trend.measure, columns, tuple(rows), left=left, notes=trend.notes)


def _changes_at(trend: Trend, place: int) -> str:
    """The changes that began with a look, and those that it showed."""
    begun = {change for change in trend.changes if change.began == place}
    shown = {change for change in trend.changes if change.shown == place}
    words = [f"{change.direction}, shown" for change in begun & shown]
    words += [f"{change.direction} begins" for change in begun - shown]
    words += [f"{change.direction} shown" for change in shown - begun]
    return "; ".join(words)


def _range(looks: Sequence[Look]) -> tuple[float, float]:
    """The bounds of a chart: 0 to 1 where all values are in between, else those of the values."""
    values = [value for look in looks for value in look.values.tolist()]
    return min([0.0, *values]), max([1.0, *values])


def _bar(look: Look, low: float, high: float) -> str:
    """The mean and its interval as characters."""

    def cell(value: float) -> int:
        return min(_CELLS - 1, max(0, int((value - low) / (high - low) * _CELLS)))

    mean, cells = look.mean, [" "] * _CELLS
    if not mean.n:
        return ""
    if mean.low is not None and mean.high is not None:
        for place in range(cell(mean.low), cell(mean.high) + 1):
            cells[place] = "─"
    cells[cell(mean.value)] = "●"
    return "".join(cells).rstrip()


def trend_svg(trends: Sequence[Trend]) -> str:
    """All trends below each other: means, 95 % intervals, and where changes began and were shown."""
    colour = {name: colours()[name] for name in _USED}
    light, dark = (" ".join(f"--{name}: {pair[at]};" for name, pair in colour.items()) for at in (0, 1))
    height = _PANEL * len(trends)
    panels = (_panel(trend, _PANEL * place) for place, trend in enumerate(trends))
    about = escape(" ".join(line for trend in trends for line in trend.sentences), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 0 {_WIDTH + 24} {height}" '
        f'width="{_WIDTH + 24}" role="img" aria-label="{about}">'
        f"<style>{_STYLE.format(light=light, dark=dark)}</style>"
        f'<rect x="-12" width="{_WIDTH + 24}" height="{height}" style="fill: var(--bg)"/>'
        f"{''.join(panels)}</svg>\n"
    )


def trend_page(trends: Sequence[Trend]) -> str:
    """The picture in a page, with the sentences above it."""
    lines = "".join(f"<p>{escape(line)}</p>" for trend in trends for line in trend.sentences)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Trend</title>'
        "<style>body { color-scheme: light dark; font: 15px system-ui, sans-serif; margin: 2em auto; "
        f"max-width: {_WIDTH + 24}px }}</style><body>{lines}{trend_svg(trends)}</body></html>\n"
    )


def _panel(trend: Trend, top: int) -> str:
    low, high = _range(trend.looks)
    inner, bottom = _PANEL - _TOP - _BOTTOM, top + _PANEL - _BOTTOM

    def across(place: float) -> float:
        return round(_LEFT + (place + 0.5) * (_WIDTH - _LEFT - _RIGHT) / len(trend.looks), 1)

    def down(value: float) -> float:
        return round(bottom - (value - low) / (high - low) * inner, 1)

    parts = [f'<text x="0" y="{top + 20}" class="title">{escape(trend.measure)}</text>']
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{down(value)}" y2="{down(value)}"/>')
        parts.append(f'<text class="quiet end" x="{_LEFT - 6}" y="{down(value) + 4}">{value:.2f}</text>')
    points = []
    for place, look in enumerate(trend.looks):
        mean, x = look.mean, across(place)
        if not mean.n:
            continue
        if mean.low is not None and mean.high is not None:
            ends = f'y1="{down(mean.low)}" y2="{down(mean.high)}"'
            parts.append(f'<line class="interval" x1="{x}" x2="{x}" {ends}/>')
        points.append(f"{x},{down(mean.value)}")
        parts.append(
            f'<circle cx="{x}" cy="{down(mean.value)}" r="3">'
            f"<title>{escape(look.name)}: {escape(str(mean))}, {mean.n} queries</title></circle>"
        )
    parts.append(f'<polyline class="mean" points="{" ".join(points)}"/>')
    for change in trend.changes:
        for at, kind in ((change.began - 0.5, "began"), (change.shown, "shown")):
            line = f'x1="{across(at)}" x2="{across(at)}" y1="{top + _TOP}" y2="{bottom}"'
            parts.append(f'<line class="{change.direction} {kind}" {line}/>')
        above = f'x="{across(change.shown)}" y="{top + _TOP - 6}"'
        parts.append(f'<text class="{change.direction} end" {above}>{change.direction} shown here</text>')
    names = [trend.looks[0].name] + ([trend.looks[-1].name] if len(trend.looks) > 1 else [])
    for name, x, kind in zip(names, (_LEFT, _WIDTH), ("", " end"), strict=False):
        parts.append(f'<text class="quiet{kind}" x="{x}" y="{bottom + 20}">{escape(name)}</text>')
    return "".join(parts)
