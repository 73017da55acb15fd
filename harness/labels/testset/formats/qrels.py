"""Grades of named passages: TREC qrels with topics as id, tab, text; and judgments of Quepid as CSV.

A document without offsets is judged as a whole. Quepid knows no ids of queries: the text of a question is its
name. Its ratings are 0 to 4, as ours; a case whose scorer has another scale wants that scale (in Quepid: the
scorer's ratings).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.data import FaultsOfRows, plain_cell, read_table, read_utf8
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import ExportResult, ImportResult
from harness.labels.testset.formats.tables import csv_of
from harness.labels.testset.formats.values import grade_from, passage_id, place_of
from harness.report import trec_qrels
from harness.values import CorpusError, Document, Judgment, LabelError, counted

TOPICS, QRELS, OF_DOCUMENTS = "topics.tsv", "qrels.txt", "qrels-documents.txt"
JUDGMENTS = "judgments.csv"
COLUMNS = ("query", "docid", "rating")


def write_trec(testset: FinishedTestset) -> ExportResult:
    """Qrels of passages, whose names hold their offsets; qrels of documents by their best passage."""
    best: dict[tuple[str, str], int] = {}
    for one in testset.labels:
        key = (one.query_id, one.doc_id)
        best[key] = max(best.get(key, 0), one.grade or 0)
    topics = (f"{one.query_id}\t{' '.join(one.text.split())}\n" for one in testset.questions)
    files = {
        TOPICS: "".join(topics),
        QRELS: trec_qrels((one.query_id, passage_id(one), one.grade or 0) for one in testset.labels),
        OF_DOCUMENTS: trec_qrels((*key, grade) for key, grade in best.items()),
    }
    return ExportResult(files, ("Answers, kinds, evidence names and who graded have no place in qrels.",))


def read_trec(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """topics.tsv and qrels.txt of a folder."""
    questions = []
    for where, line in _lines(source / TOPICS):
        query_id, tab, text = line.partition("\t")
        if not (tab and text.strip()):
            raise CorpusError(f"{where}: no id, tab and text. Write them.")
        questions.append(TestQuestion(query_id.strip(), text.strip()))
    known = {one.query_id for one in questions}
    labels = []
    for where, line in _lines(source / QRELS):
        fields = line.split()
        if len(fields) != 4:
            raise CorpusError(f"{where}: {len(fields)} fields. Write query, 0, document and grade.")
        query_id = fields[0].replace("%23", "#", 1) if fields[0].startswith("%23") else fields[0]
        if query_id not in known:
            raise CorpusError(f"{where}: {TOPICS} has no query {query_id!r}. Add it.")
        # negative grades are spam in some collections; they count as irrelevant
        grade = "0" if fields[3][0] == "-" and fields[3][1:].isdecimal() else fields[3]
        place = place_of(fields[2], documents, where)
        labels.append(place.judged(query_id, grade_from(grade, where), "qrels"))
    if not labels:
        raise CorpusError(f"{source / QRELS}: there is no judgment in it. Add some.")
    notes = ("Every question counts as answerable: qrels do not say.",)
    return ImportResult(tuple(questions), tuple(labels), notes)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that hold anything, each with where it is."""
    for number, line in enumerate(read_utf8(path).removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line


def write_quepid(testset: FinishedTestset) -> ExportResult:
    """One rating per graded passage; its docid holds document and offsets."""
    texts = {one.query_id: one.text for one in testset.questions}
    rows = [(texts[one.query_id], passage_id(one), one.grade) for one in testset.labels]
    notes = ["Quepid holds texts and ratings: ids, kinds, answers and evidence names are left out."]
    if testset.ungraded:
        notes.append(f"Left out, without a graded passage: {counted(testset.ungraded, 'question')}.")
    return ExportResult({JUDGMENTS: csv_of(COLUMNS, rows)}, tuple(notes))


def read_quepid(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """The ratings of a CSV export; ids are given in the order of the file. No rating: unjudged."""
    table = read_table(source, COLUMNS, LabelError)
    ids: dict[str, str] = {}
    labels: list[Judgment] = []
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
            labels.append(place_of(row.get("docid"), documents, where).judged(query_id, grade, "Quepid"))
    faults.end()
    questions = tuple(TestQuestion(query_id, text) for text, query_id in ids.items())
    notes = ["Every question counts as answerable: Quepid does not say."]
    if unjudged:
        notes.append(f"Unjudged, without a rating: {counted(unjudged, 'row')}.")
    return ImportResult(questions, tuple(labels), tuple(notes))
