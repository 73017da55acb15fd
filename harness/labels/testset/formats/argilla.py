"""Argilla: a record per passage with a question of grade and one of spans.

Spans of Argilla count characters of the field, the end excluded, as its server checks them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.data import read_objects
from harness.labels.testset.finished import FinishedTestset, TestQuestion
from harness.labels.testset.formats.values import (
    ExportResult,
    ImportResult,
    RaterGrade,
    Ratings,
    ask,
    exported,
    grade_from,
    last_of_each,
    offset,
    question_in,
    resolve_passage,
)
from harness.store import write_text
from harness.values import Document, LabelError, counted

FILE, SETTINGS = "records.json", "settings.py"
GRADE, EVIDENCE = "grade", "evidence"
_SETTINGS = '''"""Makes the dataset in Argilla and logs records.json into it."""

import json
import os

import argilla as rg

client = rg.Argilla(api_url=os.environ["ARGILLA_API_URL"], api_key=os.environ["ARGILLA_API_KEY"])
settings = rg.Settings(
    fields=[rg.TextField(name="question"), rg.TextField(name="passage")],
    questions=[
        rg.LabelQuestion(name="grade", labels=["0", "1", "2", "3", "4"]),
        rg.SpanQuestion(name="evidence", field="passage", labels=["evidence"], required=False),
    ],
    metadata=[
        rg.TermsMetadataProperty(name=name) for name in ("query_id", "document", "type", "answerable", "fact")
    ] + [rg.IntegerMetadataProperty(name=name) for name in ("start", "end")],
)
dataset = rg.Dataset(name="testset", settings=settings, client=client)
dataset.create()
with open("records.json", encoding="utf-8") as file:
    dataset.records.log([rg.Record.from_dict(one) for one in json.load(file)])
'''


def write_argilla(testset: FinishedTestset, documents: Mapping[str, Document], folder: Path) -> ExportResult:
    """records.json, as ``rg.Record.from_dict`` reads it, and a script that logs them.

    Grades are as suggestions: responses belong to users of a server.
    """
    questions = {one.query_id: one for one in testset.questions}
    records = []
    for number, one in enumerate(testset.labels):
        question = questions[one.query_id]
        suggestions: dict[str, Any] = {GRADE: {"value": str(one.grade), "agent": one.by, "score": None}}
        if one.grade:
            span = {"start": 0, "end": len(one.text), "label": EVIDENCE}
            suggestions[EVIDENCE] = {"value": [span], "agent": one.by, "score": None}
        records.append(
            {
                "id": str(number),
                "fields": {"question": question.text, "passage": one.text},
                "metadata": {
                    "query_id": one.query_id,
                    "type": question.kind,
                    "answerable": "yes" if question.answerable else "no",
                    "document": one.doc_id,
                    "start": one.start,
                    "end": one.end,
                    "fact": one.evidence,
                },
                "suggestions": suggestions,
                "responses": {},
                "vectors": {},
            }
        )
    write_text(folder / FILE, json.dumps(records, ensure_ascii=False, indent=1) + "\n")
    write_text(folder / SETTINGS, _SETTINGS)
    return ExportResult((FILE, SETTINGS), ("Answers have no place in the records and are left out.",))


def read_argilla(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """Records as ``dataset.records.to_json`` writes them: submitted responses, else suggestions.

    A record without either is unjudged. Every user's own grade is kept.
    """
    questions: dict[str, TestQuestion] = {}
    ratings = Ratings()
    unjudged = suggested = 0
    for number, record in enumerate(read_objects(source), 1):
        where = f"{source}, record {record.get('id', number)}"
        with exported(where, "Argilla"):
            fields, meta = record.get("fields") or {}, record.get("metadata") or {}
            if "question" not in fields or not {"query_id", "document", "start", "end"} <= meta.keys():
                raise LabelError(
                    f"{where}: it lacks the field question, or query_id, document, start or end as metadata. "
                    "Import records as we export them."
                )
            question, text = fields["question"], fields.get("passage")
            given = _given(record, where)
            unconfirmed = not (record.get("responses") or {}).get(GRADE)
        query_id = str(meta["query_id"])
        ask(questions, question_in(query_id, {**meta, "question": question}), where)
        if not given:
            unjudged += 1
            continue
        suggested += unconfirmed
        passage = resolve_passage(documents, meta["document"], meta["start"], meta["end"], text, where)
        ratings.add(query_id, passage, given, str(meta.get("fact") or ""), where)
    notes = []
    if unjudged:
        notes.append(f"{counted(unjudged, 'record')} without response or suggestion: unjudged.")
    if suggested:
        notes.append(
            f"{counted(suggested, 'grade is a suggestion', 'grades are suggestions')} nobody has confirmed."
        )
    return ratings.result(questions, notes)


def _given(record: Mapping[str, Any], where: str) -> list[RaterGrade]:
    """What every user says of the passage, else what is suggested; empty where there is neither."""
    responses = record.get("responses") or {}
    suggestions = record.get("suggestions") or {}
    given = [one for one in responses.get(GRADE) or [] if one.get("value") is not None]
    if not given:
        suggestion = suggestions.get(GRADE) or {}
        if suggestion.get("value") is None:
            return []
        marked = (suggestions.get(EVIDENCE) or {}).get("value") or []
        by = str(suggestion.get("agent") or "Argilla")
        return [RaterGrade(by, grade_from(suggestion["value"], where), _ranges(marked, where))]
    spans = {one.get("user_id"): one["value"] for one in responses.get(EVIDENCE) or []}
    found = []
    for number, one in enumerate(given, 1):
        user = one.get("user_id")
        # responses without a user may be of several
        unnamed = "Argilla" if len(given) == 1 else f"Argilla response {number}"
        by = f"Argilla user {user}" if user else unnamed
        found.append(RaterGrade(by, grade_from(one["value"], where), _ranges(spans.get(user), where)))
    return last_of_each(found)


def _ranges(spans: Any, where: str) -> tuple[tuple[int, int], ...]:
    return tuple((offset(one["start"], where), offset(one["end"], where)) for one in spans or [])
