"""From a folder of results to report.html: the verdict by every measure, then the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.bench.pictures import page_pictures
from harness.comparison import Comparison, ScoreMatrix, Verdict, from_scores, select, verdict_json
from harness.errors import HarnessError
from harness.evaluate.verdict import matrices_of
from harness.measures import about
from harness.progress import Reporter, Silent
from harness.report import FilterRow, LabelSensitivityRow, read_any, read_by_labels
from harness.report.page import Axes, Page, Tables, build_page, figure, read_tables
from harness.report.read import documents_and_texts
from harness.store import write_text
from harness.types import QueryScore
from harness.verdict import (
    Scores,
    chunkings_of,
    costs_of,
    filter_notes,
    headline_of,
    options_of,
    refuse_no_quality,
    reranked,
    same_ranking_notes,
    sensitivity_of,
    turning_of,
    verdict_of,
)

REPORT = "report.html"


def write_page(
    folder: Path,
    output: Path | None = None,
    reporter: Reporter | None = None,
    name: str = "",
    picture_bytes: int = 0,
) -> tuple[Path, Page]:
    """Build the page of a folder of results and write it, by default into that folder.

    With ``picture_bytes`` it shows PDF pages with their evidence marked, up to so many bytes of them.
    Returns where it is and the page, which is called ``name`` (default: that of the folder). Raises
    HarnessError where the folder holds no results.
    """
    tables, reporter = read_tables(folder, name), reporter or Silent()
    pictures = page_pictures(tables, headline(tables), picture_bytes, reporter) if picture_bytes else []
    page = build_page(tables, statistics(tables, reporter), headline=headline(tables), pictures=pictures)
    path = output or folder / REPORT
    write_text(path, page.html)
    return path, page


def statistics(
    tables: Tables, reporter: Reporter, measures: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """What is known of every measure at the last stage of each setting, as plain values.

    Of all ``measures`` by default. Settings are named by their place in the order of the tables. Where a
    statistic cannot be had, ``why`` says so.
    """
    places = {name: i for i, name in enumerate(Axes.of(tables).settings)}
    by_stage = _by_stage(tables)
    scores = _scores(tables, by_stage)
    out: dict[str, dict[str, Any]] = {}
    wanted = [one for one in scores.matrices if measures is None or one in measures]
    with reporter.task("report", len(wanted)) as task:
        for measure in wanted:
            found = _or_why(lambda measure=measure: _of_measure(scores, measure, places))  # type: ignore[misc]
            if "why" not in found:
                found["reranked"] = _reranked(by_stage, measure, scores, places)
            out[measure] = {"about": about(measure), **found}
            task.advance()
    return out


def headline(tables: Tables) -> str:
    """The measure that the page opens with."""
    measures = list(dict.fromkeys(row["measure"] for row in tables["per_query"]))
    return headline_of(tables.record, measures) if measures else ""


@dataclass(frozen=True)
class _Scored:
    """The scores of a result by measure, and what is known of its queries."""

    by_measure: Mapping[str, Sequence[QueryScore]]
    splits: Mapping[str, str]
    clusters: Mapping[str, str]

    def at(self, stage: str, measure: str) -> ScoreMatrix | None:
        """The scores at one stage; None where no setting has it."""
        rows = [row for row in self.by_measure[measure] if row.stage == stage]
        return from_scores(rows, measure, self.splits, clusters=self.clusters) if rows else None


def _by_stage(tables: Tables) -> _Scored:
    by_measure: dict[str, list[QueryScore]] = {}
    splits: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for row in tables["per_query"]:
        value = float(row["value"]) if row["value"] else None
        score = QueryScore(row["setting"], row["stage"], row["query_id"], row["measure"], value)
        by_measure.setdefault(row["measure"], []).append(score)
        splits[row["query_id"]] = row["split"]
        clusters[row["query_id"]] = row.get("cluster", "")
    return _Scored(by_measure, splits, clusters)


def _reranked(scored: _Scored, measure: str, scores: Scores, places: Mapping[str, int]) -> list[list[Any]]:
    """Every reranked setting against its own retrieval, as `_pair` has it, and the two means."""
    before, after = (scored.at(stage, measure) for stage in ("retrieve", "rerank"))
    if before is None or after is None:
        return []
    return [
        [*_pair(one, places), figure(one.mean_against), figure(one.mean), one.n]
        for one in reranked(before, after, scores.options)
    ]


def _scores(tables: Tables, scored: _Scored) -> Scores:
    matrices = matrices_of(scored.by_measure, scored.splits, scored.clusters)
    settings = next(iter(matrices.values())).settings if matrices else ()
    names = {("", name): name for name in settings}
    configured = tables.record.get("config", {}).get("settings", [])
    found = read_by_labels(tables.folder)
    return Scores(
        matrices,
        chunkings_of(configured),
        documents_and_texts(row["document"] for row in tables["documents"] if row.get("status") == "read"),
        costs_of({"": tables["prices"]}, names),
        sensitivity_of({"": read_any(tables.folder, LabelSensitivityRow)}, names),
        options_of(tables.record),
        filter_notes({"": read_any(tables.folder, FilterRow)}, names)
        + same_ranking_notes({one["name"]: one for one in configured if one.get("name") in settings}),
        by_labels=() if found is None else found.sentences,
        corrected="" if found is None else found.headline,
    )


def _of_measure(scores: Scores, measure: str, places: Mapping[str, int]) -> dict[str, Any]:
    refuse_no_quality(measure)
    verdict = verdict_of(scores, measure)
    matrix = scores.matrices[measure].defined()
    return {
        "n": verdict.population.queries,
        "verdict": _verdict(verdict, places),
        "pairs": {"rows": [_pair(one, places) for one in verdict.comparisons]},
        "selection": _or_why(lambda: _selection(matrix, scores, places)),
    }


def _verdict(verdict: Verdict, places: Mapping[str, int]) -> dict[str, Any]:
    """The words, and where every setting stands, by its place."""
    standing = {one.setting: one.place for one in verdict.standings}
    return {
        "lines": verdict_json(verdict)["lines"],
        "decision": verdict.decision,
        "leader": places[verdict.leader],
        "standing": [standing.get(name, "") for name in places],
    }


def _selection(matrix: ScoreMatrix, scores: Scores, places: Mapping[str, int]) -> dict[str, Any]:
    if len(matrix.settings) < 2:
        raise HarnessError("There is one setting: nothing to choose from.")
    chosen = select(matrix, scores.options, turning_of(scores).get(matrix.measure))
    return {
        "sentences": chosen.sentences(),
        "chosen": places[chosen.chosen],
        "best": places[chosen.best_on_validation],
    }


def _or_why(part: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return part()
    except HarnessError as error:
        return {"why": str(error)}


def _pair(one: Comparison, places: Mapping[str, int]) -> list[Any]:
    """As the page reads it: settings, difference and bounds, p, finding, wins, ties, losses."""
    numbers = (one.difference, one.low, one.high, one.p)
    return [
        places[one.setting],
        places[one.against],
        *map(figure, numbers),
        one.finding,
        one.wins,
        one.ties,
        one.losses,
    ]
