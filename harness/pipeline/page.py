"""From a folder of results to report.html: the statistics of every measure, then the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.compare import (
    Comparison,
    Options,
    ScoreMatrix,
    advise,
    best_set,
    compare_all,
    from_scores,
    select,
)
from harness.errors import HarnessError
from harness.progress import Reporter, Silent
from harness.report.page import Axes, Page, Tables, build_page, figure, read_tables
from harness.store import write_text
from harness.types import QueryScore

REPORT = "report.html"


def write_page(
    folder: Path,
    output: Path | None = None,
    reporter: Reporter | None = None,
    name: str = "",
) -> tuple[Path, Page]:
    """Build the page of a folder of results and write it, by default into that folder.

    Returns where it is and the page, which is called ``name`` (default: that of the folder). Raises
    HarnessError where the folder holds no results.
    """
    tables = read_tables(folder, name)
    page = build_page(tables, statistics(tables, reporter or Silent()))
    path = output or folder / REPORT
    write_text(path, page.html)
    return path, page


def statistics(tables: Tables, reporter: Reporter) -> dict[str, dict[str, Any]]:
    """What is known of every measure at the last stage of each setting, as plain values.

    Settings are named by their place in the order of the tables. Where a statistic cannot be had, ``why``
    says so in its stead.
    """
    by_measure: dict[str, list[QueryScore]] = {}
    splits = {}
    places = {name: i for i, name in enumerate(Axes.of(tables).settings)}
    for row in tables["per_query"]:
        value = float(row["value"]) if row["value"] else None
        score = QueryScore(row["setting"], row["stage"], row["query_id"], row["measure"], value)
        by_measure.setdefault(row["measure"], []).append(score)
        splits[row["query_id"]] = row["split"]
    bootstrap = tables.record.get("config", {}).get("bootstrap", {})
    options = Options(level=float(bootstrap.get("level", 0.95)), seed=int(bootstrap.get("seed", 7)))
    out = {}
    with reporter.task("report", len(by_measure)) as task:
        for measure, scores in by_measure.items():
            out[measure] = _of_measure(scores, measure, splits, tables, options, places)
            task.advance()
    return out


def _of_measure(
    scores: list[QueryScore],
    measure: str,
    splits: Mapping[str, str],
    tables: Tables,
    options: Options,
    places: Mapping[str, int],
) -> dict[str, Any]:
    try:
        matrix = from_scores(scores, measure, splits).defined()
    except HarnessError as error:
        return {"why": str(error)}
    if not matrix.query_ids:
        return {"why": f"No query has a value of {measure}."}
    found = _Statistics(matrix, options, _tokens(tables, matrix.settings), places)
    return {
        "n": len(matrix.query_ids),
        **{name: _or_why(part) for name, part in found.parts().items()},
    }


@dataclass(frozen=True, slots=True)
class _Statistics:
    matrix: ScoreMatrix
    options: Options
    cost: Mapping[str, float] | None
    places: Mapping[str, int]

    def parts(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"pairs": self._pairs, "advice": self._advice, "selection": self._selection}

    def _pairs(self) -> dict[str, Any]:
        return {"rows": [_pair(one, self._place) for one in compare_all(self.matrix, self.options)]}

    def _advice(self) -> dict[str, Any]:
        if len(self.matrix.settings) < 2:
            raise HarnessError("There is one setting: nothing to compare it with.")
        advice = advise(self.matrix, self.cost, self.options)
        best = best_set(self.matrix, self.options)
        return {
            "leader": self._place(advice.leader),
            "named": None if advice.named is None else self._place(advice.named),
            "cheapest": None if advice.cheapest is None else self._place(advice.cheapest),
            "tokens": None if advice.cheapest is None or self.cost is None else self.cost[advice.cheapest],
            "contenders": [self._place(name) for name in best.contenders],
            "best_share": [round(advice.best_share.get(name, 0.0), 4) for name in self.places],
            "more_queries": advice.more_queries,
        }

    def _selection(self) -> dict[str, Any]:
        if len(self.matrix.settings) < 2:
            raise HarnessError("There is one setting: nothing to choose from.")
        chosen = select(self.matrix, self.options)
        return {
            "sentences": chosen.sentences(),
            "chosen": self._place(chosen.chosen),
            "best": self._place(chosen.best_on_validation),
            "contenders": [self._place(name) for name in chosen.best.contenders],
        }

    def _place(self, name: str) -> int:
        return self.places[name]


def _or_why(part: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return part()
    except HarnessError as error:
        return {"why": str(error)}


def _pair(one: Comparison, place: Callable[[str], int]) -> list[Any]:
    """As the page reads it: settings, difference and bounds, p-values, wins, ties, losses, queries needed."""
    numbers = (one.difference, one.low, one.high, one.p, one.p_max)
    return [
        place(one.setting),
        place(one.against),
        *map(figure, numbers),
        one.wins,
        one.ties,
        one.losses,
        one.queries_needed,
    ]


def _tokens(tables: Tables, settings: tuple[str, ...]) -> dict[str, float] | None:
    """The tokens that a reader of each setting's last stage must read; None where they are not all known."""
    # the stages of a setting stand in their order
    cost = {row["setting"]: float(row["tokens_at_k"] or "nan") for row in tables["prices"]}
    known = all(math.isfinite(cost.get(name, math.nan)) for name in settings)
    return cost if known else None
