"""Whether measures of rankings predict answers."""

from __future__ import annotations

from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import COLOURS, GREY, MARKERS, axes, grid, name_rows, short
from harness.values import HarnessError

_OVER = ("within queries", "settings", "queries")


def prediction(shown: FigureData) -> Any:
    """A row per ranking measure, with a dot and an interval for every measure of answers, best row first.

    Of the correlations within queries where there are any, else over settings, else over queries. Raises
    HarnessError where the results hold none.
    """
    rows = (shown.payload.get("answers") or {"prediction": []})["prediction"]
    for over in _OVER:
        known = [row for row in rows if row[2] == over and row[3] == "kendall" and row[4] is not None]
        if known:
            break
    else:
        raise HarnessError(
            "These results have no answer_prediction.csv: predicting answers from rankings takes settings "
            "with an `answer` section, answer_measures and ten questions."
        )
    # more have no colour of their own; the table has them all
    answers = list(dict.fromkeys(row[0] for row in known))[: len(COLOURS)]
    values = {(row[0], row[1]): row[4:7] for row in known if row[0] in answers}
    rankings = sorted(
        dict.fromkeys(name for _, name in values),
        key=lambda name: -max(values[one, name][0] for one in answers if (one, name) in values),
    )
    figure, plot = axes(1.5 + (0.16 + 0.12 * len(answers)) * len(rankings))
    plot.axvline(0, color=GREY, linewidth=0.8)
    for place, answer in enumerate(answers):
        shift = (place - (len(answers) - 1) / 2) * 0.7 / max(1, len(answers))
        colour, own = COLOURS[place], [(y, values.get((answer, name))) for y, name in enumerate(rankings)]
        there = [(y + shift, found) for y, found in own if found is not None]
        for y, (_, low, high) in there:
            if low is not None and high is not None:
                plot.plot([low, high], [y, y], color=colour, linewidth=1.4)
        plot.plot(
            [found[0] for _, found in there],
            [y for y, _ in there],
            color=colour,
            marker=MARKERS[place],
            markersize=4.5,
            linestyle="none",
            label=short(answer),
        )
    name_rows(plot, rankings)
    plot.set_xlim(-1, 1)
    grid(plot, "x")
    where = over if over == "within queries" else f"over {over}"
    plot.set_xlabel(f"Kendall's tau-b {where}, {shown.level} intervals")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
