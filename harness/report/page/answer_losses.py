"""Where answers are lost, for the page: the waterfall that goes on past the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.columns import spec_of
from harness.report.page.numbers import in_millionths
from harness.report.page.tables import Tables
from harness.report.rows import AnswerLossRow
from harness.report.rows.answers import ANSWER_PARTS

_TABLE = spec_of(AnswerLossRow).name


def answer_losses(
    tables: Tables, settings: Mapping[str, int], queries: Mapping[str, int]
) -> dict[str, Any] | None:
    """The losses of every setting and question in millionths; None where nothing was taken apart.

    ``ways`` has for each setting one column a question: its losses by the places of their names in
    ``parts``, what is left, and ``blame``, the place of the part that cost most (None where nothing is lost).
    """
    rows = [spec_of(AnswerLossRow).parsed(row) for row in tables[_TABLE]]
    by_answer: dict[tuple[str, str], list[AnswerLossRow]] = {}
    for row in rows:
        if row.setting in settings and row.query_id in queries:
            by_answer.setdefault((row.setting, row.query_id), []).append(row)
    if not by_answer:
        return None
    # results of older versions have fewer parts
    parts = [part for part in ANSWER_PARTS if any(row.part == part for row in rows)]
    ways: dict[str, dict[str, Any]] = {}
    for (setting, query), own in by_answer.items():
        way = ways.setdefault(
            setting,
            {"setting": settings[setting], "route": "", "query": [], "blame": [], "left": []}
            | {"losses": [[] for _ in parts]},
        )
        lost = {row.part: row.loss for row in own}
        way["query"].append(queries[query])
        way["blame"].append(_blame([lost.get(part, 0.0) for part in parts]))
        way["left"].append(in_millionths(own[-1].left))
        for k, part in enumerate(parts):
            way["losses"][k].append(in_millionths(lost.get(part, 0.0)))
    return {
        "measure": rows[0].measure,
        "parts": [{"name": part, "about": ANSWER_PARTS[part]} for part in parts],
        "ways": list(ways.values()),
    }


def _blame(losses: Sequence[float]) -> int | None:
    worst = max(range(len(losses)), key=lambda k: losses[k])
    return worst if losses[worst] > 0 else None
