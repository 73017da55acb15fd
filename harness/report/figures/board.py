"""The leader board: means with their intervals, best first."""

from __future__ import annotations

from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import BLUE, GREY, axes, grid, name_rows
from harness.values import counted


def board(shown: FigureData) -> Any:
    """A dot and an interval a setting; hollow where another setting is really better."""
    rows = shown.ranked()
    standing = (shown.statistics.get("verdict") or {}).get("standing") or [""] * len(rows)
    figure, plot = axes(0.9 + 0.28 * len(rows))
    for y, (setting, mean) in enumerate(rows):
        out = standing[setting] == "ruled out"
        colour = GREY if out else BLUE
        if mean.low is not None:
            plot.plot([mean.low, mean.high], [y, y], color=colour, linewidth=2.2, alpha=0.55)
        plot.plot(mean.mean, y, "o", color=colour, markerfacecolor="white" if out else colour, markersize=5.5)
    name_rows(plot, (shown.name(setting) for setting, _ in rows))
    grid(plot, "x")
    counts = sorted({mean.n for _, mean in rows})
    n = f"{counts[0]:,} to {counts[-1]:,} queries"
    if len(counts) == 1:
        n = counted(counts[0], "query", "queries")
    hollow = "\nhollow: another setting is really better" if "ruled out" in standing else ""
    plot.set_xlabel(f"{shown.measure}, mean and {shown.level} interval over {n}{hollow}")
    return figure
