"""A finished test set as values: questions, graded spans, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.data import answer_span
from harness.labels.testset.grades import final_grades
from harness.labels.testset.rows import AnswerRow, DisagreementRow, GradeRow
from harness.labels.testset.state import SetState
from harness.values import ConfigError, Document, Judgment


@dataclass(frozen=True, slots=True)
class TestQuestion:
    """A question of the test set."""

    __test__ = False

    query_id: str
    text: str
    kind: str = ""
    answerable: bool = True
    answer: str = ""
    answer_by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class FinishedTestset:
    """The test set to export."""

    questions: tuple[TestQuestion, ...]
    labels: tuple[Judgment, ...]
    documents: Mapping[str, Document]
    unresolved: int = 0
    """Passages that are left unjudged, as people disagree."""
    contradictions: tuple[str, ...] = ()
    """What does not fit together, in words."""

    def text_of(self, label: Judgment) -> str:
        """The text of a graded span."""
        return self.documents[label.doc_id].text[label.start : label.end]


def assemble(state: SetState, documents: Mapping[str, Document]) -> FinishedTestset:
    """Put the tables together; raises ConfigError if nothing has been graded, or an answer is nowhere."""
    chosen = state.chosen()
    place = {one.query_id: at for at, one in enumerate(chosen)}
    rows = [
        row
        for row in final_grades(state.rows(GradeRow), state.rows(DisagreementRow)).values()
        if row.query_id in place and row.doc_id in documents
    ]
    graded = [row for row in rows if row.grade is not None]
    if not graded:
        raise ConfigError(
            f"{state.path(GradeRow)} holds no grade of a kept question. Grade first: {state.command} grade"
        )
    graded.sort(key=lambda row: (place[row.query_id], row.doc_id, row.start))
    labels = tuple(_label(state, row, documents[row.doc_id]) for row in graded)
    # of a question that was reworded since it was answered, the answer does not count
    answers = {(row.query_id, row.question): row for row in state.rows(AnswerRow) if row.answer}
    questions = []
    for one in chosen:
        given = answers.get((one.query_id, one.text))
        answer, by = (given.answer, given.by or "person") if given else ("", "")
        questions.append(TestQuestion(one.query_id, one.text, one.kind, one.answerable, answer, by, one.note))
    unresolved = len(rows) - len(graded)
    return FinishedTestset(
        tuple(questions), labels, documents, unresolved, tuple(_contradictions(questions, labels))
    )


def _label(state: SetState, row: GradeRow, document: Document) -> Judgment:
    answer = answer_span(row.answer, document, row.start, row.end) if row.answer else None
    if row.answer and answer is None:
        raise ConfigError(
            f"{state.path(GradeRow)}: the answer of {row.query_id}, {row.doc_id} {row.start} to {row.end} is "
            "not in its passage. Write it as it is there, or leave it empty."
        )
    return Judgment(*row.key, row.grade, row.evidence, judge=row.grader, answer=answer)


def _contradictions(questions: Sequence[TestQuestion], labels: Sequence[Judgment]) -> list[str]:
    best: dict[str, int] = {}
    for one in labels:
        best[one.query_id] = max(best.get(one.query_id, 0), one.grade or 0)
    contradictions = []
    for question in questions:
        grade = best.get(question.query_id)
        if question.answerable and not grade:
            what = "was not graded at all" if grade is None else "has no relevant passage"
            contradictions.append(f"{question.query_id} {what}, though it is marked as answerable")
        if not question.answerable and grade is not None and grade >= 3:
            contradictions.append(
                f"{question.query_id} has a passage of grade {grade}, though it is marked as unanswerable"
            )
    return contradictions
