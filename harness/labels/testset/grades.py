"""Grades by several graders: the final grade of a passage, how far graders agree, and where they differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.judge import PairAgreement, pair_agreements
from harness.labels.testset.rows import DisagreementRow, GradeRow, Key, key_of
from harness.values import Document

RULE = (
    "A passage gets the grade that was resolved; else the one that all people who graded it gave; else, if "
    "no person graded it, that of the last model. Where people differ and nothing is resolved, it has none."
)


@dataclass(frozen=True, slots=True)
class FinalGrade:
    """The grade that holds for a passage and who gave it; None if people disagree, unresolved."""

    key: Key
    grade: int | None
    by: str
    evidence: str
    by_model: bool
    answer: str = ""


def final_grades(rows: Iterable[GradeRow], resolved: Iterable[DisagreementRow] = ()) -> dict[Key, FinalGrade]:
    """The grades of all graders merged by `RULE`: at most one grade for every graded passage.

    ``by`` names the graders of the grade; a resolved grade that none of them gave is by nobody, and ``by``
    says so.
    """
    settled = {key_of(row): row.resolved for row in resolved if row.resolved is not None}
    own: dict[Key, list[GradeRow]] = {}
    for row in rows:
        if row.grade is not None:
            own.setdefault(key_of(row), []).append(row)
    found: dict[Key, FinalGrade] = {}
    for key, its in own.items():
        people = [row for row in its if row.by_model != "yes"]
        counting = people or its[-1:]
        grades = {row.grade for row in counting}
        grade = settled.get(key, counting[0].grade if len(grades) == 1 else None)
        evidence = next((row.evidence for row in counting if row.evidence), "")
        by = ", ".join(dict.fromkeys(row.grader for row in counting))
        if grade is not None and grades != {grade}:
            by += ", resolved"
        answer = next((row.answer for row in counting if row.answer and row.grade == grade), "")
        found[key] = FinalGrade(key, grade, by, evidence, not people, answer)
    return found


def agreements(rows: Iterable[GradeRow]) -> list[PairAgreement]:
    """Every two graders that have passages in common, over these."""
    by: dict[str, dict[Hashable, int]] = {}
    for row in rows:
        if row.grade is not None:
            by.setdefault(row.grader, {})[key_of(row)] = row.grade
    return [one for one in pair_agreements(by) if one.items]


def disagreements(
    first: Sequence[GradeRow],
    second: Iterable[GradeRow],
    documents: Mapping[str, Document],
    questions: Mapping[str, str],
    before: Sequence[DisagreementRow],
    decided: Mapping[Key, tuple[int, str]] = MappingProxyType({}),
) -> list[DisagreementRow]:
    """Passages with different grades, and all their grades; the widest apart first.

    ``second`` are the grades that are new. Of ``before`` stays what was resolved, and what the new grades say
    nothing of. ``decided`` are grades that raters have settled on elsewhere, and who recorded them.
    """
    second = [row for row in second if row.grade is not None]
    by_grader: dict[Key, dict[str, int]] = {}
    for row in (*first, *second):
        if row.grade is not None:
            by_grader.setdefault(key_of(row), {})[row.grader] = row.grade
    graders: dict[Key, set[str]] = {}
    for row in second:
        graders.setdefault(key_of(row), set()).add(row.grader)
    listed = {key_of(row): row for row in before}
    found = []
    for key in dict.fromkeys((*listed, *graders)):
        old, own = listed.get(key), by_grader.get(key, {})
        if key in graders and len(set(own.values())) > 1:
            found.append(_disagreement(key, own, questions, documents, old, decided.get(key)))
        elif old and (key not in graders or (old.resolved is not None and not _names(old) & graders[key])):
            found.append(old)
    return sorted(found, key=lambda row: (-row.apart, row.query_id, row.doc_id, row.start))


def _disagreement(
    key: Key,
    own: Mapping[str, int],
    questions: Mapping[str, str],
    documents: Mapping[str, Document],
    old: DisagreementRow | None,
    decided: tuple[int, str] | None,
) -> DisagreementRow:
    query, document, start, end = key
    grades = "; ".join(f"{name} {grade}" for name, grade in own.items())
    apart = max(own.values()) - min(own.values())
    text = documents[document].text[start:end]
    resolved, by = decided or (None, "")
    if old is not None and old.resolved is not None:
        resolved, by = old.resolved, old.resolved_by
    question = questions.get(query, "")
    return DisagreementRow(query, question, document, start, end, grades, apart, resolved, text, by)


def _names(row: DisagreementRow) -> set[str]:
    return {part.rpartition(" ")[0] for part in row.grades.split("; ")}
