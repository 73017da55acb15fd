"""The folder of a result: tables, TREC files and the run record, whole or not at all."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from harness.report.rendering import as_read, to_csv, write_csv
from harness.report.rows.answer_rows import AnswerScoreRow, ReplyPassageRow
from harness.report.rows.labels import JudgmentRow
from harness.report.rows.ranking_rows import (
    ChunkOffsetRow,
    PassageRow,
    RankedRow,
    before_cell,
    spans_of_chunk,
)
from harness.report.rows.score_rows import QueryRow, ScoreRow, SummaryRow
from harness.report.scoring_inputs import ChunkPlaces, offset_rows
from harness.report.stored_tables import PACKED, RECORD, VERDICT, Kept, Row
from harness.report.table_spec import TABLES, R, TableSpec, spec_of
from harness.values import NOT_SCORED, Query, Ranking, RunRecord, redacted_value

MOST_PLAIN = 50_000_000
"""Bytes of a table of plain text; a larger one is packed."""
PASSAGE_RANKS = 10
"""Ranks whose passages are written with their text."""


@dataclass(frozen=True, slots=True)
class ChunkQrels:
    """The grades of one chunking's chunks, as (query, chunk, grade) rows.

    Of ``queries`` with a relevant chunk, ``repeating`` have several that stand for one evidence. TREC qrels
    cannot express that: other tools count each of them, we count the evidence once.
    """

    rows: list[tuple[str, str, int]]
    queries: int
    repeating: int


@dataclass(frozen=True, slots=True)
class Results:
    """The content of ``results/<name>/``.

    ``runs`` maps (setting, stage) to its rankings, ``qrels`` a setting to its chunks' grades. ``rows`` are
    those of all other tables, each written to the file that its class declares. ``extras`` maps query ids to
    what the query file says besides, ``clusters`` to what a query is tested with. ``verdict`` is the verdict
    as plain values, with its ``sentences``, ``concluded`` the verdict itself, None if there is none, and
    ``compared`` the scores that it is of. ``cut`` maps a setting to a name of its chunking, which settings
    with the same chunks share, and to these.
    """

    name: str
    queries: tuple[Query, ...]
    summary: list[SummaryRow]
    per_query: list[ScoreRow]
    ranked: list[RankedRow]
    runs: dict[tuple[str, str], list[Ranking]]
    qrels: dict[str, ChunkQrels]
    record: RunRecord
    judgments: Sequence[JudgmentRow] = ()
    rows: Sequence[Any] = ()
    extras: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    concluded: Any = None
    compared: Any = None
    cut: Mapping[str, ChunkPlaces] = field(default_factory=dict)

    def of(self, row: type[R]) -> Sequence[R]:
        """The rows of the table that ``row`` declares; of queries none, of chunks' offsets as they come."""
        kept = {
            SummaryRow: self.summary,
            ScoreRow: self.per_query,
            RankedRow: self.ranked,
            JudgmentRow: self.judgments,
        }
        rows: Any = kept.get(row)
        if row is PassageRow:
            rows = _passages(self.ranked, {reply.chunk_id for reply in self.of(ReplyPassageRow)})
        elif row is ChunkOffsetRow:
            rows = offset_rows(self.cut)
        return rows or [entry for entry in self.rows if isinstance(entry, row)]


def write_results(folder: Path, results: Results, file_name: Callable[[str], str]) -> None:
    """Fill an empty ``folder``; ``file_name`` turns a setting's name into part of a file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for spec in TABLES.values():
        rows = results.of(spec.row)
        if spec.row is QueryRow:
            _write(folder / spec.file, _query_table(results))
        elif rows or not spec.when:
            write_table(folder, spec, rows)
    if results.verdict:
        _write_json(folder / VERDICT, redacted_value(results.verdict))
    for (setting, stage), rankings in results.runs.items():
        _write(folder / "runs" / f"{file_name(setting)}.{stage}.trec", trec_run(rankings, stage))
    for setting, qrels in results.qrels.items():
        _write(folder / "qrels" / f"{file_name(setting)}.trec", trec_qrels(qrels.rows))
    _write(folder / "qrels" / "README.txt", _about_qrels(results, file_name))
    _write_record(folder, results.record)


def write_scored_answers(folder: Path, scores: Sequence[AnswerScoreRow], record: RunRecord) -> None:
    """Fill an empty ``folder`` with the values of answers of another pipeline, which has no rankings here."""
    write_table(folder, TABLES["answer_scores"], scores)
    _write_record(folder, record)


def _write_record(folder: Path, record: RunRecord) -> None:
    """Write a record without secrets; names of files and ids of queries tell inputs apart, and stay."""
    shown = {**redacted_value(asdict(record)), "hashes": record.hashes}
    if "answered_at" in record.counts:
        shown["counts"]["answered_at"] = record.counts["answered_at"]
    _write_json(folder / RECORD, shown)


def _write_json(path: Path, value: Any) -> None:
    _write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def rows_as_read(results: Results, spec: TableSpec[Any], keep: Kept) -> list[Row] | None:
    """The rows of a table as `read_rows` gives them, without a look at its file; None if there is none."""
    rows: list[Any] = [*results.of(spec.row)]
    if spec.when and not rows:
        return None
    for name, cells in keep.items():
        field = attrgetter(spec.by_name[name].field)
        rows = [row for row in rows if as_read(field(row)) in cells]
    as_stored = [dict(zip(spec.names, map(as_read, line), strict=True)) for line in spec.lines(rows)]
    for column in spec.columns:
        if column.column.restored:
            for cells in as_stored:
                cells[column.name] = column.column.restored(cells)
    return as_stored


def write_table(folder: Path, spec: TableSpec[R], rows: Iterable[R]) -> None:
    """Write a table, which is never held as text, and pack it if it is larger than ``MOST_PLAIN``."""
    path = folder / spec.file
    with path.open("w", encoding="utf-8", newline="\n") as out:
        write_csv(out, spec.names, spec.lines(rows))
    if path.stat().st_size > MOST_PLAIN:
        # no name and no time in it: the same table gives the same file
        with (
            path.open("rb") as plain,
            (folder / f"{spec.file}{PACKED}").open("wb") as file,
            gzip.GzipFile("", "wb", compresslevel=3, fileobj=file, mtime=0) as packed,
        ):
            shutil.copyfileobj(plain, packed, 1 << 20)
        path.unlink()


def _query_table(results: Results) -> str:
    """The queries with all that their file says of them, each own column under its name."""
    extra = dict.fromkeys(name for more in results.extras.values() for name in more)
    columns = (*spec_of(QueryRow).names, *(name for name in extra if name not in spec_of(QueryRow).by_name))
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


def _passages(ranked: Iterable[RankedRow], read: Collection[str]) -> list[PassageRow]:
    """Every chunk among the first ranks, or that was read to answer, once, in the order of the documents."""
    rows: dict[str, PassageRow] = {}
    for row in ranked:
        if row.chunk_id in rows or (row.rank > PASSAGE_RANKS and row.chunk_id not in read):
            continue
        *before, (start, end) = spans_of_chunk(row.chunk_id)
        # as long as in the document, so that the offsets tell an apostrophe of its own
        text = row.text.replace("\r\n", " \n")
        rows[row.chunk_id] = PassageRow(
            row.chunk_id, row.document, start, end, row.page, text, before_cell(before)
        )
    return sorted(rows.values(), key=lambda row: (row.document, row.start, row.end))


def _about_qrels(results: Results, file_name: Callable[[str], str]) -> str:
    """How other tools read these files, and for how many queries their figures differ from ours."""
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


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")


def trec_run(rankings: Iterable[Ranking], tag: str) -> str:
    """A TREC run whose scores fall strictly, also in single precision.

    trec_eval ignores the rank column and orders by a 32-bit score; equal scores would be reordered by id.
    """
    lines = []
    for ranking in rankings:
        before = f"{_query(ranking.query_id)} Q0"
        scored = zip(ranking.chunk_ids, strictly_falling(ranking.scores), strict=True)
        lines += [
            f"{before} {chunk_id} {rank} {score!r} {tag}\n"
            for rank, (chunk_id, score) in enumerate(scored, 1)
        ]
    return "".join(lines)


def trec_qrels(rows: Iterable[tuple[str, str, int]]) -> str:
    """(query, chunk, grade) rows as TREC qrels."""
    return "".join(f"{_query(query_id)} 0 {chunk_id} {grade}\n" for query_id, chunk_id, grade in rows)


def _query(query_id: str) -> str:
    """The id with a leading ``#`` percent-encoded, as a line that begins so may be taken for a comment."""
    return re.sub("^[#%]", lambda match: f"%{ord(match[0]):X}", query_id)


def strictly_falling(scores: Sequence[float]) -> list[float]:
    """Scores lowered by as little as single precision allows, where one is not below its predecessor.

    What was not scored is as little below what was. n, n - 1, …, 1 if that leads to minus infinity,
    below which there is nothing.
    """
    out: list[float] = []
    last = np.float32(np.inf)
    with np.errstate(over="ignore"):
        single = np.array(scores, dtype=np.float32)
        if np.isfinite(single).all() and (single[1:] < single[:-1]).all():
            return list(map(float, single))
        for score in scores:
            value = np.float32(score)
            if not value < last or (score == NOT_SCORED and out):
                value = np.nextafter(last, np.float32(-np.inf))
            out.append(float(value))
            last = value
    return out if np.isfinite(last) or not out else [float(n) for n in range(len(out), 0, -1)]
