"""A finished test set as files: our tables, which a benchmark reads, those of TREC and of ragas; and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import data, values
from harness.labels.labelling.label_rows import quote_of, spreadsheet_safe
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.report import trec_qrels
from harness.running import BenchConfig, DocumentReader, load_documents

QUERIES = ("query_id", "text", "type", "answerable", "answer", "note")
LABELS = ("query_id", "document", "page", "start", "end", "quote", "grade", "evidence", "answer", "judge")
# passages from this grade on are contexts of ragas
_LEAST = 2
Files = dict[str, str]


def tables_of(testset: FinishedTestset) -> Files:
    """queries.csv and labels.csv, these by offsets, page and quote; no spreadsheet runs a formula of them."""
    queries = [
        (
            question.query_id,
            question.text,
            question.kind,
            "yes" if question.answerable else "no",
            question.answer,
            question.note,
        )
        for question in testset.questions
    ]
    labels = (_label_cells(testset, label) for label in testset.labels)
    return {"queries.csv": _csv(QUERIES, queries), "labels.csv": _csv(LABELS, labels)}


def _csv(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    return values.delimited_text([columns, *(map(spreadsheet_safe, row) for row in rows)])


def _label_cells(testset: FinishedTestset, label: values.Judgment) -> tuple[Any, ...]:
    document = testset.documents[label.doc_id]
    answer = "" if label.answer is None else values.on_one_line(document.text[slice(*label.answer)])
    page, quote = document.page_of(label.start) or "", quote_of(testset.text_of(label))
    place = (label.query_id, label.doc_id, page, label.start, label.end, quote)
    return (*place, label.grade, label.evidence, answer, label.judge)


def trec_files(testset: FinishedTestset) -> Files:
    """Topics; qrels of passages, whose names hold their offsets; qrels of documents by their best passage."""
    best: dict[tuple[str, str], int] = {}
    for label in testset.labels:
        key = (label.query_id, label.doc_id)
        best[key] = max(best.get(key, 0), label.grade or 0)
    return {
        "topics.tsv": "".join(
            f"{question.query_id}\t{values.on_one_line(question.text)}\n" for question in testset.questions
        ),
        "qrels.txt": trec_qrels(
            (label.query_id, _passage_id(label), label.grade or 0) for label in testset.labels
        ),
        "qrels-documents.txt": trec_qrels((*key, grade) for key, grade in best.items()),
    }


def ragas_files(testset: FinishedTestset) -> Files:
    """A sample per question, as ``EvaluationDataset.from_jsonl`` of ragas reads it."""
    lines = []
    for question in testset.questions:
        labels = (label for label in testset.labels if label.query_id == question.query_id)
        relevant = [label for label in labels if (label.grade or 0) >= _LEAST]
        relevant.sort(key=lambda label: (-(label.grade or 0), label.doc_id, label.start))
        sample: dict[str, Any] = {
            "user_input": question.text,
            "reference_contexts": [testset.text_of(label) for label in relevant],
            "reference_context_ids": [_passage_id(label) for label in relevant],
        }
        if question.answer:
            sample["reference"] = values.golden_answers(question.answer)[0]
        lines.append(json.dumps(sample, ensure_ascii=False) + "\n")
    return {"testset.jsonl": "".join(lines)}


def _passage_id(label: values.Judgment) -> str:
    """A passage as one name: document, start, end (excluded)."""
    return f"{label.doc_id}:{label.start}-{label.end}"


FORMATS: Mapping[str, tuple[Callable[[FinishedTestset], Files], str]] = {
    "trec": (trec_files, "Answers, kinds, evidence names and who graded have no place in qrels."),
    "ragas": (
        ragas_files,
        f"ragas knows no grades: passages of grade {_LEAST} and above are its contexts. The others, ids, "
        "kinds, evidence names and all golden answers of a question but the first are left out.",
    ),
}
"""The files of another tool by its name, and what they cannot hold."""


def unknown_format(name: str, formats: Iterable[str]) -> values.ConfigError:
    """The error of a format that is not among ``formats``."""
    return values.ConfigError(f"There is no format {name!r}. Known: {', '.join(dict.fromkeys(formats))}.")


def import_testset(
    source: Path, documents: Sequence[str], target: Path, reader: DocumentReader, cache: Path
) -> data.ImportSummary:
    """Read questions, reference answers and reference contexts, which are found in ``documents`` (globs).

    ``cache`` is the folder that ``reader`` reads from.

    ragas knows no grades: the only context of a question gets grade 4, each of several grade 3, since none of
    them answers alone. A question without one counts as unanswerable. Raises CorpusError for a file that
    cannot be used, and where ``target`` is there already.
    """
    nowhere = source / "none.csv"
    config = BenchConfig.of_documents(documents, nowhere, nowhere, cache=cache)
    texts = load_documents(config, reader)
    samples = data.read_answers(source)
    contexts = [
        [data.GivenHit(query_id=sample.query_id, text=text) for text in sample.evidence if text.strip()]
        for sample in samples
    ]
    if not any(contexts):
        raise values.CorpusError(
            f"{source}: no sample has reference_contexts, the passages that hold its answer. Add them."
        )
    labels: dict[object, values.Judgment] = {}
    for hits in data.place_hits(contexts, texts, data.AnchorConfig().threshold):
        for hit in hits:
            if hit.place is not None:
                place = hit.place.doc_id, hit.place.start, hit.place.end
                judgment = values.Judgment(
                    hit.row.query_id, *place, 4 if len(hits) == 1 else 3, judge="ragas"
                )
                labels.setdefault(judgment.key, judgment)
    questions = tuple(
        TestQuestion(
            sample.query_id,
            values.on_one_line(sample.question),
            answerable=bool(hits),
            answer=values.golden_cell(sample.references),
        )
        for sample, hits in zip(samples, contexts, strict=True)
    )
    with data.new_corpus_folder(target) as folder:
        for file, text in tables_of(FinishedTestset(questions, tuple(labels.values()), texts)).items():
            data.write_text(folder / file, text)
    notes = [
        "ragas knows no grades: one context of a question has grade 4, several have 3 each.",
        "A question without a context counts as unanswerable.",
    ]
    if lost := sum(map(len, contexts)) - len(labels):
        notes.append(f"Contexts that are repeated, or in none of the documents, are left out: {lost}.")
    used = {label.doc_id for label in labels.values()}
    return data.ImportSummary(target, len(used), len(questions), len(labels), tuple(notes))
