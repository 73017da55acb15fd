"""Label Studio: a task per passage, graded with choices, its evidence marked as a span of the text.

Offsets of Label Studio count characters of the passage, the end excluded
(``label_studio_sdk.converter.utils.create_tokens_and_tags``; a test holds ours to it).
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
    resolve_offsets,
    resolve_passage,
)
from harness.store import write_text
from harness.values import Document, LabelError, counted

FILE, CONFIG = "tasks.json", "labeling-config.xml"
EVIDENCE = "evidence"
_CONFIG = """<View>
  <Header value="$question"/>
  <Labels name="evidence" toName="text"><Label value="evidence"/></Labels>
  <Text name="text" value="$text"/>
  <Choices name="grade" toName="text" choice="single-radio" required="true">
    <Choice value="4" hint="answers by itself"/>
    <Choice value="3" hint="answers most of it"/>
    <Choice value="2" hint="gives a part, or needed context"/>
    <Choice value="1" hint="is on the topic only"/>
    <Choice value="0" hint="looks right and is not, or has nothing to do with it"/>
  </Choices>
</View>
"""


def write_label_studio(
    testset: FinishedTestset, documents: Mapping[str, Document], folder: Path
) -> ExportResult:
    """tasks.json to import, and the labeling configuration that it needs."""
    questions = {one.query_id: one for one in testset.questions}
    tasks = []
    for one in testset.labels:
        question = questions[one.query_id]
        grade = {"from_name": "grade", "to_name": "text", "type": "choices"}
        result: list[dict[str, Any]] = [{**grade, "value": {"choices": [str(one.grade)]}}]
        if one.grade:
            value = {"start": 0, "end": len(one.text), "text": one.text, "labels": [EVIDENCE]}
            result.append({"from_name": EVIDENCE, "to_name": "text", "type": "labels", "value": value})
        tasks.append(
            {
                "data": {
                    "text": one.text,
                    "question": question.text,
                    "query_id": one.query_id,
                    "type": question.kind,
                    "answerable": "yes" if question.answerable else "no",
                    "answer": question.answer,
                    "document": one.doc_id,
                    "start": one.start,
                    "end": one.end,
                    "evidence": one.evidence,
                },
                "annotations": [{"result": result}],
                "meta": {"graded_by": one.by},
            }
        )
    write_text(folder / FILE, json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    write_text(folder / CONFIG, _CONFIG)
    silent = len(questions) - len({one.query_id for one in testset.labels})
    left_out = f"Left out, as nothing is graded for it and a task needs that: {counted(silent, 'question')}."
    notes = (left_out,) if silent else ()
    return ExportResult((FILE, CONFIG), notes)


def read_label_studio(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """An export of Label Studio (JSON): the grade of each task, and its spans where evidence was marked.

    Where people marked a part of a passage, the label is that part. A task without an annotation, or with
    cancelled ones alone, is unjudged. Every annotator's own grade is kept.
    """
    questions: dict[str, TestQuestion] = {}
    ratings = Ratings()
    unjudged = 0
    for number, task in enumerate(read_objects(source), 1):
        where = f"{source}, task {task.get('id', number)}"
        data = task.get("data")
        if (
            not isinstance(data, dict)
            or not {"query_id", "question", "document", "start", "end"} <= data.keys()
        ):
            raise LabelError(
                f"{where}: data lacks query_id, question, document, start or end. Import tasks as we export "
                "them."
            )
        query_id = str(data["query_id"])
        ask(questions, question_in(query_id, data), where)
        with exported(where, "Label Studio"):
            given = task.get("annotations") or []
            done = [one for one in given if not one.get("was_cancelled") and one.get("result")]
            unjudged += not done
            # annotations without a user may be of several
            names = [_by(one, number if len(done) > 1 else 0) for number, one in enumerate(done, 1)]
            read = [_annotation(one, where) for one in done]
        if read:
            named = (data["document"], data["start"], data["end"])
            passage = resolve_passage(documents, *named, data.get("text"), where)
            text = passage[0].text[slice(*passage[1:])]
            given = last_of_each(
                RaterGrade(by, grade, tuple(resolve_offsets(text, *one, where) for one in marked))
                for by, (grade, marked) in zip(names, read, strict=True)
            )
            ratings.add(query_id, passage, given, str(data.get("evidence") or ""), where)
    notes = [f"{counted(unjudged, 'task has', 'tasks have')} no annotation: unjudged."] if unjudged else []
    return ratings.result(questions, notes)


def _annotation(annotation: Mapping[str, Any], where: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Its grade, and the parts that are marked with the text they show."""
    chosen = [v for r in annotation["result"] if r.get("type") == "choices" for v in r["value"]["choices"]]
    if len(chosen) != 1:
        raise LabelError(f"{where}: {len(chosen)} grades are chosen. Choose one.")
    grade = grade_from(chosen[0], where)
    values = [one["value"] for one in annotation["result"] if one.get("type") == "labels" and grade]
    return grade, [
        (offset(one["start"], where), offset(one["end"], where), str(one.get("text", ""))) for one in values
    ]


def _by(annotation: Mapping[str, Any], number: int) -> str:
    who = annotation.get("completed_by")
    who = who.get("email") if isinstance(who, dict) else who
    if who:
        return f"Label Studio user {who}"
    return f"Label Studio annotation {number}" if number else "Label Studio"
