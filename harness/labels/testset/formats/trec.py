"""TREC: qrels of passages and of documents, and topics as id, tab, text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.data import read_utf8
from harness.labels.testset.finished import FinishedTestset, TestQuestion, label_of
from harness.labels.testset.formats.values import ExportResult, ImportResult, grade_from, passage_id, span_of
from harness.report import trec_qrels
from harness.store import write_text
from harness.values import CorpusError, Document

TOPICS, QRELS, OF_DOCUMENTS = "topics.tsv", "qrels.txt", "qrels-documents.txt"


def write_trec(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """Qrels of passages, whose names hold their offsets; qrels of documents by their best passage."""
    passages = [
        (one.query_id, passage_id(one.doc_id, one.start, one.end), one.grade) for one in testset.labels
    ]
    best: dict[tuple[str, str], int] = {}
    for one in testset.labels:
        key = (one.query_id, one.doc_id)
        best[key] = max(best.get(key, 0), one.grade)
    write_text(folder / QRELS, trec_qrels(passages))
    write_text(folder / OF_DOCUMENTS, trec_qrels((*key, grade) for key, grade in best.items()))
    topics = (f"{one.query_id}\t{' '.join(one.text.split())}\n" for one in testset.questions)
    write_text(folder / TOPICS, "".join(topics))
    notes = ("Answers, kinds, evidence names and who graded have no place in qrels.",)
    return ExportResult((TOPICS, QRELS, OF_DOCUMENTS), notes)


def read_trec(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """topics.tsv and qrels.txt of a folder; a document without offsets is judged as a whole."""
    questions = []
    for number, line in enumerate(read_utf8(source / TOPICS).removeprefix("\ufeff").split("\n"), 1):
        query_id, tab, text = line.partition("\t")
        if line.strip() and not (tab and text.strip()):
            raise CorpusError(f"{source / TOPICS}, line {number}: no id, tab and text. Write them.")
        if line.strip():
            questions.append(TestQuestion(query_id.strip(), text.strip()))
    known = {one.query_id for one in questions}
    labels = []
    for number, line in enumerate(read_utf8(source / QRELS).removeprefix("\ufeff").split("\n"), 1):
        where = f"{source / QRELS}, line {number}"
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            raise CorpusError(f"{where}: {len(fields)} fields. Write query, 0, document and grade.")
        query_id = fields[0].replace("%23", "#", 1) if fields[0].startswith("%23") else fields[0]
        if query_id not in known:
            raise CorpusError(f"{where}: {TOPICS} has no query {query_id!r}. Add it.")
        # negative grades are spam in some collections; they count as irrelevant
        grade = "0" if fields[3][0] == "-" and fields[3][1:].isdecimal() else fields[3]
        labels.append(
            label_of(query_id, span_of(fields[2], documents, where), grade_from(grade, where), "qrels")
        )
    if not labels:
        raise CorpusError(f"{source / QRELS}: there is no judgment in it. Add some.")
    notes = ("Every question counts as answerable: qrels do not say.",)
    return ImportResult(tuple(questions), tuple(labels), notes)
