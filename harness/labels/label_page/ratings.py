"""The ratings of raters, and what becomes of them together: agreements, disagreements and decisions."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of a passage: a grade, or why it was skipped; neither as long as it is open.

    ``evidence`` names the fact that the text states: passages of one question that share a name are copies.
    """

    grade: int | None = None
    skipped: str = ""
    note: str = ""
    evidence: str = ""

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do: it has a grade, or was skipped."""
        return self.grade is not None or bool(self.skipped)

    def to_json(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Rating:
        """The inverse of `to_json`."""
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class ItemRating:
    """The rating of one passage by one rater, and the event that gave it; 0: it was never rated."""

    rater: str
    item_id: str
    rating: Rating
    event: int


@dataclass(frozen=True, slots=True)
class Decision:
    """The grade that raters who had disagreed have agreed on, and who recorded it."""

    item_id: str
    rater: str
    grade: int
    note: str


@dataclass(frozen=True, slots=True)
class SettledGrade:
    """The one grade of a passage, the raters who gave one, and their words."""

    item_id: str
    # None if raters differ and nothing is decided
    grade: int | None
    grades: Mapping[str, int]
    note: str
    # the names that raters gave to its evidence
    evidence: frozenset[str]
    # who recorded the grade that was decided
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
        grades = "; ".join(f"{rater} {grade}" for rater, grade in self.grades.items())
        return f"{grades}; decided by {self.decided_by}" if self.decided_by else f"{grades}; open"


def grades_of(labels: Iterable[ItemRating]) -> dict[str, dict[Hashable, int]]:
    """The grades by rater, then by item; skipped items have none."""
    by_rater: dict[str, dict[Hashable, int]] = {}
    for label in sorted(labels, key=lambda label: label.rater):
        if label.rating.grade is not None:
            by_rater.setdefault(label.rater, {})[label.item_id] = label.rating.grade
    return by_rater


def settle(labels: Iterable[ItemRating], decisions: Mapping[str, Decision]) -> dict[str, SettledGrade]:
    """By item, for all items with a grade; items that were only skipped have none and are left out.

    A decision counts only while raters differ: once they agree again, what they agree on counts.
    """
    by_item: dict[str, dict[str, Rating]] = {}
    for label in sorted(labels, key=lambda label: label.rater):
        if label.rating.grade is not None:
            by_item.setdefault(label.item_id, {})[label.rater] = label.rating
    return {
        item_id: _settled(item_id, ratings, decisions.get(item_id)) for item_id, ratings in by_item.items()
    }


def _settled(item_id: str, ratings: Mapping[str, Rating], decision: Decision | None) -> SettledGrade:
    grades = {rater: rating.grade for rater, rating in ratings.items() if rating.grade is not None}
    notes = [rating.note for rating in ratings.values()]
    first, *others = set(grades.values())
    grade, decided_by = None if others else first, ""
    if others and decision is not None:
        grade, decided_by = decision.grade, decision.rater
        notes.append(decision.note)
    words = "; ".join(dict.fromkeys(filter(None, notes)))
    evidence = frozenset(rating.evidence for rating in ratings.values() if rating.evidence)
    return SettledGrade(item_id, grade, grades, words, evidence, decided_by)


def differing(settled: Iterable[SettledGrade], rated: frozenset[str]) -> list[SettledGrade]:
    """Items on which raters differ, as far as a rater may see them who has ``rated`` these items.

    A rater sees those that they have graded or skipped. Someone who has graded nothing is a referee and sees
    all. Undecided ones come first.
    """
    shown = (final for final in settled if final.differs and (not rated or final.item_id in rated))
    return sorted(shown, key=lambda final: final.grade is not None)


def only_skipped(labels: Sequence[ItemRating]) -> frozenset[str]:
    """The items that were skipped and that no one has graded."""
    graded = {label.item_id for label in labels if label.rating.grade is not None}
    return frozenset(label.item_id for label in labels if label.rating.skipped) - graded
