"""Grades become rows of a labels file: every rater's own, or merged by a rule that is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import AnchorConfig, Note
from harness.labels.label_page.items import Item, ItemRating, item_id
from harness.labels.label_page.settled import SettledGrade, settle
from harness.labels.label_page.state import PageState
from harness.labels.labelling.grading import known_labels
from harness.labels.labelling.rows import quote_of, spreadsheet_safe
from harness.labels.labelling.unjudged import covers
from harness.values import Document, LabelError

_MOST = 10


RULE = (
    "A passage gets the grade that all its raters gave, or the one that was decided; the others are left out."
)


@dataclass(frozen=True, slots=True)
class Exported:
    """``rows`` by column; ``open`` items where raters differ and nothing is decided, ``skipped`` ones.

    ``disputed`` are the items that raters graded differently, decided or not: where, who said what, and how
    it was settled.
    """

    rows: tuple[dict[str, Any], ...]
    open: int
    skipped: int
    disputed: tuple[dict[str, Any], ...] = ()


def merged_rows(state: PageState, rater: str = "") -> Exported:
    """The ratings of all raters, or of one, merged by `RULE`: one row for each item with a settled grade.

    Marks that share half with each other, or with a graded passage of the question, are one evidence with it,
    as is all of a question that was given one name. A passage with a single mark in it has the text of the
    mark as its ``answer``. ``judge`` names all raters of a row, ``settled`` how they came to its grade.
    """
    items = {item.item_id: item for item in state.items(wanted=False)}
    labels = state.labels(rater)
    settled = settle(labels, {} if rater else state.decisions())
    disputed = [
        {**_place(items[name]), "settled": spreadsheet_safe(one.how)}
        for name, one in settled.items()
        if one.differs
    ]
    return Exported(
        _rows(items, settled),
        sum(one.grade is None for one in settled.values()),
        len(only_skipped(labels)),
        tuple(disputed),
    )


def rater_rows(state: PageState, rater: str = "") -> Exported:
    """Every rater's own grades, or those of one: a row for each rater and item, ``judge`` the rater.

    Evidence and answers are the rater's own too. Where raters differ, ``decided`` is the grade that was
    decided, and ``decided_by`` says who recorded it; it is nobody's grade.
    """
    items = {item.item_id: item for item in state.items(wanted=False)}
    labels = state.labels()
    together = settle(labels, state.decisions())
    rows: list[dict[str, Any]] = []
    for name in [rater] if rater else sorted({label.rater for label in labels}):
        for row in _rows(items, settle([label for label in labels if label.rater == name], {})):
            all_said = together[item_id(*(row[one] for one in ("query_id", "document", "start", "end")))]
            by = all_said.decided_by
            decided = {"decided": all_said.grade, "decided_by": spreadsheet_safe(by)} if by else {}
            rows.append({**row, "settled": "", **decided})
    skipped = only_skipped([label for label in labels if label.rater == rater] if rater else labels)
    return Exported(tuple(rows), sum(one.grade is None for one in together.values()), len(skipped))


def _rows(items: Mapping[str, Item], settled: Mapping[str, SettledGrade]) -> tuple[dict[str, Any], ...]:
    known = [(items[name], one) for name, one in settled.items() if one.grade is not None]
    known.sort(key=lambda pair: (pair[0].query_id, pair[0].doc_id, pair[0].start, pair[0].end))
    names = _evidence(known)
    return tuple(_row(item, one, names.get(item.item_id, ""), _answer(item, known)) for item, one in known)


def only_skipped(labels: Sequence[ItemRating]) -> frozenset[str]:
    """The items that were skipped and that no one has graded."""
    graded = {label.item_id for label in labels if label.rating.grade is not None}
    return frozenset(label.item_id for label in labels if label.rating.skipped) - graded


def skipped_rows(state: PageState, rater: str = "") -> list[dict[str, Any]]:
    """The passages that were only skipped, by the columns that say where they are."""
    skipped = only_skipped(state.labels(rater))
    return [_place(item) for item in state.items(wanted=False) if item.item_id in skipped]


def _place(item: Item) -> dict[str, Any]:
    return {"query_id": item.query_id, "document": item.doc_id, "start": item.start, "end": item.end}


def new_rows(
    rows: Sequence[Mapping[str, Any]],
    labels: Path,
    documents: Mapping[str, Document],
    anchor: AnchorConfig,
    note: Note = lambda _: None,
) -> list[Mapping[str, Any]]:
    """The rows that a labels file does not have yet.

    Raises LabelError that names those whose passage has another grade there: only people can say which of the
    two is right.
    """
    known = known_labels(labels, documents, anchor, note)
    fresh, differ = [], []
    for row in rows:
        key = (row["query_id"], row["document"], row["start"], row["end"])
        if key not in known:
            fresh.append(row)
        elif known[key][0] != row["grade"]:
            grade, place = known[key]
            differ.append(f"  {place} says {grade}, the page {row['grade']}: {':'.join(map(str, key))}")
    if differ:
        more = [f"  and {len(differ) - _MOST} more"] if len(differ) > _MOST else []
        raise LabelError(
            "Some passages have another grade in the labels file. Remove or correct those rows, then merge "
            "again; nothing was added:\n" + "\n".join([*differ[:_MOST], *more])
        )
    return fresh


def _row(item: Item, one: SettledGrade, evidence: str, answer: str) -> dict[str, Any]:
    return {
        "query_id": item.query_id,
        "document": item.doc_id,
        "page": item.page or "",
        "start": item.start,
        "end": item.end,
        "quote": quote_of(item.text),
        "grade": one.grade,
        "evidence": spreadsheet_safe(evidence),
        "answer": answer if one.grade else "",
        "note": spreadsheet_safe(one.note),
        "judge": spreadsheet_safe(", ".join(one.grades)),
        "settled": spreadsheet_safe(one.how),
    }


def _answer(item: Item, known: Sequence[tuple[Item, SettledGrade]]) -> str:
    """The text of the single relevant mark inside a passage, where it is there once."""
    if item.origin == "mark":
        return ""
    inside = [mark for mark, one in known if one.grade and mark.origin == "mark" and _holds(item, mark)]
    if len(inside) != 1 or item.text.count(inside[0].text) != 1:
        return ""
    return quote_of(inside[0].text)


def _holds(item: Item, mark: Item) -> bool:
    same = (item.query_id, item.doc_id) == (mark.query_id, mark.doc_id)
    return same and item.start <= mark.start and mark.end <= item.end


def _evidence(known: Sequence[tuple[Item, SettledGrade]]) -> dict[str, str]:
    """The name of the evidence that an item states, by item, for those that share it or were named.

    Only what has a grade above 0 states anything.
    """
    groups = _Groups()
    named: dict[tuple[str, str], str] = {}
    relevant = [(item, one) for item, one in known if one.grade]
    for at, (item, one) in enumerate(relevant):
        for _, name in one.evidence:
            groups.join(item.item_id, named.setdefault((item.query_id, name), item.item_id))
        for other, _ in relevant[at + 1 :]:
            if (other.query_id, other.doc_id) != (item.query_id, item.doc_id) or other.start >= item.end:
                # they are in the order of the text
                break
            overlap = covers((item.start, item.end), (other.start, other.end))
            if overlap and "mark" in (item.origin, other.origin):
                groups.join(item.item_id, other.item_id)
    own = {item.item_id: {name for _, name in one.evidence} for item, one in relevant}
    members: dict[str, list[str]] = {}
    for item, _ in relevant:
        members.setdefault(groups.first(item.item_id), []).append(item.item_id)
    return {
        item_id: min((name for one in group for name in own[one]), default=f"mark-{group[0]}")
        for group in members.values()
        if len(group) > 1 or own[group[0]]
        for item_id in group
    }


class _Groups:
    """Groups of items that were joined, directly or through others (union-find)."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def first(self, one: str) -> str:
        """The representative of all that ``one`` was joined with."""
        while self._above.get(one, one) != one:
            one = self._above[one]
        return one

    def join(self, one: str, other: str) -> None:
        """Make both one group."""
        self._above[self.first(one)] = self.first(other)
