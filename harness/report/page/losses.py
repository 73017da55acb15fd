"""Where quality and answers are lost, for the page: setting by setting, in millionths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.report.columns import spec_of
from harness.report.losses import QueryLosses, gap_note, losses_by_query, name_of, names_in_order
from harness.report.page.numbers import in_millionths
from harness.report.page.tables import Axes, Tables
from harness.report.rows.answers import ANSWER_PARTS, AnswerLossRow
from harness.report.rows.steps import CHANGE, PARTS, LossRow


def losses(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The losses on the way to the ranking; None where the file is missing. ``ways`` are those of `_ways`."""
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
        "parts": [{"name": name, "part": part[name], "about": about[name]} for name in names],
        "ways": _ways(found, names, axes),
    }


def answer_losses(tables: Tables, axes: Axes) -> dict[str, Any] | None:
    """The losses that go on past the ranking to the answers; None if no answer was taken apart."""
    rows = [spec_of(AnswerLossRow).parsed(row) for row in tables["answer_losses"] if axes.know(row)]
    if not rows:
        return None
    # results of older versions have fewer parts
    names = [part for part in ANSWER_PARTS if any(row.part == part for row in rows)]
    by_answer: dict[tuple[str, str], list[AnswerLossRow]] = {}
    for row in rows:
        by_answer.setdefault((row.setting, row.query_id), []).append(row)
    found = [
        QueryLosses(
            setting,
            query,
            own[0].split,
            own[0].measure,
            route="",
            losses=dict.fromkeys(names, 0.0) | {row.part: row.loss for row in own},
            final=own[-1].left,
        )
        for (setting, query), own in by_answer.items()
    ]
    return {
        "measure": rows[0].measure,
        "parts": [{"name": name, "about": ANSWER_PARTS[name]} for name in names],
        "ways": _ways(found, names, axes),
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
