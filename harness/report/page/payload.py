"""The data of the page, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from harness.report.page.detail import Detail, answers_payload, losses, passages_detail, replies_detail
from harness.report.page.page_tables import Axes, Tables, cut, figure, plain, scaled
from harness.report.rows.score_rows import WHY, left_out_words
from harness.report.rows.step_rows import FilterRow, count_filters
from harness.report.stored_tables import Row
from harness.report.table_spec import TABLES, spec_of
from harness.values import BY

_RECORD = ("config", "hashes", "versions", "models", "seeds", "timings", "judge", "cost", "git")
# Longer tables of the run record would bury the page; anchoring.csv has them all.
_MOST_LABELS = 200
# A text is cut no shorter, however small the page has to be: a query is seldom longer.
_SHORTEST = 250
# The columns of prices.csv that are about one measure.
_OF_MEASURE = ("measure", "mean", "depth", "tokens_read", "tokens_per_point")
# A column with more values than this has too many groups for a screen.
MOST_GROUPS = 16
# The splits have a section of their own, and what has no answer has no score.
_NEVER = frozenset({"query_id", "text", "answer", "split", "answerable"})


def base_payload(
    tables: Tables,
    statistics: Mapping[str, Any],
    headline: str = "",
    routes: Mapping[str, str] = MappingProxyType({}),
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The page without rankings and texts, which ``passages_detail`` adds; ``routes`` as in `losses`.

    Settings, stages, measures and queries are named once and referred to by their place. ``columns`` are
    those of the leader board, as of `build_page`.
    """
    record = tables.record
    axes = Axes.of(tables)
    counts = record.get("counts", {})
    return {
        "name": record.get("config", {}).get("name") or tables.name,
        "level": record.get("config", {}).get("bootstrap", {}).get("level", 0.95),
        "files": {name: tables.file(name) for name in TABLES},
        "settings": axes.settings,
        "stages": axes.stages,
        "measures": axes.measures,
        "headline": headline if headline in axes.measures else "",
        "queries": _queries(tables, axes),
        "summary": _summary(tables["summary"], axes),
        "scores": _scores(tables["per_query"], axes),
        "statistics": statistics,
        "curves": columns.get("curves", []),
        "factors": columns.get("factors", []),
        "retrievals": columns.get("retrievals", list(range(len(axes.settings)))),
        "left_out": left_out_words(counts.get("left_out", dict.fromkeys(WHY, 0))),
        "losses": losses(tables, axes, routes),
        "answers": answers_payload(tables, axes),
        "filters": _filters(tables, axes),
        "chunks": _table(tables, "chunks", axes),
        # settings that are in no other table, by their names
        "dropped": _plain(tables, "tuned"),
        "prices": _prices(tables, axes, counts.get("settings", {})),
        "answerability": _table(tables, "answerability", axes),
        "documents": _plain(tables, "documents"),
        "labels": _labels(tables["anchoring"]),
        "counts": {key: value for key, value in counts.items() if key not in ("conventions", "settings")},
        "by_setting": counts.get("settings", {}),
        "conventions": counts.get("conventions", []),
        "warnings": [warning["text"] for warning in record.get("warnings", [])],
        "doubts": [
            warning["text"] for warning in record.get("warnings", []) if warning.get("kind") == "judge"
        ],
        "record": {key: record[key] for key in _RECORD if key in record},
    }


def with_detail(base: Mapping[str, Any], tables: Tables, detail: Detail) -> dict[str, Any]:
    """The whole payload, its rankings and texts cut down to ``detail``."""
    axes = Axes(base["settings"], base["stages"], base["measures"], base["queries"]["id"])
    shown = passages_detail(tables, axes, detail)
    shown |= _parsers(tables, axes, shown["documents"])
    shown["asked"] = _sent_texts(tables["asked"], axes, detail.characters)
    if "replies" in tables:
        shown["replies"] = replies_detail(tables, axes, detail.characters)
    missing = [name for name in ("queries", "rankings", "passages", "judgments") if name not in tables]
    notes = list(filter(None, (tables.note, detail.note)))
    return {**base, "detail": shown, "missing": missing, "notes": notes}


def _queries(tables: Tables, axes: Axes) -> dict[str, list[Any]]:
    """The queries, one value of each column a query; ``groups`` are the columns that group them."""
    listed = {row["query_id"]: row for row in tables["queries"]}
    split = {row["query_id"]: row["split"] for row in tables["per_query"]}

    def column(name: str, default: str) -> list[str]:
        return [listed.get(query, {}).get(name, default) for query in axes.queries]

    return {
        "id": axes.queries,
        "text": column("text", ""),
        "type": column("type", ""),
        "split": [split.get(q, listed.get(q, {}).get("split", "")) for q in axes.queries],
        "answerable": [cell != "no" for cell in column("answerable", "yes")],
        "groups": groups(axes.queries, listed),
    }


def _summary(rows: Sequence[Row], axes: Axes) -> dict[str, list[list[list[Any] | None]]]:
    """``summary[split][measure][stage][setting]`` is mean, low, high, queries, unanswerable, failed."""
    out: dict[str, list[Any]] = {}
    for row in rows:
        of_split = out.setdefault(
            row["split"],
            [[[None] * len(axes.settings) for _ in axes.stages] for _ in axes.measures],
        )
        numbers = [figure(row[name]) for name in ("mean", "ci_low", "ci_high")]
        counts = [int(row[name] or 0) for name in ("n_queries", "n_unanswerable", "n_failed")]
        cell = of_split[axes.measure[row["measure"]]][axes.stage[row["stage"]]]
        cell[axes.setting[row["setting"]]] = numbers + counts
    return out


def _scores(rows: Sequence[Row], axes: Axes) -> list[list[list[list[int | None] | None]]]:
    """``scores[measure][stage][setting]`` has one value per query, in millionths, or is None."""
    out: list[list[list[list[int | None] | None]]] = [
        [[None] * len(axes.settings) for _ in axes.stages] for _ in axes.measures
    ]
    for row in rows:
        of_stage = out[axes.measure[row["measure"]]][axes.stage[row["stage"]]]
        setting = axes.setting[row["setting"]]
        values = of_stage[setting]
        if values is None:
            values = of_stage[setting] = [None] * len(axes.queries)
        values[axes.query[row["query_id"]]] = scaled(row["value"])
    return out


def _filters(tables: Tables, axes: Axes) -> list[dict[str, Any]]:
    """The result of each filter, by the index of its setting."""
    rows = [spec_of(FilterRow).parsed(row) for row in tables["filters"]]
    return [
        {"setting": axes.setting[setting], "step": step, **asdict(counts)}
        for (setting, step), counts in count_filters(rows).items()
        if setting in axes.setting
    ]


def _table(tables: Tables, name: str, axes: Axes) -> list[dict[str, Any]] | None:
    """A small table as it is, its settings by their place; None where the file is missing."""
    if name not in tables:
        return None
    return [
        {**row, "setting": axes.setting[row["setting"]]}
        for row in _plain(tables, name)
        if row["setting"] in axes.setting
    ]


def _plain(tables: Tables, name: str) -> list[dict[str, Any]]:
    """The rows of a table, their text as it is, their numbers in short form."""
    words = {column.name for column in TABLES[name].columns if column.kind is str}
    return [
        {key: (cell or None) if key in words else plain(cell) for key, cell in row.items()}
        for row in tables[name]
    ]


def _prices(tables: Tables, axes: Axes, noted: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The prices of every setting and stage, with what a query takes, and the seconds of the run.

    ``read`` has for each measure the tokens that it reads, and how deep; None where that is not known.
    """
    if "prices" not in tables:
        return None
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for row in _table(tables, "prices", axes) or []:
        of_measure = {key: row.pop(key, None) for key in _OF_MEASURE}
        unread: list[Any] = [None] * len(axes.measures)
        kept = rows.setdefault((row["setting"], row["stage"]), {**row, "read": unread})
        if of_measure["measure"] in axes.measure and of_measure["tokens_read"] is not None:
            reading = {"tokens": of_measure["tokens_read"], "depth": of_measure["depth"]}
            kept["read"][axes.measure[of_measure["measure"]]] = reading
    latency = {(row["setting"], row["stage"]): row for row in _table(tables, "latency", axes) or []}
    for row in rows.values():
        times = latency.get((row["setting"], row["stage"]), {})
        row |= {f"latency_{q}": times.get(f"total_{q}") for q in ("p50", "p95", "p99", "in_batch")}
        notes = noted.get(axes.settings[row["setting"]], {})
        row["seconds"] = notes.get("seconds", {}).get(row["stage"])
        row["seconds_computed_share"] = notes.get("computed_share", {}).get(row["stage"])
    return list(rows.values())


def _labels(anchoring: Sequence[Row]) -> list[dict[str, Any]]:
    """The labels that were not found in the text, or whose figures differ from it."""
    odd = [row for row in anchoring if row.get("accepted") == "no" or row.get("figures_differ") == "yes"]
    keys = ("query_id", "doc_id", "page", "score", "quote", "found", "accepted")
    return [{key: row.get(key, "") for key in keys} for row in odd[:_MOST_LABELS]]


def _parsers(tables: Tables, axes: Axes, documents: Sequence[str]) -> dict[str, Any]:
    """The parser of every setting and of every document of the page; nothing if there is one parser."""
    configured = [setting.get("parse") for setting in tables.record.get("config", {}).get("settings", [])]
    if all(parser == configured[0] for parser in configured):
        return {}
    parser_of = {row["setting"]: row["document"].rpartition(BY)[2] for row in tables["rankings"]}
    return {
        "parsers": {
            "settings": [parser_of.get(name, "") for name in axes.settings],
            "documents": [name.rpartition(BY)[2] for name in documents],
        }
    }


def _sent_texts(rows: Sequence[Row], axes: Axes, characters: int | None) -> dict[str, Any]:
    """``texts``, and ``steps``: setting, name of the step, and for every query the places of its texts.

    Texts are cut to ``characters`` and no shorter than a query is long; None: whole.
    """
    places: dict[str, int] = {}
    steps: dict[tuple[str, str], list[list[int]]] = {}
    for row in rows:
        if not axes.know(row):
            continue
        text = cut(row["text"], characters, _SHORTEST)
        by_query = steps.setdefault((row["setting"], row["step"]), [[] for _ in axes.queries])
        by_query[axes.query[row["query_id"]]].append(places.setdefault(text, len(places)))
    return {
        "texts": list(places),
        "steps": [
            {"setting": axes.setting[setting], "step": step, "by": by_query}
            for (setting, step), by_query in steps.items()
        ],
    }


def groups(queries: Sequence[str], listed: Mapping[str, Row]) -> list[dict[str, Any]]:
    """The columns that part the queries into a few groups: ``name``, ``names`` and ``of`` each query.

    ``of`` has the place of each query's value in ``names``, or None if the column is empty. A column
    that is empty for most queries, or that has hardly fewer values than queries, tells nothing about a
    kind of query and is left out.
    """
    columns = dict.fromkeys(key for row in listed.values() for key in row if key not in _NEVER)
    out: list[dict[str, Any]] = []
    for column in sorted(columns, key=lambda name: name != "type"):
        values = [listed.get(query, {}).get(column, "") for query in queries]
        names = sorted(set(filter(None, values)))
        few = sum(map(bool, values)) * 2 < len(queries)
        if few or not 2 <= len(names) <= MOST_GROUPS or len(names) * 2 > len(queries):
            continue
        place = {name: i for i, name in enumerate(names)}
        out.append({"name": column, "names": names, "of": [place.get(value) for value in values]})
    return out
