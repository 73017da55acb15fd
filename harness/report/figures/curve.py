"""The measure over the size of chunks."""

from __future__ import annotations

from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import COLOURS, MARKERS, axes, grid
from harness.values import HarnessError, printable


def curve(shown: FigureData) -> Any:
    """One line for settings that differ in chunk size alone. Raises HarnessError if none do."""
    lines = shown.payload["curves"]
    if not lines:
        raise HarnessError(
            "No two settings of these results differ in chunk size alone, so there is no curve to draw."
        )
    units = sorted({one["unit"] for one in lines})
    if len(units) > 1:
        raise HarnessError(
            f"Chunk sizes are given in {' and in '.join(units)}, which cannot share an axis. Run the "
            "benchmark again: it measures the lengths of chunks in tokens."
        )
    figure, plot = axes(3.4)
    ticks = set()
    for number, line in enumerate(lines):
        points = [(size, shown.mean(setting)) for size, setting in line["points"]]
        known = [(size, mean) for size, mean in points if mean is not None]
        # intervals of one size are next to each other
        apart = 1 + 0.012 * (number - (len(lines) - 1) / 2)
        x = [size * apart for size, _ in known]
        ticks |= {size for size, _ in known}
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[number % len(MARKERS)]
        y = [mean.mean for _, mean in known]
        plot.plot(x, y, color=colour, marker=marker, markersize=5, label=printable(line["label"]))
        bounded = [(at, mean) for at, (_, mean) in zip(x, known, strict=True) if mean.low is not None]
        plot.vlines(
            [at for at, _ in bounded],
            [mean.low for _, mean in bounded],
            [mean.high for _, mean in bounded],
            color=colour,
            alpha=0.45,
        )
    plot.set_xscale("log")
    plot.set_xticks(sorted(ticks), [f"{size:,}" for size in sorted(ticks)])
    plot.minorticks_off()
    grid(plot, "y")
    plot.set_xlabel(f"chunk size, {units[0]}")
    plot.set_ylabel(f"{shown.measure}, {shown.level} intervals")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
