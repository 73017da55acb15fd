"""Where quality is lost on the way from the documents to the ranking."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from harness.report.figures.shown import FigureData
from harness.report.figures.style import axes, name_rows
from harness.report.page.numbers import SCALE
from harness.values import HarnessError, counted

_LEFT, _GAIN = "#17608f", "#5b9ec4"
_PARTS = ("#6b6f76", "#cc79a7", "#d95f02", "#e6ab02", "#a6761d", "#7a5aa6", "#3f7f5f")


def losses(shown: FigureData) -> Any:
    """A bar per setting from 0 to 1: the score left, and the loss at every part; regained parts are hatched.

    Raises HarnessError if the results have no losses.
    """
    found = shown.payload["losses"]
    ways = [one for one in (found or {"ways": []})["ways"] if not one["route"] and one["left"]]
    if not ways:
        raise HarnessError(
            "These results have no losses (waterfall.csv). Run the benchmark again: newer versions write "
            "them."
        )
    ways.sort(key=lambda way: -fmean(way["left"]))
    figure, plot = axes(1.3 + 0.28 * len(ways))
    named: set[str] = set()

    def bar(y: int, left: float, width: float, name: str, colour: str, **more: Any) -> None:
        # the legend names each part once; it passes over names that begin with a line
        label = "_" if name in named else name
        plot.barh(y, width, left=left, height=0.66, color=colour, label=label, **more)
        named.add(name)

    for y, way in enumerate(ways):
        means = [fmean(values) / SCALE if values else 0.0 for values in way["losses"]]
        levels = [1.0]
        for mean in means:
            levels.append(levels[-1] - mean)
        bar(y, 0, min(levels), "what is left", _LEFT)
        # in the order of the steps: regained parts are drawn over earlier losses
        for number, (mean, level) in enumerate(zip(means, levels, strict=False)):
            if mean > 0:
                name = found["parts"][number]["name"]
                bar(y, level - mean, mean, name, _PARTS[number % len(_PARTS)])
            elif mean < 0:
                bar(y, level, -mean, "won back", _GAIN, hatch="///", edgecolor="white", linewidth=0)
    name_rows(plot, (shown.name(way["setting"]) for way in ways))
    plot.set_xlim(0, 1)
    queries = counted(len(ways[0]["query"]), "query", "queries")
    plot.set_xlabel(f"{found['measure']}, mean over {queries}")
    handles, words = plot.get_legend_handles_labels()
    # in the order of the bar, from the left
    order = sorted(range(len(words)), key=lambda i: (_rank(words[i], found["parts"]), words[i]))
    figure.legend([handles[i] for i in order], [words[i] for i in order], loc="outside lower center", ncols=5)
    return figure


def _rank(word: str, parts: list[dict[str, Any]]) -> int:
    names = [part["name"] for part in parts]
    return -names.index(word) if word in names else (1 if word == "won back" else -len(names) - 1)
