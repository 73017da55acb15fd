"""A finished test set as values: questions, graded spans by several graders, and what was left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.data import answer_span
from harness.judge import PairAgreement, pair_agreements
from harness.labels.testset.set_state import SetState
from harness.labels.testset.testset_rows import AnswerRow, DisagreementRow, GradeRow, Key
from harness.values import ConfigError, Document, Judgment, by_key

RULE = (
    "A passage gets the grade that was resolved; else the one that all people who graded it gave; else, if "
    "no person graded it, that of the last model. Where people differ and nothing is resolved, it has none."
)


def final_grades(rows: Iterable[GradeRow], resolved: Iterable[DisagreementRow] = ()) -> dict[Key, GradeRow]:
    """The grades of all graders merged by `RULE`: at most one for every graded passage.

    Its ``grader`` names all who gave it; of a resolved grade that none of them gave it says so.
    Its ``grade`` is None if people disagree, unresolved.
    """
    settled = {row.key: row.resolved for row in resolved if row.resolved is not None}
    by_passage = by_key((row.key, row) for row in rows if row.grade is not None)
    merged: dict[Key, GradeRow] = {}
    for key, passage_rows in by_passage.items():
        people = [row for row in passage_rows if not row.by_model]
        counting = people or passage_rows[-1:]
        grades = {row.grade for row in counting}
        grade = settled.get(key, counting[0].grade if len(grades) == 1 else None)
        by = ", ".join(dict.fromkeys(row.grader for row in counting))
        if grade is not None and grades != {grade}:
            by += ", resolved"
        evidence = next((row.evidence for row in counting if row.evidence), "")
        answer = next((row.answer for row in counting if row.answer and row.grade == grade), "")
        merged[key] = GradeRow(*key, grade, by, not people, evidence, answer=answer)
    return merged


def agreements(rows: Iterable[GradeRow]) -> list[PairAgreement]:
    """The agreement of every two graders, over the passages that both have graded."""
    by_grader: dict[str, dict[Hashable, int]] = {}
    for row in rows:
        if row.grade is not None:
            by_grader.setdefault(row.grader, {})[row.key] = row.grade
    return [agreement for agreement in pair_agreements(by_grader) if agreement.items]


def disagreements(
    first: Sequence[GradeRow],
    second: Sequence[GradeRow],
    documents: Mapping[str, Document],
    questions: Mapping[str, str],
    before: Sequence[DisagreementRow],
    decided: Mapping[Key, tuple[int, str]] = MappingProxyType({}),
) -> list[DisagreementRow]:
    """Passages with different grades, and all their grades; the widest apart first.

    ``second`` are the grades that are new. Of ``before`` stays what was resolved, and what the new grades say
    nothing of. ``decided`` are grades that raters have settled on elsewhere, and who recorded them.
    """
    graders = by_key((row.key, row.grader) for row in second if row.grade is not None)
    graded = by_key((row.key, (row.grader, row.grade)) for row in (*first, *second) if row.grade is not None)
    listed = {row.key: row for row in before}
    differ = []
    for key in dict.fromkeys((*listed, *graders)):
        old, by_grader, new = listed.get(key), dict(graded.get(key, ())), set(graders.get(key, ()))
        if new and len(set(by_grader.values())) > 1:
            query_id, doc_id, start, end = key
            settled = decided.get(key, (None, ""))
            if old is not None and old.resolved is not None:
                settled = old.resolved, old.resolved_by
            differ.append(
                DisagreementRow(
                    *key,
                    questions.get(query_id, ""),
                    "; ".join(f"{name} {grade}" for name, grade in by_grader.items()),
                    max(by_grader.values()) - min(by_grader.values()),
                    settled[0],
                    documents[doc_id].text[start:end],
                    settled[1],
                )
            )
        elif old and (not new or (old.resolved is not None and not _names(old) & new)):
            differ.append(old)
    return sorted(differ, key=lambda row: (-row.apart, row.query_id, row.doc_id, row.start))


def _names(row: DisagreementRow) -> set[str]:
    return {part.rpartition(" ")[0] for part in row.grades.split("; ")}


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

    def text_of(self, label: Judgment) -> str:
        """The text of a graded span."""
        return self.documents[label.doc_id].text[label.start : label.end]

    @property
    def contradictions(self) -> list[str]:
        """What does not fit together, in words."""
        best: dict[str, int] = {}
        for label in self.labels:
            best[label.query_id] = max(best.get(label.query_id, 0), label.grade or 0)
        faults = []
        for question in self.questions:
            name, grade = question.query_id, best.get(question.query_id)
            if question.answerable and not grade:
                what = "has no settled grade" if grade is None else "has no relevant passage"
                faults.append(f"{name} {what}, though it is marked as answerable")
            if not question.answerable and grade is not None and grade >= 3:
                faults.append(f"{name} has a passage of grade {grade}, though it is marked as unanswerable")
        return faults


def assemble(state: SetState, documents: Mapping[str, Document]) -> FinishedTestset:
    """Put the tables together; raises ConfigError if nothing has been graded, or an answer is nowhere."""
    chosen = state.chosen()
    place = {candidate.query_id: at for at, candidate in enumerate(chosen)}
    rows = [
        row
        for row in final_grades(state.rows(GradeRow), state.rows(DisagreementRow)).values()
        if row.query_id in place and row.doc_id in documents
    ]
    graded = [row for row in rows if row.grade is not None]
    if not graded:
        disputed = f"Fill the column resolved of {state.path(DisagreementRow)}."
        remedy = disputed if state.rows(DisagreementRow) else f"Grade first: {state.command} grade"
        raise ConfigError(f"{state.path(GradeRow)} holds no settled grade of a kept question. {remedy}")
    graded.sort(key=lambda row: (place[row.query_id], row.doc_id, row.start))
    labels = tuple(_label(state, row, documents[row.doc_id]) for row in graded)
    # of a question that was reworded since it was answered, the answer does not count
    answers = {(row.query_id, row.question): row for row in state.rows(AnswerRow) if row.answer}
    questions = []
    for candidate in chosen:
        answer_row = answers.get((candidate.query_id, candidate.text))
        answer, by = (
            (answer_row.answer, answer_row.by or "person")
            if answer_row
            else (candidate.answer, candidate.by or "person")
        )
        questions.append(
            TestQuestion(
                candidate.query_id,
                candidate.text,
                candidate.kind,
                candidate.answerable,
                answer,
                by,
                candidate.note,
            )
        )
    unresolved = len(rows) - len(graded)
    return FinishedTestset(tuple(questions), labels, documents, unresolved)


def _label(state: SetState, row: GradeRow, document: Document) -> Judgment:
    answer = answer_span(row.answer, document, row.start, row.end) if row.answer else None
    if row.answer and answer is None:
        raise ConfigError(
            f"{state.path(GradeRow)}: the answer of {row.query_id}, {row.doc_id} {row.start} to {row.end} is "
            "not in its passage. Write it as it is there, or leave it empty."
        )
    return Judgment(*row.key, row.grade, row.evidence, judge=row.grader, answer=answer)
