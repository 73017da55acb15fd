"""The folder of a result: tables, TREC files and the run record, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.report.cells import to_csv, write_csv
from harness.report.offsets import write_chunk_offsets
from harness.report.rows import (
    AnswerabilityRow,
    CostRow,
    JudgmentRow,
    LabelSensitivityRow,
    PriceRow,
    RankedRow,
    Results,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
    WaterfallRow,
)
from harness.report.stored import RECORD
from harness.report.trec import trec_qrels, trec_run
from harness.text.characters import snippet
from harness.types import ChunkHealth

SUMMARY = "summary.csv"
WATERFALL = "waterfall.csv"
VERDICT = "verdict.json"
PRICES = "prices.csv"
_CHUNKS = ("setting", *ChunkHealth.__slots__)
_PER_QUERY = ("setting", "stage", "query_id", "split", "cluster", "measure", "value")
_RANKED = (
    "setting",
    "stage",
    "query_id",
    "rank",
    "chunk_id",
    "document",
    "page",
    "score",
    "grade",
    "earned",
    "snippet",
)
_PASSAGES = ("chunk_id", "document", "start", "end", "page", "text")
_QUERIES = ("query_id", "text", "split", "answerable", "cluster", "type")
_PASSAGE_RANKS = 10
_JUDGMENTS = (*(name for name in JudgmentRow.__slots__ if name != "text"), "snippet")


def write_results(folder: Path, results: Results, file_name: Callable[[str], str]) -> None:
    """Fill an empty ``folder``; ``file_name`` turns a setting's name into part of a file name."""
    split = {query.query_id: query.split for query in results.queries}
    tables = {
        SUMMARY: to_csv(tuple(SummaryRow.__slots__), map(asdict, results.summary)),
        "per_query.csv": to_csv(
            _PER_QUERY,
            (
                {
                    **asdict(row),
                    "split": split[row.query_id],
                    "cluster": results.clusters.get(row.query_id, ""),
                }
                for row in results.per_query
            ),
        ),
        "queries.csv": _query_table(results),
        "passages.csv": to_csv(_PASSAGES, _passages(results.ranked)),
        "documents.csv": _table(results.documents),
        "anchoring.csv": _table(results.anchorings),
    }
    if results.costs:
        tables["costs.csv"] = to_csv(tuple(CostRow.__slots__), map(asdict, results.costs))
    if results.answerability:
        tables["answerability.csv"] = to_csv(
            tuple(AnswerabilityRow.__slots__), map(asdict, results.answerability)
        )
        tables["thresholds.csv"] = to_csv(tuple(ThresholdRow.__slots__), map(asdict, results.thresholds))
    if results.seed_ratios:
        tables["seed_ratio.csv"] = to_csv(tuple(SeedRatioRow.__slots__), map(asdict, results.seed_ratios))
    if results.chunks:
        tables["chunks.csv"] = to_csv(
            _CHUNKS, ({"setting": row.setting, **asdict(row.health)} for row in results.chunks)
        )
    if results.prices:
        tables[PRICES] = to_csv(tuple(PriceRow.__slots__), map(asdict, results.prices))
    if results.label_sensitivity:
        tables["label_sensitivity.csv"] = to_csv(
            tuple(LabelSensitivityRow.__slots__), map(asdict, results.label_sensitivity)
        )
    if results.waterfall:
        tables[WATERFALL] = to_csv(tuple(WaterfallRow.__slots__), map(asdict, results.waterfall))
    for name, content in tables.items():
        _write(folder / name, content)
    if results.verdict:
        _write(folder / VERDICT, json.dumps(results.verdict, indent=2, ensure_ascii=False) + "\n")
    _write_long(folder / "rankings.csv", _RANKED, results.ranked)
    _write_long(folder / "judgments.csv", _JUDGMENTS, results.judgments)
    write_chunk_offsets(folder, results.cut)
    for (setting, stage), rankings in results.runs.items():
        _write(folder / "runs" / f"{file_name(setting)}.{stage}.trec", trec_run(rankings, stage))
    for setting, qrels in results.qrels.items():
        _write(folder / "qrels" / f"{file_name(setting)}.trec", trec_qrels(qrels.rows))
    _write(folder / "qrels" / "README.txt", _about_qrels(results, file_name))
    _write(folder / RECORD, json.dumps(asdict(results.record), indent=2, ensure_ascii=False) + "\n")


def _query_table(results: Results) -> str:
    """The questions with all that their file says of them, each own column under its name."""
    own = dict.fromkeys(name for more in results.extras.values() for name in more)
    columns = (*_QUERIES, *(name for name in own if name not in _QUERIES))
    return to_csv(
        columns,
        (
            {
                **dict.fromkeys(columns, ""),
                **results.extras.get(row.query_id, {}),
                **asdict(row),
                "cluster": results.clusters.get(row.query_id, row.cluster),
            }
            for row in results.queries
        ),
    )


def _passages(ranked: Iterable[RankedRow]) -> list[dict[str, Any]]:
    """Every chunk among the first ranks once, in the order of the documents.

    ``end - start`` is the length of the text, so a reader can tell whether a leading apostrophe belongs to
    it. A carriage return before a line feed becomes a space, which keeps that length.
    """
    rows: dict[str, dict[str, Any]] = {}
    for row in ranked:
        if row.rank > _PASSAGE_RANKS or row.chunk_id in rows:
            continue
        start, _, end = row.chunk_id.rpartition(":")[2].partition("-")
        rows[row.chunk_id] = {
            "chunk_id": row.chunk_id,
            "document": row.document,
            "start": int(start),
            "end": int(end),
            "page": row.page,
            "text": row.text.replace("\r\n", " \n"),
        }
    return sorted(rows.values(), key=lambda row: (row["document"], row["start"], row["end"]))


def _about_qrels(results: Results, file_name: Callable[[str], str]) -> str:
    """What other tools make of these files, and for how many queries it differs from our figures."""
    lines = [
        "Grades of chunks, projected from the graded spans of the documents.",
        "",
        "Chunks that overlap, or hold copies of one evidence, each stand here with their grade: TREC",
        "qrels cannot say that they are one fact. Other tools count each of them; our figures count the",
        "evidence once. For all other queries trec_eval computes NDCG, MRR and precision from these files",
        "and those in ../runs as per_query.csv has them. Our recall and map also count evidence that no",
        "chunk covers. Queries that nothing answers, and that no mean counts, have no grades here.",
        "",
    ]
    lines += [
        f"{file_name(setting)}.trec: evidence repeats in {qrels.repeating} of {qrels.queries} queries"
        for setting, qrels in results.qrels.items()
    ]
    return "\n".join(lines) + "\n"


def _table(rows: list[dict[str, Any]]) -> str:
    return to_csv(tuple(rows[0]), rows) if rows else ""


def _write_long(path: Path, columns: Sequence[str], rows: Iterable[RankedRow | JudgmentRow]) -> None:
    """A table with a snippet of text in each row, which is never held as a whole."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        write_csv(out, columns, ({**asdict(row), "snippet": snippet(row.text)} for row in rows))


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")
