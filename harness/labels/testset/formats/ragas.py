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
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats import ExportResult, ImportResult
from harness.labels.testset.formats.values import passage_id, place_of
from harness.labels.testset.rows import Place
from harness.values import CorpusError, Document, Judgment, LabelError, golden_answers

FILE = "testset.jsonl"
LEAST = 2
_OLD = {"question": "user_input", "ground_truth": "reference", "contexts": "reference_contexts"}


def write_ragas(testset: FinishedTestset) -> ExportResult:
    """A sample per question, as ``EvaluationDataset.from_jsonl`` reads it."""
    lines = []
    for one in testset.questions:
        relevant = [
            label
            for label in testset.labels
            if label.query_id == one.query_id and (label.grade or 0) >= LEAST
        ]
        relevant.sort(key=lambda label: (-(label.grade or 0), label.doc_id, label.start))
        sample: dict[str, Any] = {
            "user_input": one.text,
            "reference_contexts": [testset.text_of(label) for label in relevant],
            "reference_context_ids": [passage_id(label) for label in relevant],
        }
        if one.answer:
            sample["reference"] = golden_answers(one.answer)[0]
        lines.append(json.dumps(sample, ensure_ascii=False) + "\n")
    notes = (
        f"ragas knows no grades: passages of grade {LEAST} and above are its contexts, the others are "
        "left out, and with them what is known to be irrelevant.",
        "Ids, kinds and evidence names are left out, and all golden answers of a question but the first.",
    )
    return ExportResult({FILE: "".join(lines)}, notes)


def read_ragas(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """The samples of a file; contexts are looked for in the documents, by their ids or their text."""
    questions: list[TestQuestion] = []
    labels: list[Judgment] = []
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
        if not (isinstance(contexts, list) and isinstance(ids, list)) or not all(
            isinstance(one, str) for one in contexts
        ):
            raise CorpusError(
                f"{where}: reference_contexts or reference_context_ids is not a list of texts. Write one."
            )
        filled = [at for at, one in enumerate(contexts) if one.strip()]
        if len(ids) == len(contexts):
            ids = [ids[at] for at in filled]
        places = _places([contexts[at] for at in filled], ids, documents, where)
        lost += len(contexts) - len(places)
        by = "ragas" if answer else ""
        questions.append(TestQuestion(query_id, " ".join(text.split()), "", bool(filled), str(answer), by))
        labels += [place.judged(query_id, 4 if len(filled) == 1 else 3, "ragas") for place in places]
    notes = ["ragas knows no grades: one context of a question has grade 4, several have 3 each."]
    notes.append("A question without a context counts as unanswerable.")
    if lost:
        notes.append(f"{lost} contexts are empty or in none of the documents and are left out.")
    return ImportResult(tuple(questions), tuple(labels), tuple(notes))


def _places(
    contexts: list[str], ids: list[Any], documents: Mapping[str, Document], where: str
) -> list[Place]:
    """Where the contexts are; those that are nowhere are left out."""
    if len(ids) == len(contexts):
        try:
            return [place_of(str(one), documents, where) for one in ids]
        except LabelError:
            # ids of another system; the texts decide
            pass
    return [place for context in contexts if (place := _place(context, documents))]


def _place(context: str, documents: Mapping[str, Document]) -> Place | None:
    """The document that holds a text, letter by letter or nearly so, and where."""
    for document in documents.values():
        at = document.text.find(context)
        if at >= 0:
            return Place(document, at, at + len(context))
    listed = AnchorConfig(on_unanchored="list")
    best, score = None, 0.0
    for document in documents.values():
        row = LabelRow(query_id="q", document=document.doc_id, grade=4, quote=context)
        (near,) = anchor([row], {document.doc_id: document}, listed).anchorings
        if near.accepted and near.place.score > score:
            best, score = Place(document, near.place.start or 0, near.place.end or 0), near.place.score
    return best
