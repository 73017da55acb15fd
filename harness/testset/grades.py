"""Grades by several graders: the final grade of a passage, how far graders agree, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.stats.agreement import cohen_kappa, krippendorff_alpha
from harness.testset.rows import DisagreementRow, GradeRow, Key, key_of
from harness.text.numbers import counted
from harness.types import MAX_GRADE, Document


@dataclass(frozen=True, slots=True)
class FinalGrade:
    """The grade that holds for a passage and who gave it; None if people disagree, unresolved."""

    key: Key
    grade: int | None
    by: str
    evidence: str
    by_model: bool
    answer: str = ""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two graders on the passages that both have graded; a coefficient is NaN if it is undefined."""

    first: str
    second: str
    passages: int
    exact: float
    kappa: float
    kappa_quadratic: float
    alpha_ordinal: float


def final_grades(rows: Iterable[GradeRow], resolved: Iterable[DisagreementRow] = ()) -> dict[Key, FinalGrade]:
    """The grade of every graded passage: as resolved, else by people, else the latest of the models.

    People who give one passage different grades leave it without one, until the disagreement is resolved.
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
        answer = next((row.answer for row in counting if row.answer and row.grade == grade), "")
        found[key] = FinalGrade(key, grade, by, evidence, not people, answer)
    return found


def agreements(rows: Sequence[GradeRow]) -> list[PairAgreement]:
    """Every two graders that have passages in common, over these."""
    by: dict[str, dict[Key, int]] = {}
    for row in rows:
        if row.grade is not None:
            by.setdefault(row.grader, {})[key_of(row)] = row.grade
    found = []
    for first, second in combinations(by, 2):
        shared = [key for key in by[first] if key in by[second]]
        if not shared:
            continue
        one = np.array([by[first][key] for key in shared])
        two = np.array([by[second][key] for key in shared])
        found.append(
            PairAgreement(
                first,
                second,
                len(shared),
                float((one == two).mean()),
                cohen_kappa(one, two, MAX_GRADE + 1),
                cohen_kappa(one, two, MAX_GRADE + 1, "quadratic"),
                krippendorff_alpha(np.array([one, two], dtype=float)),
            )
        )
    return found


def agreement_sentence(one: PairAgreement) -> str:
    """An agreement in a sentence."""
    figures = [
        f"{name} {value:.2f}"
        for name, value in (
            ("Cohen's kappa", one.kappa),
            ("quadratic", one.kappa_quadratic),
            ("Krippendorff's alpha (ordinal)", one.alpha_ordinal),
        )
        if value == value
    ]
    rest = ", ".join(figures) or "coefficients undefined: one grade throughout"
    return (
        f"{one.first} and {one.second}: {counted(one.passages, 'passage')}, the same grade for "
        f"{one.exact:.0%}; {rest}."
    )


def disagreements(
    first: Sequence[GradeRow],
    second: Iterable[GradeRow],
    documents: Mapping[str, Document],
    questions: Mapping[str, str],
    before: Sequence[DisagreementRow],
) -> list[DisagreementRow]:
    """Passages with different grades, and all their grades; the widest apart first.

    ``second`` are the grades that are new. Of ``before`` stays what was resolved, and what the new grades say
    nothing of.
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
            found.append(_disagreement(key, own, questions, documents, old.resolved if old else None))
        elif old and (key not in graders or (old.resolved is not None and not _names(old) & graders[key])):
            found.append(old)
    return sorted(found, key=lambda row: (-row.apart, row.query_id, row.doc_id, row.start))


def _disagreement(
    key: Key,
    own: Mapping[str, int],
    questions: Mapping[str, str],
    documents: Mapping[str, Document],
    resolved: int | None,
) -> DisagreementRow:
    query, document, start, end = key
    grades = "; ".join(f"{name} {grade}" for name, grade in own.items())
    apart = max(own.values()) - min(own.values())
    text = documents[document].text[start:end]
    return DisagreementRow(
        query, questions.get(query, ""), document, start, end, grades, apart, resolved, text
    )


def _names(row: DisagreementRow) -> set[str]:
    return {part.rpartition(" ")[0] for part in row.grades.split("; ")}
