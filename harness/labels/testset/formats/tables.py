"""Our own tables, as CSV, JSON lines or workbooks: what a benchmark reads."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.data import TABLES, AnchorConfig, SplitConfig, anchor, read_labels, read_queries
from harness.labels.labelling.rows import quote_of, spreadsheet_safe
from harness.labels.testset.finished import FinishedTestset, Label, TestQuestion, label_of
from harness.labels.testset.formats.values import ExportResult, ImportResult
from harness.store import write_bytes, write_text
from harness.values import ConfigError, CorpusError, Document, delimited_text, on_one_line

QUERIES = ("query_id", "text", "type", "answerable", "answer", "note")
LABELS = ("query_id", "document", "page", "start", "end", "quote", "grade", "evidence", "answer", "judge")
Cells = dict[str, str | int]


def query_cells(questions: Sequence[TestQuestion]) -> list[Cells]:
    """The rows of queries.csv."""
    return [
        {
            "query_id": one.query_id,
            "text": one.text,
            "type": one.kind,
            "answerable": "yes" if one.answerable else "no",
            "answer": one.answer,
            "note": one.note,
        }
        for one in questions
    ]


def label_cells(labels: Sequence[Label]) -> list[Cells]:
    """The rows of labels.csv: by offsets, with page and quote as well."""
    return [
        {
            "query_id": one.query_id,
            "document": one.doc_id,
            "page": one.page or "",
            "start": one.start,
            "end": one.end,
            "quote": quote_of(one.text),
            "grade": one.grade,
            "evidence": one.evidence,
            "answer": on_one_line(one.answer),
            "judge": one.by,
        }
        for one in labels
    ]


def csv_of(columns: Sequence[str], rows: Sequence[Cells]) -> str:
    """Rows as CSV that no spreadsheet runs a formula of."""
    return delimited_text([columns, *([spreadsheet_safe(row[name]) for name in columns] for row in rows)])


def tables_of(questions: Sequence[TestQuestion], labels: Sequence[Label]) -> dict[str, str]:
    """The content of queries.csv and labels.csv, by name."""
    return {
        "queries.csv": csv_of(QUERIES, query_cells(questions)),
        "labels.csv": csv_of(LABELS, label_cells(labels)),
    }


def write_csv(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """queries.csv and labels.csv."""
    files = tables_of(testset.questions, testset.labels)
    for name, text in files.items():
        write_text(folder / name, text)
    return ExportResult(tuple(files))


def write_jsonl(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """queries.jsonl and labels.jsonl."""
    for name, rows in (("queries", query_cells(testset.questions)), ("labels", label_cells(testset.labels))):
        filled = ({column: cell for column, cell in row.items() if cell != ""} for row in rows)
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in filled)
        write_text(folder / f"{name}.jsonl", "".join(lines))
    return ExportResult(("queries.jsonl", "labels.jsonl"))


def write_xlsx(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """queries.xlsx and labels.xlsx."""
    write_bytes(folder / "queries.xlsx", _workbook(QUERIES, query_cells(testset.questions)))
    write_bytes(folder / "labels.xlsx", _workbook(LABELS, label_cells(testset.labels)))
    return ExportResult(("queries.xlsx", "labels.xlsx"))


def read_tables(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """Queries and labels of a folder, in whichever of our formats they are."""
    queries = read_queries(_table(source, "queries"), SplitConfig())
    rows = read_labels(_table(source, "labels"))
    judgments = anchor(rows, documents, AnchorConfig(), [one.query_id for one in queries.queries]).judgments
    questions = []
    for one in queries.queries:
        more = queries.extras[one.query_id]
        answer = more.get("answer", "").strip()
        by = "as imported" if answer else ""
        kind, note = more.get("type", "").strip(), more.get("note", "").strip()
        questions.append(TestQuestion(one.query_id, one.text, kind, one.answerable, answer, by, note))
    labels = [
        label_of(
            one.query_id,
            (documents[one.doc_id], one.start, one.end),
            one.grade or 0,
            one.judge,
            one.evidence,
            "" if one.answer is None else documents[one.doc_id].text[slice(*one.answer)],
        )
        for one in judgments
    ]
    return ImportResult(tuple(questions), tuple(labels))


def _table(source: Path, name: str) -> Path:
    found = [path for ending in TABLES if (path := source / f"{name}{ending}").is_file()]
    if len(found) != 1:
        what = "is not there" if not found else f"is there {len(found)} times"
        raise CorpusError(f"{source}: {name} ({', '.join(TABLES)}) {what}. Name the folder that holds one.")
    return found[0]


def _workbook(columns: Sequence[str], rows: Sequence[Cells]) -> bytes:
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise ConfigError("writing .xlsx needs openpyxl: pip install 'ndcg-harness[xlsx]'.") from error
    book = Workbook()
    sheet = book.active
    sheet.append(tuple(columns))
    for row in rows:
        sheet.append([spreadsheet_safe(row[name]) for name in columns])
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
