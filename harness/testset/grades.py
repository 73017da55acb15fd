"""Grades by several graders → the one that holds for each passage, and how far graders agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.stats.agreement import cohen_kappa, krippendorff_alpha
from harness.testset.rows import DisagreementRow, GradeRow
from harness.types import MAX_GRADE

Key = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True)
class Held:
    """The grade that holds for a passage and who gave it; None where people disagree, unresolved."""

    key: Key
    grade: int | None
    by: str
    evidence: str
    by_model: bool
    answer: str = ""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two graders on the passages that both have graded; a coefficient is NaN where it is undefined."""

    first: str
    second: str
    passages: int
    exact: float
    kappa: float
    kappa_quadratic: float
    alpha_ordinal: float


def key_of_grade(row: GradeRow | DisagreementRow) -> Key:
    """What a grade is of."""
    return row.query_id, row.doc_id, row.start, row.end


def held(rows: Iterable[GradeRow], resolved: Iterable[DisagreementRow] = ()) -> dict[Key, Held]:
    """The grade of every graded passage: as resolved, else what people say, else the latest of the models.

    People who give one passage different grades leave it without one, until the disagreement is resolved.
    """
    settled = {key_of_grade(row): row.resolved for row in resolved if row.resolved is not None}
    own: dict[Key, list[GradeRow]] = {}
    for row in rows:
        if row.grade is not None:
            own.setdefault(key_of_grade(row), []).append(row)
    found: dict[Key, Held] = {}
    for key, its in own.items():
        people = [row for row in its if row.by_model != "yes"]
        said = people or its[-1:]
        grades = {row.grade for row in said}
        grade = settled.get(key, said[0].grade if len(grades) == 1 else None)
        evidence = next((row.evidence for row in said if row.evidence), "")
        by = ", ".join(dict.fromkeys(row.grader for row in said))
        answer = next((row.answer for row in said if row.answer and row.grade == grade), "")
        found[key] = Held(key, grade, by, evidence, not people, answer)
    return found


def agreements(rows: Sequence[GradeRow]) -> list[PairAgreement]:
    """Every two graders that have passages in common, over these."""
    by: dict[str, dict[Key, int]] = {}
    for row in rows:
        if row.grade is not None:
            by.setdefault(row.grader, {})[key_of_grade(row)] = row.grade
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


def said_of(one: PairAgreement) -> str:
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
        f"{one.first} and {one.second}: {one.passages} passages, the same grade for {one.exact:.0%}; {rest}."
    )
