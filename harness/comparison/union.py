"""The union of what a judge has graded for several results: all of them can be scored on it alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Span = tuple[str, str, int, int, str]
"""A judged span: query, document, start, end, evidence."""
Grades = Mapping[Span, int | None]
"""The grade of every judged span; None where the judge has failed."""

_WHERE_ASKED = ("name", "base_url")


@dataclass(frozen=True, slots=True)
class Pool:
    """What a result was scored on: the grades, and what identifies the judge (see ``identity``)."""

    judge: Mapping[str, Any]
    grades: Grades


@dataclass(frozen=True, slots=True)
class Union:
    """The spans of all results with one grade each.

    ``added`` counts for every result the graded spans it did not have, ``changed`` those for which it had
    another grade; ``ungraded`` are the spans that have none in any result.
    """

    grades: dict[Span, int | None]
    added: dict[str, int]
    changed: dict[str, int]
    ungraded: tuple[Span, ...]


def identity(judge: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two judges one: all that a run record says of a judge but its name and its address."""
    return {key: value for key, value in judge.items() if key not in _WHERE_ASKED}


def unite(pools: Mapping[str, Pool], judge: Mapping[str, Any], asked: Grades | None = None) -> Union:
    """Put the grades of one judge together; spans that only others have graded stay without a grade.

    Of two grades for a span that of the first result stands. ``asked`` holds grades that the judge has given
    besides, for spans that have none.
    """
    grades: dict[Span, int | None] = {}
    for pool in pools.values():
        same = pool.judge == judge
        for span, grade in pool.grades.items():
            known = grade if same else None
            if grades.get(span) is None:
                grades[span] = known
    for span, grade in (asked or {}).items():
        if grades.get(span) is None:
            grades[span] = grade
    added, changed = {}, {}
    for name, pool in pools.items():
        mine = pool.grades if pool.judge == judge else {}
        added[name] = sum(grade is not None and mine.get(span) is None for span, grade in grades.items())
        changed[name] = sum(
            grade is not None and grades[span] is not None and grade != grades[span]
            for span, grade in mine.items()
        )
    return Union(grades, added, changed, tuple(span for span, grade in grades.items() if grade is None))
