"""Losses and answers for the page: where quality goes, what each setting answered and read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.report.columns import spec_of
from harness.report.losses import QueryLosses, gap_note, losses_by_query, name_of, names_in_order
from harness.report.page.tables import Axes, Tables, cut, figure, in_millionths
from harness.report.rows.answers import ANSWER_PARTS, AnswerLossRow
from harness.report.rows.steps import CHANGE, PARTS, LossRow, part_in_words
from harness.values import golden_answers


def losses(tables: Tables, axes: Axes, routes: Mapping[str, str]) -> dict[str, Any] | None:
    """The losses on the way to the ranking; None where the file is missing. ``ways`` are those of `_ways`.

    ``routes`` has what the routes of fusions are called.
    """
    if "waterfall" not in tables:
        return None
    rows = [spec_of(LossRow).parsed(row) for row in tables["waterfall"] if axes.know(row)]
    found = list(losses_by_query(rows))
    names = names_in_order(one.losses for one in found)
    part = {name_of(row.step, row.part): row.part for row in rows}
    about = {name: f"made worse by {name}" if part[name] == CHANGE else PARTS[part[name]] for name in names}
    return {
        "measure": found[0].measure if found else "",
        "gap": gap_note(rows),
        "parts": [{"name": part_in_words(name), "part": part[name], "about": about[name]} for name in names],
        "ways": [
            {**way, "route": routes.get(way["route"], way["route"])} for way in _ways(found, names, axes)
        ],
    }


def answer_losses(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The losses that go on past the ranking to the answers; None if no answer was taken apart."""
    rows = [spec_of(AnswerLossRow).parsed(row) for row in tables["answer_losses"] if axes.know(row)]
    if not rows:
        return None
    names = [part for part in ANSWER_PARTS if any(row.part == part for row in rows)]
    return {
        "measure": rows[0].measure,
        "parts": [{"name": name, "about": ANSWER_PARTS[name]} for name in names],
        "ways": _ways(losses_by_query(rows), names, axes),
    }


def _ways(found: Iterable[QueryLosses], names: Sequence[str], axes: Axes) -> list[dict[str, Any]]:
    """One column per query for every setting and route ('': none).

    These are its losses by the places of their ``names``, None for a part that it does not have, what is
    left, and ``blame``, the place of the part that cost most (None if nothing is lost).
    """
    place = {name: k for k, name in enumerate(names)}
    ways: dict[tuple[str, str], dict[str, Any]] = {}
    for one in found:
        way = ways.setdefault(
            (one.setting, one.route),
            {"setting": axes.setting[one.setting], "route": one.route, "query": [], "blame": [], "left": []}
            | {"losses": [[] if name in one.losses else None for name in names]},
        )
        way["query"].append(axes.query[one.query_id])
        way["blame"].append(place[one.blame] if one.blame else None)
        way["left"].append(in_millionths(one.final))
        for name, loss in one.losses.items():
            way["losses"][place[name]].append(in_millionths(loss))
    return list(ways.values())


# What is in an answer is seldom longer; a page that has to be small cuts it no shorter.
_SHORTEST = 400


def answers_payload(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The means of all measures of answers, and where answers are lost; None if nothing was answered.

    ``means[measure][setting]`` is mean, low, high, questions, not scored and why, over all questions;
    ``answered[setting]`` how many of how many.
    """
    if not tables["replies"]:
        return None
    asked = Counter(row["setting"] for row in tables["replies"])
    silent = Counter(row["setting"] for row in tables["replies"] if row["reason"])
    rows = [
        row for row in tables["answer_summary"] if row["split"] == "all" and row["setting"] in axes.setting
    ]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    means: list[list[Any]] = [[None] * len(axes.settings) for _ in measures]
    for row in rows:
        numbers = [figure(row[name]) for name in ("mean", "ci_low", "ci_high")]
        cell = [*numbers, int(row["n_queries"]), int(row["n_not_scored"]), row["reasons"]]
        means[measures.index(row["measure"])][axes.setting[row["setting"]]] = cell
    return {
        "measures": measures,
        "means": means,
        "answered": [[asked[s] - silent[s], asked[s]] if s in asked else None for s in axes.settings],
        "losses": answer_losses(tables, axes),
    }


def replies_detail(tables: Tables, axes: Axes, characters: int | None) -> dict[str, Any]:
    """The answers: ``by[setting][query]`` is None or the answer, the reason for none, the passages read.

    What was read are pairs of rank and whether it is cited, in the order of the prompt. ``scores`` are value
    and reason by measure, ``claims`` the statements of the answer with their verdicts, as the first measure
    that has any tells them.
    """
    by: list[list[Any]] = [[None] * len(axes.queries) for _ in axes.settings]
    golden: list[str] = [""] * len(axes.queries)
    measures = list(dict.fromkeys(row["measure"] for row in tables["answer_scores"]))
    for row in filter(axes.know, tables["replies"]):
        query = axes.query[row["query_id"]]
        golden[query] = _cut(" · or: ".join(golden_answers(row["golden"])), characters)
        by[axes.setting[row["setting"]]][query] = {
            "text": _cut(row["answer"], characters),
            "reason": row["reason"],
            "bad": int(row["bad_citations"]),
            "read": [],
            "scores": [None] * len(measures),
            "claims": [],
        }
    for row in filter(axes.know, tables["reply_passages"]):
        own = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        own["read"].append([int(row["rank"]), int(row["cited"] == "yes")])
    for row in filter(axes.know, tables["answer_scores"]):
        own = by[axes.setting[row["setting"]]][axes.query[row["query_id"]]]
        own["scores"][measures.index(row["measure"])] = [figure(row["value"]), row["reason"]]
        if not own["claims"]:
            own["claims"] = _claims(row["details"], characters)
    return {"measures": measures, "by": by, "golden": golden}


def _claims(details: str, characters: int | None) -> list[list[Any]]:
    """Statements with their verdicts, and 1 if one contradicts the golden answer.

    None if the details of a score have none of that form.
    """
    try:
        statements = json.loads(details or "{}").get("statements", [])
        return [
            [_cut(str(one["statement"]), characters), int(one["verdict"]), int(one.get("contradicts", 0))]
            for one in statements
        ]
    except (ValueError, AttributeError, TypeError, KeyError):
        return []


def _cut(text: str, characters: int | None) -> str:
    return cut(text, characters, _SHORTEST)
