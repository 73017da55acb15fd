"""Our own tables, as CSV, JSON lines or workbooks: what a benchmark reads."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.data import TABLES, AnchorConfig, SplitConfig, anchor, read_labels, read_queries
from harness.labels.labelling.rows import quote_of, spreadsheet_safe
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import ExportResult, ImportResult
from harness.values import ConfigError, CorpusError, Document, Judgment, delimited_text, on_one_line

QUERIES = ("query_id", "text", "type", "answerable", "answer", "note")
LABELS = ("query_id", "document", "page", "start", "end", "quote", "grade", "evidence", "answer", "judge")
Cells = Sequence[Any]


def csv_of(columns: Sequence[str], rows: Iterable[Cells]) -> str:
    """Rows as CSV that no spreadsheet runs a formula of."""
    return delimited_text([columns, *(map(spreadsheet_safe, row) for row in rows)])


def tables_of(testset: FinishedTestset) -> dict[str, str]:
    """The content of queries.csv and labels.csv, by name."""
    return {f"{name}.csv": csv_of(columns, rows) for name, columns, rows in _tables(testset)}


def write_csv(testset: FinishedTestset) -> ExportResult:
    """queries.csv and labels.csv."""
    return ExportResult(tables_of(testset))


def write_jsonl(testset: FinishedTestset) -> ExportResult:
    """queries.jsonl and labels.jsonl."""
    files = {}
    for name, columns, rows in _tables(testset):
        named = (zip(columns, row, strict=True) for row in rows)
        filled = ({column: cell for column, cell in row if cell != ""} for row in named)
        files[f"{name}.jsonl"] = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in filled)
    return ExportResult(files)


def write_xlsx(testset: FinishedTestset) -> ExportResult:
    """queries.xlsx and labels.xlsx."""
    return ExportResult(
        {f"{name}.xlsx": _workbook(columns, rows) for name, columns, rows in _tables(testset)}
    )


def read_tables(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """Queries and labels of a folder, in whichever of our formats they are."""
    queries = read_queries(_table(source, "queries"), SplitConfig())
    rows = read_labels(_table(source, "labels"))
    judgments = anchor(rows, documents, AnchorConfig(), [one.query_id for one in queries.queries]).judgments
    questions = []
    for one in queries.queries:
        more = queries.extras[one.query_id]
        kind, answer, note = (more.get(name, "").strip() for name in ("type", "answer", "note"))
        by = "as imported" if answer else ""
        questions.append(TestQuestion(one.query_id, one.text, kind, one.answerable, answer, by, note))
    return ImportResult(tuple(questions), judgments)


read_csv = read_jsonl = read_xlsx = read_tables


def _tables(testset: FinishedTestset) -> list[tuple[str, Sequence[str], list[Cells]]]:
    """The name, the columns and the rows of queries and of labels; these by offsets, page and quote."""
    queries: list[Cells] = [
        (one.query_id, one.text, one.kind, "yes" if one.answerable else "no", one.answer, one.note)
        for one in testset.questions
    ]
    return [
        ("queries", QUERIES, queries),
        ("labels", LABELS, [_cells(testset, one) for one in testset.labels]),
    ]


def _cells(testset: FinishedTestset, label: Judgment) -> Cells:
    document = testset.documents[label.doc_id]
    answer = "" if label.answer is None else on_one_line(document.text[slice(*label.answer)])
    page, quote = document.page_of(label.start) or "", quote_of(testset.text_of(label))
    place = (label.query_id, label.doc_id, page, label.start, label.end, quote)
    return (*place, label.grade, label.evidence, answer, label.judge)


def _table(source: Path, name: str) -> Path:
    there = [path for ending in TABLES if (path := source / f"{name}{ending}").is_file()]
    if len(there) != 1:
        what = "is not there" if not there else f"is there {len(there)} times"
        raise CorpusError(f"{source}: {name} ({', '.join(TABLES)}) {what}. Name the folder that holds one.")
    return there[0]


def _workbook(columns: Sequence[str], rows: Iterable[Cells]) -> bytes:
    import pandas as pd

    safe = [[spreadsheet_safe(cell) for cell in row] for row in rows]
    out = io.BytesIO()
    try:
        pd.DataFrame(safe, columns=list(columns)).to_excel(out, index=False, freeze_panes=(1, 0))
    except ImportError as error:
        raise ConfigError("writing .xlsx needs openpyxl: pip install 'ndcg-harness[xlsx]'.") from error
    return out.getvalue()
