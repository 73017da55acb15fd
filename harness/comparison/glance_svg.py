"""A verdict at a glance as an SVG picture for Markdown reports and notebooks: light and dark, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from textwrap import wrap

from harness.comparison import glance
from harness.comparison.next_steps import steps_of
from harness.comparison.sentences import sentence
from harness.comparison.verdict import Bounds, Effect, Standing, Verdict
from harness.report import colours
from harness.values import width

WIDTH, LINE, MARGIN = 860, 24, 16
# where the columns begin: values, charts, words or bars
_VALUE, _CHART, _CHART_END, _WORDS, _BAR_END = 424, 440, 600, 616, 860
_LETTERS = 96
_NAME_LETTERS = 54

_LEFT = "var(--left)"
# less than this is 0.00 in a bar
_LEAST_LOSS = 0.005
# the parts of a bar with a colour of their own on the page; steps that change the order share the others
_PARTS = ("parser", "chunking", "candidates", "order")
_OTHERS = ("change", "change-1", "change-2", "else")
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
    if factors := verdict.effects.main:
        top += 2 * LINE
        parts += [
            _text(0, top, "What matters (difference in score)", "title"),
            *_factors(factors, top),
        ]
        top += LINE * (len(factors) + 1)
        write(glance.interactions_of(verdict))
    settings, step = glance.shown_standings(verdict), steps_of(verdict)[0]
    (shown, more), lost = glance.folded(settings, glance.MOST_SETTINGS), _lost(settings)
    top += 2 * LINE
    parts.append(_text(0, top, glance.about_settings(verdict), "title"))
    legend = _legend(lost, top)
    parts += [part for row in legend for part in row]
    top += LINE * len(legend)
    parts += _settings(shown, top, lost)
    top += LINE * (len(shown) + 1)
    parts.append(_text(0, top, more, "quiet"))
    write(glance.largest(verdict))
    write(f"Next: {step.text} {step.copied}".strip())
    height, fillings = top + MARGIN, dict.fromkeys(kind for kind, _ in lost.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {WIDTH + 2 * MARGIN} {height}" '
        f'width="{WIDTH + 2 * MARGIN}" role="img" aria-label="{escape(sentence(verdict), quote=True)}">'
        f"<style>{_style()}</style><defs>{''.join(_pattern(kind) for kind in fillings)}</defs>"
        f'<rect x="{-MARGIN}" width="{WIDTH + 2 * MARGIN}" height="{height}" style="fill: var(--bg)"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _style() -> str:
    """The style, in the colours of the page."""
    both = {name: colours()[name] for name in (*_USED, *(f"loss-{one}" for one in _PATTERNS))}
    light, dark = (" ".join(f"--{name}: {one[at]};" for name, one in both.items()) for at in (0, 1))
    return _STYLE.format(light=light, dark=dark)


def _pattern(kind: str) -> str:
    """The filling of a part: its colour, and marks that tell it apart in grey."""
    return (
        f'<pattern id="lost-{kind}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" style="fill: var(--loss-{kind})"/>'
        f'<path class="marks" d="{_PATTERNS[kind]}"/></pattern>'
    )


def _lost(settings: Sequence[Standing]) -> dict[str, tuple[str, str]]:
    """The parts that lost something under any setting: the kind of their filling, and their label."""
    others, found = list(_OTHERS), {}
    for loss in (loss for one in settings for loss in one.losses if loss.value >= _LEAST_LOSS):
        if loss.part not in found:
            kind = loss.part if loss.part in _PARTS else others.pop(0) if others else _OTHERS[-1]
            found[loss.part] = (kind, loss.label)
    return found


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


def _factors(factors: Sequence[Effect], top: float) -> Iterable[str]:
    ends = glance.ends_of(factors)
    zero = _at(0.0, ends)
    yield _line(zero, top + LINE / 4, zero, top + LINE * (len(factors) + 0.4), "line")
    yield _text(zero, top, "no difference", "quiet middle")
    yield from _scale(ends, top + LINE * (len(factors) + 1), "+")
    for place, one in enumerate(factors, start=1):
        y = top + LINE * place
        yield _text(0, y, glance.padded(glance.pair_of(one), _NAME_LETTERS).rstrip())
        yield _text(_VALUE, y, glance.shown_difference(one), "end")
        yield from _interval(one.bounds, ends, y, "use" if one.found.real else "may")
        yield _text(_WORDS, y, one.words, "" if one.found.real else "quiet")


def _settings(shown: Sequence[Standing], top: float, lost: Mapping[str, tuple[str, str]]) -> Iterable[str]:
    ends = glance.ends_of(shown)
    yield from _scale(ends, top + LINE * (len(shown) + 1))
    for place, one in enumerate(shown, start=1):
        y = top + LINE * place
        kind = {"use": "use", "out": "quiet"}.get(one.group, "")
        name = f"{one.words} ({one.short})" if one.short else one.words
        yield _text(0, y, glance.padded(name, _NAME_LETTERS).rstrip(), kind)
        yield _text(_VALUE, y, f"{one.mean:.2f}", "end")
        yield from _interval(one.bounds, ends, y, one.group)
        yield from _bar(one, y, lost)


def _bar(one: Standing, y: float, lost: Mapping[str, tuple[str, str]]) -> Iterable[str]:
    """What is left of a perfect score, then what each part lost, each with its name on hover.

    Where a step won something back, the losses are shown in proportion.
    """
    shown = [loss for loss in one.losses if loss.value > 0 and loss.part in lost]
    if not (one.losses and lost):
        return
    # losses may be in units of another measure than the mean
    left, scale = 1 - sum(loss.value for loss in one.losses), _BAR_END - _WORDS
    at = _WORDS + left * scale
    yield _box(_WORDS, y, left * scale, f"left {left:.2f}", _LEFT)
    share = (1 - left) / (sum(loss.value for loss in shown) or 1)
    for loss in reversed(shown):
        wide = loss.value * share * scale
        yield _box(at, y, wide, f"{loss.label} {loss.value:.2f}", f"url(#lost-{lost[loss.part][0]})")
        at += wide


def _box(x: float, y: float, wide: float, title: str, fill: str) -> str:
    return (
        f'<rect class="bar" x="{x:.1f}" y="{y - 11:.1f}" width="{max(0.0, wide):.1f}" height="13" '
        f'style="fill: {fill}"><title>{escape(title)}</title></rect>'
    )


def _interval(bounds: Bounds, ends: Sequence[float], y: float, group: str) -> Iterable[str]:
    low, value, high = bounds
    x, middle = _at(value, ends), y - 4
    if low is not None and high is not None:
        yield _line(_at(low, ends), middle, _at(high, ends), middle, f"interval {group}")
    if group == "out":
        yield _line(x - 4, middle - 4, x + 4, middle + 4, "interval")
        yield _line(x - 4, middle + 4, x + 4, middle - 4, "interval")
    else:
        yield f'<circle cx="{x:.1f}" cy="{middle:.1f}" r="5" class="{group}"/>'


def _scale(ends: Sequence[float], y: float, sign: str = "") -> Iterable[str]:
    """Where an axis begins and ends."""
    yield _text(_CHART, y, f"{min(ends):{sign}.2f}", "quiet")
    yield _text(_CHART_END, y, f"{max(ends):{sign}.2f}", "quiet end")


def _at(value: float, ends: Sequence[float]) -> float:
    """The place of a value on an axis that spans all ``ends``."""
    return _CHART + glance.place_on(ends, value) * (_CHART_END - _CHART)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>' if text else ""
