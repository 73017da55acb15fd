"""From a folder of results to report.html: the verdict by every measure, then the page."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from harness import comparison, data, measures, report, store
from harness.values import CorpusError, HarnessError, Reporter, Silent, file_sha256

WIDTH, HEIGHT = 760, 1100
Span = tuple[str, int, int]


def write_page(
    folder: Path,
    output: Path | None = None,
    reporter: Reporter | None = None,
    name: str = "",
    picture_bytes: int = 0,
    results: report.Results | None = None,
) -> tuple[Path, report.Page]:
    """Build the page of a folder of results and write it, by default into that folder.

    With ``picture_bytes`` it shows PDF pages with their evidence marked, up to that many bytes of them.
    Returns where it is and the page, which is called ``name`` (default: that of the folder). Raises
    HarnessError where the folder holds no results. ``results`` is what it was written from, if at hand.
    """
    tables, reporter = report.read_tables(folder, name, results), reporter or Silent()
    pictures = page_pictures(tables, headline(tables), picture_bytes, reporter) if picture_bytes else []
    found, verdicts = statistics(tables, reporter)
    kept = Path(tables.record.get("config", {}).get("results", "results")) / tables.name
    leading = _leading(folder, kept, results)
    page = report.build_page(
        tables,
        found,
        headline=headline(tables),
        pictures=pictures,
        answer_lines=comparison.answer_lines(folder, kept),
        answer_glance=None if leading is None else comparison.glance_json(leading),
        rankings_line="" if leading is None else comparison.rankings_line(folder),
        routes=comparison.routes_in_words(tables.record.get("config", {}).get("settings", [])),
        columns=columns(tables),
    )
    path = output or folder / report.REPORT
    store.write_text(path, page.html)
    if output is None and (verdict := leading or verdicts.get(headline(tables))):
        store.write_text(folder / report.PICTURE, comparison.svg_of(verdict))
    return path, page


def _leading(folder: Path, kept: Path, results: report.Results | None) -> comparison.Verdict | None:
    """The verdict on answers where it leads; None where that on rankings does.

    Its commands name the folder in which results are ``kept``.
    """
    if results is not None:
        verdict: comparison.Verdict | None = results.concluded
        return verdict if verdict is not None and verdict.measure not in results.compared.matrices else None
    return comparison.verdict_on_answers(replace(comparison.read_answers_of(folder), folder=kept))


def statistics(
    tables: report.Tables, reporter: Reporter
) -> tuple[dict[str, dict[str, Any]], dict[str, comparison.Verdict]]:
    """The statistics of every measure at the last stage of each setting, as plain values; and the verdicts.

    Settings are named by their place in the order of the tables. Where a statistic is not available, ``why``
    gives the reason.
    """
    places = {name: i for i, name in enumerate(report.Axes.of(tables).settings)}
    stored = _stored(tables)
    run = tables.results
    concluded = None if run is None else run.concluded
    scores = comparison.scores_of({"": stored}) if run is None else run.compared
    folder = f"{tables.record.get('config', {}).get('results', 'results')}/{tables.name}"
    # commands name the folder where the results will be
    scores = replace(scores, folders=dict.fromkeys(scores.folders, folder))
    out: dict[str, dict[str, Any]] = {}
    verdicts: dict[str, comparison.Verdict] = {}
    with reporter.task("report", len(scores.matrices)) as task:
        for measure in scores.matrices:
            family = measures.family_of(measure)
            out[measure] = {"about": family.about if family else ""}
            try:
                comparison.refuse_no_quality(measure)
                of = concluded if concluded is not None and concluded.measure == measure else None
                verdict = of or comparison.verdict_of(scores, measure)
                out[measure] |= {
                    "n": verdict.population.queries,
                    "verdict": _verdict(verdict, places),
                    "pairs": {"rows": [_pair(one, places, scores.options) for one in verdict.comparisons]},
                    "glance": comparison.glance_json(verdict),
                    "reranked": _reranked(stored.scores[measure], measure, scores, places),
                }
                verdicts[measure] = verdict
            except HarnessError as error:
                out[measure]["why"] = str(error)
            task.advance()
    return out, verdicts


def columns(tables: report.Tables) -> dict[str, Any]:
    """How the settings differ, in the order of the tables, as `report.build_page` takes it."""
    by_name = {one.get("name"): one for one in tables.record.get("config", {}).get("settings", [])}
    # the median tokens of every setting's chunks, where they are known
    lengths = {row["setting"]: int(row["tokens_p50"]) for row in tables["chunks"] if row.get("tokens_p50")}
    settings = report.Axes.of(tables).settings
    return comparison.board_columns(
        [by_name.get(name, {}) for name in settings], [lengths.get(name) for name in settings]
    )


def headline(tables: report.Tables) -> str:
    """The measure that the page opens with."""
    scored = list(dict.fromkeys(row.measure for row in tables.scored))
    return comparison.headline_of(tables.record, scored) if scored else ""


def _stored(tables: report.Tables) -> comparison.Stored:
    """The tables as a result to compare; for a single result it does not matter what was judged."""
    texts = {row["document"]: "" for row in tables["documents"] if row["status"] == "read"}
    result = report.StoredResult(tables.name, tables.scored, dict(tables.record), texts, judged="")
    return comparison.Stored.of(tables.folder, result, partial(report.read_any, tables.folder))


def _reranked(
    rows: Sequence[report.ScoreRow], measure: str, scores: comparison.Scores, places: Mapping[str, int]
) -> list[list[Any]]:
    """Every reranked setting against its own retrieval, in the form of `_pair`, and the two means."""
    return [
        [
            *_pair(pair, places, scores.options),
            report.figure(pair.mean_against),
            report.figure(pair.mean),
            pair.n,
        ]
        for pair in comparison.reranked(rows, measure, scores.options)
    ]


def _verdict(verdict: comparison.Verdict, places: Mapping[str, int]) -> dict[str, Any]:
    """The verdict in words, and the group of every setting, by its key and in words."""
    standing = {standing.setting: [standing.group, standing.standing] for standing in verdict.standings}
    as_json = comparison.verdict_json(verdict)
    return {
        **{name: as_json[name] for name in ("lines", "decision", "labels", "judged")},
        "comparable": verdict.across,
        "leader": None if verdict.leader is None else places[verdict.leader],
        "standing": [standing.get(name) for name in places],
    }


def _pair(pair: comparison.Comparison, places: Mapping[str, int], options: comparison.Options) -> list[Any]:
    """A comparison for the page: settings, difference, bounds, p, finding in words, wins, ties, losses."""
    numbers = map(report.figure, (pair.difference, pair.low, pair.high, pair.p))
    settings = (places[pair.setting], places[pair.against])
    words = comparison.finding_words(pair, options.tolerance)
    return [*settings, *numbers, words, pair.wins, pair.ties, pair.losses]


def page_pictures(
    tables: report.Tables, measure: str, most_bytes: int, reporter: Reporter
) -> list[dict[str, Any]]:
    """Pages with relevant evidence, those of the hardest questions first, until ``most_bytes`` are used.

    Each has document, page, width, height, ``uri`` and ``marks``: the boxes of each judged span by its start
    and end. The lower the mean of ``measure`` over all settings, the harder the question. Raises HarnessError
    if Pillow is not installed, or if no PDF of the results is available unchanged.
    """
    if not data.can_draw():
        raise HarnessError("Pictures of pages need Pillow: pip install 'ndcg-harness[pdfium]'")
    spans = _evidence_by_page(tables["judgments"], _hardest_first(tables.scored, measure))
    files = _files({document for document, _ in spans}, tables.record.get("hashes", {}), reporter)
    pictures, used = [], 0
    with reporter.task("pages", len(spans)) as task:
        for (document, page), quotes in spans.items():
            task.advance()
            if document not in files or used >= most_bytes:
                continue
            drawn = _drawn(files[document], page, quotes, reporter)
            if drawn is None or used + len(drawn["uri"]) > most_bytes:
                continue
            used += len(drawn["uri"])
            pictures.append({"document": document, "page": page} | drawn)
    return pictures


def _drawn(path: Path, page: int, quotes: Mapping[Span, str], reporter: Reporter) -> dict[str, Any] | None:
    try:
        drawn = data.draw_page(
            path, page, width=WIDTH, height=HEIGHT, kind="WEBP", quotes=list(quotes.values())
        )
    except CorpusError as error:
        reporter.warn(str(error))
        return None
    marks = [[start, end, boxes] for (_, start, end), boxes in zip(quotes, drawn.boxes, strict=True)]
    uri = "data:image/webp;base64," + base64.b64encode(drawn.data).decode("ascii")
    return {"width": drawn.size[0], "height": drawn.size[1], "uri": uri, "marks": marks}


def _hardest_first(per_query: Iterable[report.ScoreRow], measure: str) -> Sequence[str]:
    values: dict[str, list[float]] = {}
    for row in per_query:
        of_query = values.setdefault(row.query_id, [])
        if row.measure == measure and row.value is not None:
            of_query.append(row.value)
    return sorted(values, key=lambda query: fmean(values[query]) if values[query] else 1.0)


def _evidence_by_page(
    judgments: Iterable[report.Row], queries: Sequence[str]
) -> dict[tuple[str, int], dict[Span, str]]:
    """The relevant spans of every page, in the order of the queries, and how each begins."""
    place = {query: at for at, query in enumerate(queries)}
    rows = [
        row
        for row in judgments
        if row["grade"] not in ("", "0") and row["page"] and row["scored_on"] == "yes"
    ]
    rows.sort(key=lambda row: (place.get(row["query_id"], len(place)), -int(row["grade"])))
    pages: dict[tuple[str, int], dict[Span, str]] = {}
    for row in rows:
        span = (row["document"], int(row["start"]), int(row["end"]))
        pages.setdefault((row["document"], int(row["page"])), {})[span] = row["snippet"].rstrip("…")
    return pages


def _files(documents: set[str], hashes: Mapping[str, str], reporter: Reporter) -> dict[str, Path]:
    """The PDF of each document, if it is where the run found it, with the same content."""
    files = {}
    for name in (name for name in hashes if name.lower().endswith(".pdf")):
        path = Path(name)
        for document in _ids(path) & documents:
            if not path.is_file():
                reporter.warn(comparison.sentence_of("pages.missing", file=path))
            elif file_sha256(path) != hashes[name]:
                reporter.warn(comparison.sentence_of("pages.changed", file=path))
            else:
                files[document] = path
    if not files:
        raise HarnessError("No PDF with relevant evidence is available, so there are no pages to show.")
    return files


def _ids(path: Path) -> set[str]:
    """The ids that a file may have: its stem, preceded by as many folders as needed to make it unique."""
    parts = [*map(data.document_id, path.parent.parts), data.document_id(path.stem)]
    return {"/".join(parts[at:]) for at in range(len(parts))}
