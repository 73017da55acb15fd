"""A finished test set as values: questions, graded spans, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.labels.testset.grades import final_grades
from harness.labels.testset.rows import AnswerRow, Candidate, DisagreementRow, GradeRow
from harness.labels.testset.state import SetState
from harness.labels.testset.steps import chosen_of
from harness.values import ConfigError, Document


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
class Label:
    """A graded span. ``text`` is its text, ``by`` who graded, ``answer`` the part that answers."""

    query_id: str
    doc_id: str
    start: int
    end: int
    page: int | None
    grade: int
    evidence: str
    by: str
    text: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class FinishedTestset:
    """The test set to export. ``unresolved`` passages are left unjudged; ``contradictions`` are in words."""

    questions: tuple[TestQuestion, ...]
    labels: tuple[Label, ...]
    unresolved: int
    contradictions: tuple[str, ...]


def assemble(state: SetState, documents: Mapping[str, Document]) -> FinishedTestset:
    """Put the tables together; raises ConfigError if nothing has been graded."""
    chosen = chosen_of(state)
    found = final_grades(state.rows(GradeRow), state.rows(DisagreementRow))
    ids = {one.query_id for one in chosen}
    own = [one for key, one in found.items() if key[0] in ids and key[1] in documents]
    if not any(one.grade is not None for one in own):
        raise ConfigError(
            f"{state.path(GradeRow)} holds no grade of a kept question. Grade first: harness testset "
            f"{state.folder} grade"
        )
    answers = {row.query_id: row for row in state.rows(AnswerRow)}
    place = {one.query_id: at for at, one in enumerate(chosen)}
    labels = [
        label_of(query_id, (documents[doc_id], start, end), one.grade, one.by, one.evidence, one.answer)
        for one in own
        if one.grade is not None
        for query_id, doc_id, start, end in [one.key]
    ]
    labels.sort(key=lambda one: (place[one.query_id], one.doc_id, one.start))
    questions = tuple(_question(one, answers.get(one.query_id)) for one in chosen)
    return FinishedTestset(
        questions,
        tuple(labels),
        sum(one.grade is None for one in own),
        tuple(_contradictions(questions, labels)),
    )


def _question(one: Candidate, answer: AnswerRow | None) -> TestQuestion:
    """A question with its answer, unless it was reworded since."""
    fits = answer is not None and answer.question == one.text
    return TestQuestion(
        one.query_id,
        one.text,
        one.kind,
        one.answerable == "yes",
        answer.answer if answer and fits else "",
        answer.by or "person" if answer and fits and answer.answer else "",
        one.note,
    )


def label_of(
    query_id: str, span: tuple[Document, int, int], grade: int, by: str, evidence: str = "", answer: str = ""
) -> Label:
    """A graded range as a label; ``answer`` is the part of its text that answers."""
    document, start, end = span
    page, text = document.page_of(start), document.text[start:end]
    return Label(query_id, document.doc_id, start, end, page, grade, evidence, by, text, answer)


def _contradictions(questions: Sequence[TestQuestion], labels: Sequence[Label]) -> list[str]:
    best: dict[str, int] = {}
    for one in labels:
        best[one.query_id] = max(best.get(one.query_id, 0), one.grade)
    found = []
    for question in questions:
        if question.answerable and best.get(question.query_id, 0) < 1:
            what = "was not graded at all" if question.query_id not in best else "has no relevant passage"
            found.append(f"{question.query_id} {what}, though it is marked as answerable")
        if not question.answerable and best.get(question.query_id, 0) >= 3:
            found.append(
                f"{question.query_id} has a passage of grade {best[question.query_id]}, though it is "
                "marked as unanswerable"
            )
    return found
