"""Quepid: judgments as CSV with query, docid, rating.

Quepid knows no ids of queries: the text of a question is its name. Ratings are 0 to 4, as ours; a case whose
scorer has another scale wants that scale (in Quepid: the scorer's ratings).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.data import FaultsOfRows, plain_cell, read_table
from harness.labels.testset.finished import FinishedTestset, Label, TestQuestion, label_of
from harness.labels.testset.formats.tables import csv_of
from harness.labels.testset.formats.values import ExportResult, ImportResult, grade_from, passage_id, span_of
from harness.store import write_text
from harness.values import Document, LabelError, counted

FILE = "judgments.csv"
COLUMNS = ("query", "docid", "rating")


def write_quepid(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """One rating per graded passage; its docid holds document and offsets."""
    text = {one.query_id: one.text for one in testset.questions}
    rows: list[dict[str, str | int]] = [
        {
            "query": text[one.query_id],
            "docid": passage_id(one.doc_id, one.start, one.end),
            "rating": one.grade,
        }
        for one in testset.labels
    ]
    write_text(folder / FILE, csv_of(COLUMNS, rows))
    silent = len(testset.questions) - len({one.query_id for one in testset.labels})
    notes = ["Quepid holds texts and ratings: ids, kinds, answers and evidence names are left out."]
    if silent:
        notes.append(f"Left out, without a graded passage: {counted(silent, 'question')}.")
    return ExportResult((FILE,), tuple(notes))


def read_quepid(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """The ratings of a CSV export; ids are given in the order of the file. No rating: unjudged."""
    table = read_table(source, COLUMNS, LabelError)
    ids: dict[str, str] = {}
    labels: list[Label] = []
    faults, unjudged = FaultsOfRows(LabelError), 0
    for row in table.rows:
        with faults.of_a_row():
            where = f"{source}, line {row.line}"
            if not row.get("query"):
                raise LabelError(f"{where}: query is empty. Write the question.")
            query_id = ids.setdefault(plain_cell(row.get("query")), f"q{len(ids) + 1:03}")
            rating = row.get("rating").removesuffix(".0")
            if not rating:
                unjudged += 1
                continue
            grade = grade_from(rating, where)
            labels.append(label_of(query_id, span_of(row.get("docid"), documents, where), grade, "Quepid"))
    faults.end()
    questions = tuple(TestQuestion(query_id, text) for text, query_id in ids.items())
    notes = ["Every question counts as answerable: Quepid does not say."]
    if unjudged:
        notes.append(f"Unjudged, without a rating: {counted(unjudged, 'row')}.")
    return ImportResult(questions, tuple(labels), tuple(notes))
