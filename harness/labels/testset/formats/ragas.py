"""ragas: samples with a question, a reference answer and the contexts that hold it.

ragas knows no grades. Contexts are passages of grade 2 and above; what is less, and what is irrelevant, is
left out. Coming in, the only context of a question gets grade 4 and each of several grade 3, since none of
them answers alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.data import AnchorConfig, LabelRow, anchor, read_objects
from harness.labels.testset.finished import FinishedTestset, Label, TestQuestion, label_of
from harness.labels.testset.formats.values import ExportResult, ImportResult, passage_id, span_of
from harness.store import write_text
from harness.values import CorpusError, Document, LabelError, golden_answers

FILE = "testset.jsonl"
LEAST = 2
_OLD = {"question": "user_input", "ground_truth": "reference", "contexts": "reference_contexts"}


def write_ragas(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """A sample per question, as ``EvaluationDataset.from_jsonl`` reads it."""
    lines = []
    for one in testset.questions:
        own = [label for label in testset.labels if label.query_id == one.query_id and label.grade >= LEAST]
        own.sort(key=lambda label: (-label.grade, label.doc_id, label.start))
        sample: dict[str, Any] = {
            "user_input": one.text,
            "reference_contexts": [label.text for label in own],
            "reference_context_ids": [passage_id(label.doc_id, label.start, label.end) for label in own],
        }
        if one.answer:
            sample["reference"] = golden_answers(one.answer)[0]
        lines.append(json.dumps(sample, ensure_ascii=False) + "\n")
    write_text(folder / FILE, "".join(lines))
    notes = (
        f"ragas knows no grades: passages of grade {LEAST} and above are its contexts, the others are "
        "left out, and with them what is known to be irrelevant.",
        "Ids, kinds and evidence names are left out, and all golden answers of a question but the first.",
    )
    return ExportResult((FILE,), notes)


def read_ragas(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """The samples of a file; contexts are looked for in the documents, by their ids or their text."""
    questions: list[TestQuestion] = []
    labels: list[Label] = []
    lost = 0
    for number, sample in enumerate(read_objects(source), 1):
        where = f"{source}, sample {number}"
        sample = {_OLD.get(name, name): value for name, value in sample.items()}
        text, answer = sample.get("user_input"), sample.get("reference") or ""
        if isinstance(answer, list | dict):
            raise CorpusError(f"{where}: reference is not a text. Write one answer.")
        if not isinstance(text, str) or not text.strip():
            raise CorpusError(
                f"{where}: there is no user_input (nor question). Write it: only single turns are read."
            )
        query_id = f"q{number:03}"
        contexts, ids = (sample.get(name) or [] for name in ("reference_contexts", "reference_context_ids"))
        if not (
            isinstance(contexts, list)
            and isinstance(ids, list)
            and all(isinstance(one, str) for one in contexts)
        ):
            raise CorpusError(
                f"{where}: reference_contexts or reference_context_ids is not a list of texts. Write one."
            )
        filled = [place for place, one in enumerate(contexts) if one.strip()]
        lost += len(contexts) - len(filled)
        if len(ids) == len(contexts):
            ids = [ids[place] for place in filled]
        contexts = [contexts[place] for place in filled]
        spans = _spans(contexts, ids, documents, where)
        lost += len(contexts) - len(spans)
        by = "ragas" if answer else ""
        questions.append(TestQuestion(query_id, " ".join(text.split()), "", bool(contexts), str(answer), by))
        labels += [label_of(query_id, span, 4 if len(contexts) == 1 else 3, "ragas") for span in spans]
    notes = ["ragas knows no grades: one context of a question has grade 4, several have 3 each."]
    notes.append("A question without a context counts as unanswerable.")
    if lost:
        notes.append(f"{lost} contexts are empty or in none of the documents and are left out.")
    return ImportResult(tuple(questions), tuple(labels), tuple(notes))


def _spans(
    contexts: list[str], ids: list[Any], documents: Mapping[str, Document], where: str
) -> list[tuple[Document, int, int]]:
    """Where the contexts are; those that are nowhere are left out."""
    if len(ids) == len(contexts):
        try:
            return [span_of(str(one), documents, where) for one in ids]
        except LabelError:
            # ids of another system; the texts decide
            pass
    found = (_place(context, documents) for context in contexts)
    return [place for place in found if place is not None]


def _place(context: str, documents: Mapping[str, Document]) -> tuple[Document, int, int] | None:
    """The document that holds a text, letter by letter or nearly so, and where."""
    for document in documents.values():
        at = document.text.find(context)
        if at >= 0:
            return document, at, at + len(context)
    listed = AnchorConfig(on_unanchored="list")
    best: tuple[float, Document, int, int] | None = None
    for document in documents.values():
        row = LabelRow(query_id="q", document=document.doc_id, grade=4, quote=context)
        (one,) = anchor([row], {document.doc_id: document}, listed).anchorings
        if one.accepted and (best is None or one.place.score > best[0]):
            best = (one.place.score, document, one.place.start or 0, one.place.end or 0)
    return best and best[1:]
