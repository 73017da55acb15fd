"""The ratings of all raters together: agreements, disagreements and decisions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.labels.label_page.items import ItemRating
from harness.labels.label_page.state import Decision


@dataclass(frozen=True, slots=True)
class SettledGrade:
    """The one grade of an item, the raters who gave one, and their words.

    ``grade`` is None if raters differ and nothing is decided; ``decided_by`` recorded the one that was.
    ``evidence`` are the names that raters gave, each with its rater.
    """

    item_id: str
    grade: int | None
    grades: Mapping[str, int]
    note: str
    evidence: tuple[tuple[str, str], ...]
    decided_by: str = ""

    @property
    def differs(self) -> bool:
        """Whether two raters gave different grades."""
        return len(set(self.grades.values())) > 1

    @property
    def how(self) -> str:
        """How the grade came about: `one rater`, `agreed`, or what raters said and who decided."""
        if not self.differs:
            return "agreed" if len(self.grades) > 1 else "one rater"
        said = "; ".join(f"{rater} {grade}" for rater, grade in self.grades.items())
        return f"{said}; decided by {self.decided_by}" if self.decided_by else f"{said}; open"


def grades_of(labels: Iterable[ItemRating]) -> dict[str, dict[Hashable, int]]:
    """The grades by rater, then by item; skipped items have none."""
    found: dict[str, dict[Hashable, int]] = {}
    for label in sorted(labels, key=lambda one: one.rater):
        if label.rating.grade is not None:
            found.setdefault(label.rater, {})[label.item_id] = label.rating.grade
    return found


def settle(labels: Sequence[ItemRating], decisions: Mapping[str, Decision]) -> dict[str, SettledGrade]:
    """By item, for all items with a grade; items that were only skipped have none and are left out.

    A decision counts only while raters differ: once they agree again, what they agree on counts.
    """
    by_item: dict[str, list[ItemRating]] = {}
    for label in labels:
        if label.rating.grade is not None:
            by_item.setdefault(label.item_id, []).append(label)
    return {item: _settled(item, own, decisions.get(item)) for item, own in by_item.items()}


def differing(settled: Iterable[SettledGrade], rater: str, done: frozenset[str]) -> list[SettledGrade]:
    """Items on which raters differ, as far as ``rater`` may see them: only items that they have done.

    ``done`` are the items that the rater has graded or skipped. Someone who has graded nothing is a referee
    and sees all.
    """
    shown = (one for one in settled if one.differs and (not done or one.item_id in done))
    return sorted(shown, key=lambda one: one.grade is not None)


def _settled(item_id: str, labels: Sequence[ItemRating], decision: Decision | None) -> SettledGrade:
    ordered = sorted(labels, key=lambda label: label.rater)
    grades = {label.rater: label.rating.grade for label in ordered if label.rating.grade is not None}
    distinct = set(grades.values())
    notes = dict.fromkeys(label.rating.note for label in ordered if label.rating.note)
    grade, decided_by = distinct.pop() if len(distinct) == 1 else None, ""
    if len(grades) > 1 and grade is None and decision is not None:
        grade, decided_by = decision.grade, decision.rater
        notes[decision.note] = None
    evidence = tuple((label.rater, label.rating.evidence) for label in ordered if label.rating.evidence)
    words = "; ".join(note for note in notes if note)
    return SettledGrade(item_id, grade, grades, words, evidence, decided_by)
