"""Quality over what it costs a reader."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import BLUE, GREY, axes, grid, short
from harness.values import HarnessError

Point = tuple[float, float, int]


def cost(shown: FigureData) -> Any:
    """The measure over the tokens that it reads; a line joins the settings that nothing beats.

    There is no line where the settings cut documents differently and the measure cannot compare such.
    Raises HarnessError if the results have no prices.
    """
    prices = shown.payload["prices"] or []
    at = shown.payload["measures"].index(shown.measure)
    read = {
        row["setting"]: row["read"][at]
        for row in prices
        if row["stage"] == shown.last_stage(row["setting"]) and row["read"][at]
    }
    points = [(float(read[i]["tokens"]), mean.mean, i) for i, mean in shown.ranked() if i in read]
    if not points:
        raise HarnessError(
            f"These results have no prices of {shown.measure} (tokens_read of prices.csv), so there is no "
            "cost to draw. Run the benchmark again: newer versions write them."
        )
    comparable = shown.statistics.get("verdict", {}).get("comparable", True)
    best = front(points) if comparable else []
    figure, plot = axes(3.6)
    if len(best) > 1:
        plot.step([x for x, _, _ in best], [y for _, y, _ in best], where="post", color=BLUE, linewidth=1.6)
    for x, y, setting in sorted(points, key=lambda one: one in best):
        inside = (x, y, setting) in best
        plot.plot(
            x,
            y,
            "o",
            color=BLUE if inside else GREY,
            markerfacecolor=BLUE if inside else "white",
            markersize=6,
        )
    plot.margins(y=0.18)
    # from nothing, so that prices that hardly differ are seen to
    plot.set_xlim(0, 1.15 * max(x for x, _, _ in points) or 1)
    grid(plot, "y")
    plot.set_xlabel(f"tokens read for {shown.measure} ({read[points[0][2]]['depth']})")
    plot.set_ylabel(shown.measure)
    if not comparable:
        plot.set_title("No front: the measure compares only settings over the same chunks.", fontsize=8)
    named = [(x, y, short(shown.name(setting), 36)) for x, y, setting in best or points]
    _name(figure, plot, named, best, points)
    return figure


# Offsets in points from a dot to the near end of its name, and which end that is.
_PLACES = (
    *((8, 0, "left"), (-8, 0, "right"), (0, 11, "center"), (0, -11, "center")),
    *((6, 11, "left"), (6, -11, "left"), (-6, 11, "right"), (-6, -11, "right"), (0, 22, "center")),
)


def _name(
    figure: Any, plot: Any, named: list[tuple[float, float, str]], line: list[Point], points: list[Point]
) -> None:
    """Put names next to dots where they cover no dot, line or other name; those without room are left out."""
    figure.draw_without_rendering()
    per_point = figure.dpi / 72
    frame = plot.get_window_extent()
    taken = []
    for x, y, _ in points:
        at = plot.transData.transform((x, y))
        taken.append(
            (at[0] - 5 * per_point, at[1] - 5 * per_point, at[0] + 5 * per_point, at[1] + 5 * per_point)
        )
    for (x, y, _), (right, up, _) in pairwise(line):
        low, turn, high = (plot.transData.transform(at) for at in ((x, y), (right, y), (right, up)))
        taken += [(*low, *turn), (*turn, *high)]
    for x, y, text in named:
        at = plot.transData.transform((x, y))
        wide, high = 5.0 * len(text) * per_point, 9 * per_point
        for right, up, end in _PLACES:
            left = at[0] + right * per_point - {"left": 0.0, "center": wide / 2, "right": wide}[end]
            low = at[1] + up * per_point - high / 2
            box = (left, low, left + wide, low + high)
            free = all(box[2] < a or box[0] > c or box[3] < b or box[1] > d for a, b, c, d in taken)
            if free and left > frame.x0 and box[2] < frame.x1:
                taken.append(box)
                plot.annotate(
                    text, (x, y), (right, up), textcoords="offset points", ha=end, va="center", fontsize=8
                )
                break


def front(points: list[Point]) -> list[Point]:
    """The points that no other beats: none costs as little, is as good, and better in one of the two."""

    def beaten(one: Point) -> bool:
        return any(x <= one[0] and y >= one[1] and (x < one[0] or y > one[1]) for x, y, _ in points)

    return sorted(one for one in points if not beaten(one))
