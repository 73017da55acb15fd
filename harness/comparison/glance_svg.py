"""A verdict at a glance as an SVG picture for Markdown reports and notebooks: light and dark, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap

from harness.comparison.glance import GROUPS, FactorLine, Glance, SettingLine
from harness.comparison.glance_text import interactions_of, padded, pair_of, shown_difference

WIDTH, LINE, MARGIN = 860, 24, 16
# where the columns begin: values, charts, words or bars
_VALUE, _CHART, _CHART_END, _WORDS, _BAR_END = 424, 440, 600, 616, 860
_LETTERS = 96
_NAME_LETTERS = 54
# beyond these, and the one to use, settings are only counted
MOST_SETTINGS = 10

_STYLE = """
svg { max-width: 100%; height: auto }
svg { color: #1c1f24; --quiet: #5b6470; --line: #c9ced6; --use: #0b6e4f; --out: #9a3412; --page: #ffffff;
  --lost: #d7dce3; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { color: #e6e8eb; --quiet: #a0a8b3; --line: #4a525d; --use: #5dd3a8;
  --out: #f0a27a; --page: #15181c; --lost: #3a424d; } }
text { fill: currentColor } .quiet { fill: var(--quiet) } .lead { font-size: 17px; font-weight: 600 }
.title { font-weight: 600 } .end { text-anchor: end } .use { fill: var(--use); stroke: var(--use) }
.may { fill: var(--page); stroke: currentColor } .out { fill: none; stroke: var(--out) }
line.out { stroke: var(--out) } .line { stroke: var(--line); stroke-width: 1 }
.interval { stroke-width: 2 } line.interval:not(.out) { stroke: currentColor }
"""


def svg_of(glance: Glance) -> str:
    """The picture: the sentence, what matters, the settings and what they lose, what to do next."""
    parts: list[str] = []
    top = MARGIN
    for line in wrap(glance.sentence, 78):
        top += LINE
        parts.append(_text(0, top, line, "lead"))
    for line in wrap(glance.holds, _LETTERS):
        top += LINE
        parts.append(_text(0, top, line, "quiet"))
    if glance.factors:
        top += 2 * LINE
        parts += [_text(0, top, f"What matters ({glance.measure})", "title"), *_factors(glance.factors, top)]
        top += LINE * len(glance.factors)
        for line in wrap(interactions_of(glance), _LETTERS):
            top += LINE
            parts.append(_text(0, top, line))
    shown = _shown(glance.settings)
    top += 2 * LINE
    parts.append(_text(0, top, f"Settings ({glance.measure}, {glance.level:.0%} intervals)", "title"))
    parts.append(_text(_WORDS, top, _legend(shown[0]), "quiet"))
    parts += _settings(shown, top)
    top += LINE * len(shown)
    if more := len(glance.settings) - len(shown):
        top += LINE
        parts.append(_text(0, top, f"{more} more", "quiet"))
    top += LINE // 2
    for text in (glance.largest, f"Next: {glance.next.text} {glance.next.command}".strip()):
        for line in wrap(text, _LETTERS):
            top += LINE
            parts.append(_text(0, top, line))
    height = top + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {WIDTH + 2 * MARGIN} {height}" '
        f'width="{WIDTH + 2 * MARGIN}" role="img" aria-label="{escape(glance.sentence, quote=True)}">'
        f"<style>{_STYLE}</style>"
        f'<rect x="{-MARGIN}" width="{WIDTH + 2 * MARGIN}" height="{height}" style="fill: var(--page)"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _legend(first: SettingLine) -> str:
    """What the parts of a bar are, from its left."""
    parts = [one.label for one in first.losses if one.value > 0]
    return f"left; {', '.join(parts)}" if parts else ""


def _shown(settings: Sequence[SettingLine]) -> list[SettingLine]:
    """The first ten, and the one to use."""
    return [one for place, one in enumerate(settings) if place < MOST_SETTINGS or one.group == "use"]


def _factors(factors: Sequence[FactorLine], top: float) -> Iterable[str]:
    ends = [end for one in factors for end in (one.low, one.high, one.difference, 0.0) if end is not None]
    zero = _at(0.0, ends)
    yield _line(zero, top + LINE / 2, zero, top + LINE * (len(factors) + 0.4), "line")
    for place, one in enumerate(factors, start=1):
        y = top + LINE * place
        yield _text(0, y, _cut(pair_of(one)))
        yield _text(_VALUE, y, shown_difference(one), "end")
        yield from _interval((one.low, one.difference, one.high), ends, y, "use" if one.clear else "may")
        yield _text(_WORDS, y, one.words, "" if one.clear else "quiet")


def _settings(shown: Sequence[SettingLine], top: float) -> Iterable[str]:
    ends = [end for one in shown for end in (one.low, one.high, one.mean) if end is not None]
    for place, one in enumerate(shown, start=1):
        y = top + LINE * place
        why = one.why or ("" if one.group == "may" else GROUPS[one.group])
        yield _text(0, y, _cut(f"{one.words} ({why})" if why else one.words))
        yield _text(_VALUE, y, f"{one.mean:.2f}", "end")
        yield from _interval((one.low, one.mean, one.high), ends, y, one.group)
        yield from _bar(one, y)


def _bar(one: SettingLine, y: float) -> Iterable[str]:
    """What is left of a perfect score, then what each part lost, each with its name on hover."""
    if not one.losses:
        return
    scale, x = (_BAR_END - _WORDS) / (one.mean + sum(max(0.0, loss.value) for loss in one.losses)), _WORDS
    yield _box(x, y, one.mean * scale, f"left {one.mean:.2f}", "currentColor", 0.75)
    at = x + one.mean * scale
    for place, loss in enumerate(loss for loss in one.losses if loss.value > 0):
        label = f"{loss.label} {loss.value:.2f}"
        yield _box(at, y, loss.value * scale, label, "var(--lost)", 1.0 if place % 2 else 0.6)
        at += loss.value * scale


def _box(x: float, y: float, width: float, title: str, fill: str, opacity: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="{max(0.0, width - 1):.1f}" height="12" '
        f'style="fill: {fill}; opacity: {opacity}"><title>{escape(title)}</title></rect>'
    )


def _interval(
    bounds: tuple[float | None, float, float | None], ends: Sequence[float], y: float, group: str
) -> Iterable[str]:
    low, value, high = bounds
    x, middle = _at(value, ends), y - 4
    if low is not None and high is not None:
        yield _line(_at(low, ends), middle, _at(high, ends), middle, "interval")
    if group == "out":
        yield _line(x - 4, middle - 4, x + 4, middle + 4, "interval out")
        yield _line(x - 4, middle + 4, x + 4, middle - 4, "interval out")
    else:
        yield f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="5" stroke-width="2" class="{group}"/>'


def _at(value: float, ends: Sequence[float]) -> float:
    """The place of a value on an axis that spans all ``ends``."""
    least, most = min(ends), max(ends)
    share = (value - least) / (most - least) if most > least else 0.5
    return _CHART + share * (_CHART_END - _CHART)


def _cut(text: str) -> str:
    return padded(text, _NAME_LETTERS).rstrip()


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>' if text else ""
