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
from harness.labels.testset.formats import ExportResult, ImportResult
from harness.labels.testset.formats.values import grade_from, valid_place
from harness.labels.testset.grades import agreements
from harness.labels.testset.rows import GradeRow, Place
from harness.values import Document, Judgment, LabelError, counted, whole

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


# A mark within a passage: where it begins and ends by the tool's count, and the text that it shows.
Mark = tuple[int, int, str]


def write_label_studio(testset: FinishedTestset) -> ExportResult:
    """tasks.json to import, and the labeling configuration that it needs."""
    questions = {one.query_id: one for one in testset.questions}
    tasks = []
    for one in testset.labels:
        question, text = questions[one.query_id], testset.text_of(one)
        grade = {"from_name": "grade", "to_name": "text", "type": "choices"}
        result: list[dict[str, Any]] = [{**grade, "value": {"choices": [str(one.grade)]}}]
        if one.grade:
            value = {"start": 0, "end": len(text), "text": text, "labels": [EVIDENCE]}
            result.append({"from_name": EVIDENCE, "to_name": "text", "type": "labels", "value": value})
        data = {
            "text": text,
            "question": question.text,
            "query_id": one.query_id,
            "type": question.kind,
            "answerable": "yes" if question.answerable else "no",
            "answer": question.answer,
            "document": one.doc_id,
            "start": one.start,
            "end": one.end,
            "evidence": one.evidence,
        }
        tasks.append({"data": data, "annotations": [{"result": result}], "meta": {"graded_by": one.judge}})
    silent = counted(testset.ungraded, "question")
    left_out = f"Left out, as nothing is graded for it and a task needs that: {silent}."
    files = {FILE: json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", CONFIG: _CONFIG}
    return ExportResult(files, (left_out,) if testset.ungraded else ())


def read_label_studio(source: Path, documents: Mapping[str, Document]) -> ImportResult:
    """An export of Label Studio (JSON): the grade of each task, and its spans where evidence was marked.

    Where people marked a part of a passage, the label is that part. A task without an annotation, or with
    cancelled ones alone, is unjudged. Every annotator's own grade is kept; where they differ on a passage it
    has no label.
    """
    questions: dict[str, TestQuestion] = {}
    labels: list[Judgment] = []
    grades: list[GradeRow] = []
    unjudged = differ = 0
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
        question = _question(data)
        # white space does not make another text: tools and people add blanks
        if questions.setdefault(question.query_id, question).text.split() != question.text.split():
            raise LabelError(
                f"{where}: question {question.query_id!r} has another text above. Give each its own id."
            )
        given = _annotations(task, where)
        if not given:
            unjudged += 1
            continue
        passage, fact = _passage(documents, data, where), str(data.get("evidence") or "")
        differ += (disputed := len({grade for grade, _ in given.values()}) > 1)
        for by, (grade, marks) in given.items():
            parts = [_part(passage, mark, where) for mark in marks] or [passage]
            answer = parts[0].text if parts != [passage] and len(parts) == 1 else ""
            span = (question.query_id, passage.document.doc_id, passage.start, passage.end)
            grades.append(GradeRow(*span, grade, by, evidence=fact, answer=answer))
            if not disputed:
                labels += [part.judged(question.query_id, grade, by, fact) for part in parts]
    notes = [f"{counted(unjudged, 'task has', 'tasks have')} no annotation: unjudged."] if unjudged else []
    notes += map(str, agreements(grades))
    if differ:
        notes.append(
            f"{counted(differ, 'passage is', 'passages are')} graded differently by several raters "
            "and not in labels.csv; grades.csv has every rater's own grade. Decide them in the tool, or "
            "add rows with the grade that you settle on to labels.csv."
        )
    several = tuple(grades) if len(grades) > len({row.key for row in grades}) else ()
    return ImportResult(tuple(questions.values()), tuple(labels), tuple(notes), several)


def _question(data: Mapping[str, Any]) -> TestQuestion:
    """The question that a passage is of, from what was exported with it."""
    answer = str(data.get("answer") or "")
    return TestQuestion(
        str(data["query_id"]),
        str(data["question"]),
        str(data.get("type") or ""),
        str(data.get("answerable", "yes")) != "no",
        answer,
        "as imported" if answer else "",
    )


def _annotations(task: Mapping[str, Any], where: str) -> dict[str, tuple[int, list[Mark]]]:
    """The grade and the marks by each rater; what they say later replaces what they said before.

    Raises LabelError for a task that is not as the tool exports it.
    """
    try:
        given = task.get("annotations") or []
        done = [one for one in given if not one.get("was_cancelled") and one.get("result")]
        # annotations without a user may be of several
        return {
            _by(one, number if len(done) > 1 else 0): _graded(one["result"], where)
            for number, one in enumerate(done, 1)
        }
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        lacks = f" (it lacks {error})" if isinstance(error, KeyError) else ""
        raise LabelError(f"{where}: it is not as Label Studio exports it{lacks}. Export it again.") from error


def _by(annotation: Mapping[str, Any], number: int) -> str:
    who = annotation.get("completed_by")
    who = who.get("email") if isinstance(who, dict) else who
    if who:
        return f"Label Studio user {who}"
    return f"Label Studio annotation {number}" if number else "Label Studio"


def _graded(results: list[Mapping[str, Any]], where: str) -> tuple[int, list[Mark]]:
    """The grade of an annotation, and the parts that are marked unless it is 0."""
    chosen = [name for one in results if one.get("type") == "choices" for name in one["value"]["choices"]]
    if len(chosen) != 1:
        raise LabelError(f"{where}: {len(chosen)} grades are chosen. Choose one.")
    grade = grade_from(chosen[0], where)
    values = [one["value"] for one in results if one.get("type") == "labels" and grade]
    return grade, [
        (_offset(one["start"], where), _offset(one["end"], where), str(one.get("text", ""))) for one in values
    ]


def _offset(value: object, where: str) -> int:
    """An offset as a tool writes it, perhaps as 5.0; raises LabelError for anything else."""
    try:
        return whole(str(value))
    except ValueError as fault:
        raise LabelError(f"{where}: start or end {fault}") from None


def _passage(documents: Mapping[str, Document], data: Mapping[str, Any], where: str) -> Place:
    """The passage of a task; raises LabelError if its document or text differs."""
    name, text = data["document"], data.get("text")
    document = documents.get(str(name))
    if document is None:
        raise LabelError(f"{where}: there is no document {name!r}. Name the documents with --documents.")
    place = valid_place(document, _offset(data["start"], where), _offset(data["end"], where), where)
    if text is not None and text != place.text:
        raise LabelError(
            f"{where}: the text at {place.start}-{place.end} of {document.doc_id} differs. Name the "
            "documents that were labelled."
        )
    return place


def _part(passage: Place, mark: Mark, where: str) -> Place:
    """The part of a passage that is marked; raises LabelError if it is not within it."""
    start, end = resolve_offsets(passage.text, *mark, where)
    if not 0 <= start < end <= len(passage.text):
        raise LabelError(f"{where}: {start}-{end} is not a range of the passage. Correct it.")
    return Place(passage.document, passage.start + start, passage.start + end)


def resolve_offsets(text: str, start: int, end: int, expected: str, where: str) -> tuple[int, int]:
    """The half-open range of ``text`` that another tool means; ``expected`` is what it says is there.

    Tools count the end as the last character or as the one behind it, and in characters or in UTF-16 units.
    Whichever gives the text that they show is meant; without that text, half-open ranges of characters are.
    Raises LabelError if none gives it.
    """
    if not expected:
        return start, end
    for first, last in ((start, end), (start, end + 1)):
        if text[first:last] == expected:
            return first, last
    units = text.encode("utf-16-le", "surrogatepass")
    for last in (end, end + 1):
        before = units[: 2 * start].decode("utf-16-le", "replace")
        inside = units[2 * start : 2 * last].decode("utf-16-le", "replace")
        if inside == expected:
            return len(before), len(before) + len(inside)
    raise LabelError(
        f"{where}: the text at {start}-{end} is {text[start:end][:60]!r}, not {expected[:60]!r}. The text "
        "differs from the one that was labelled. Name that one."
    )
