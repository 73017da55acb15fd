"""Before and after the reranker."""

from __future__ import annotations

from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import BLUE, GREY, ORANGE, axes, grid, short
from harness.values import HarnessError, counted


def reranker(shown: FigureData) -> Any:
    """A slope per setting, in colour where the difference is real. Raises HarnessError without a reranker."""
    rows = shown.statistics.get("reranked") or []
    if not rows:
        raise HarnessError(
            "No setting of these results has a reranker, so there is no before and after to compare."
        )
    figure, plot = axes(3.4)
    ends = []
    for setting, _, difference, _, _, p, finding, *_, before, after, _ in rows:
        real = finding == "real"
        colour = (BLUE if difference > 0 else ORANGE) if real else GREY
        plot.plot(
            [0, 1], [before, after], color=colour, linestyle="-" if real else "--", marker="o", markersize=5
        )
        change = f"{difference:+.3f}".replace("-", "\N{MINUS SIGN}")
        chance = "" if p is None else ", p < 0.001" if p < 0.001 else f", p {p:.3f}"
        ends.append((after, f"{short(shown.name(setting), 40)}  {change}{chance}"))
    low, high = plot.get_ylim()
    # names keep a line's distance from each other
    least, reached = (high - low) * 0.055, float("-inf")
    for after, name in sorted(ends):
        reached = max(after, reached + least)
        place = (1.06, reached)
        plot.annotate(name, (1, after), xytext=place, va="center", fontsize=8, annotation_clip=False)
    plot.set_xlim(-0.15, 2.4)
    plot.set_xticks([0, 1], ["retrieved", "reranked"])
    grid(plot, "y")
    plot.set_ylabel(shown.measure)
    n = rows[0][-1]
    plot.set_xlabel(
        f"{counted(n, 'query', 'queries')}; in colour: real, by one test of all {len(rows)}", loc="left"
    )
    return figure
