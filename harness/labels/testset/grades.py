"""Grades by several graders: the final grade of a passage, how far graders agree, and where they differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType

from harness.judge import PairAgreement, pair_agreements
from harness.labels.testset.rows import DisagreementRow, GradeRow, Key
from harness.values import Document

RULE = (
    "A passage gets the grade that was resolved; else the one that all people who graded it gave; else, if "
    "no person graded it, that of the last model. Where people differ and nothing is resolved, it has none."
)


def final_grades(rows: Iterable[GradeRow], resolved: Iterable[DisagreementRow] = ()) -> dict[Key, GradeRow]:
    """The grades of all graders merged by `RULE`: at most one for every graded passage.

    Its ``grader`` names all who gave it; a resolved grade that none of them gave is by nobody, and that is
    said there. Its ``grade`` is None if people disagree, unresolved.
    """
    settled = {row.key: row.resolved for row in resolved if row.resolved is not None}
    by_passage: dict[Key, list[GradeRow]] = {}
    for row in rows:
        if row.grade is not None:
            by_passage.setdefault(row.key, []).append(row)
    merged: dict[Key, GradeRow] = {}
    for key, given in by_passage.items():
        people = [row for row in given if not row.by_model]
        counting = people or given[-1:]
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
    """Every two graders that have passages in common, over these."""
    by_grader: dict[str, dict[Hashable, int]] = {}
    for row in rows:
        if row.grade is not None:
            by_grader.setdefault(row.grader, {})[row.key] = row.grade
    return [one for one in pair_agreements(by_grader) if one.items]


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
    by_passage: dict[Key, dict[str, int]] = {}
    graders: dict[Key, set[str]] = {}
    for rows, new in ((first, False), (second, True)):
        for row in rows:
            if row.grade is not None:
                by_passage.setdefault(row.key, {})[row.grader] = row.grade
                if new:
                    graders.setdefault(row.key, set()).add(row.grader)
    listed = {row.key: row for row in before}
    differ = []
    for key in dict.fromkeys((*listed, *graders)):
        old, given = listed.get(key), by_passage.get(key, {})
        if key in graders and len(set(given.values())) > 1:
            query_id, doc_id, start, end = key
            settled = decided.get(key, (None, ""))
            if old is not None and old.resolved is not None:
                settled = old.resolved, old.resolved_by
            differ.append(
                DisagreementRow(
                    *key,
                    questions.get(query_id, ""),
                    "; ".join(f"{name} {grade}" for name, grade in given.items()),
                    max(given.values()) - min(given.values()),
                    settled[0],
                    documents[doc_id].text[start:end],
                    settled[1],
                )
            )
        elif old and (key not in graders or (old.resolved is not None and not _names(old) & graders[key])):
            differ.append(old)
    return sorted(differ, key=lambda row: (-row.apart, row.query_id, row.doc_id, row.start))


def _names(row: DisagreementRow) -> set[str]:
    return {part.rpartition(" ")[0] for part in row.grades.split("; ")}
