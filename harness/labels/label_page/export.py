"""Grades become rows of a labels file: every rater's own, or merged by a rule that is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.labels.label_page.page_state import PageState
from harness.labels.label_page.ratings import SettledGrade, only_skipped, settle
from harness.labels.labelling.label_rows import quote_of
from harness.labels.labelling.passages import PassageToGrade, covers

Rows = tuple[dict[str, Any], ...]
Settled = Sequence[tuple[PassageToGrade, SettledGrade]]

RULE = (
    "A passage gets the grade that all its raters gave, or the one that was decided; the others are left out."
)


@dataclass(frozen=True, slots=True)
class Exported:
    """Grades as ``rows`` by column."""

    rows: Rows
    # how many items were skipped and graded by no one
    skipped: int
    # how many items raters differ on without a decision; of merged grades alone
    open: int = 0
    # where the items are that raters graded differently, who said what, and how it was settled
    disputed: Rows = ()


def merged_rows(state: PageState, rater: str = "") -> Exported:
    """The ratings of all raters, or of one, merged by `RULE`: one row for each item with a settled grade.

    Marks that share half with each other, or with a graded passage of the question, are one evidence with it,
    as is all of a question that was given one name. A passage with a single mark in it has the text of the
    mark as its ``answer``. ``judge`` names all raters of a row, ``settled`` how they came to its grade.
    """
    items, labels = state.items(wanted=False), state.labels(rater)
    settled = settle(labels, {} if rater else state.decisions())
    disputed = (
        {**_place(items[name]), "settled": final.how} for name, final in settled.items() if final.differs
    )
    left = sum(final.grade is None for final in settled.values())
    rows = tuple(row for _, row in _rows(items, settled))
    return Exported(rows, len(only_skipped(labels)), left, tuple(disputed))


def rater_rows(state: PageState, rater: str = "") -> Exported:
    """Every rater's own grades, or those of one: a row for each rater and item, ``judge`` the rater.

    Evidence and answers are the rater's own too. Where raters differ, ``decided`` is the grade that was
    decided, and ``decided_by`` says who recorded it; it is nobody's grade.
    """
    items, labels = state.items(wanted=False), state.labels()
    together = settle(labels, state.decisions())
    rows: list[dict[str, Any]] = []
    for name in [rater] if rater else sorted({label.rater for label in labels}):
        for item_id, row in _rows(items, settle([label for label in labels if label.rater == name], {})):
            by = together[item_id].decided_by
            decided = {"decided": together[item_id].grade, "decided_by": by} if by else {}
            rows.append({**row, "settled": "", **decided})
    return Exported(tuple(rows), len(only_skipped(state.labels(rater))))


def _place(item: PassageToGrade) -> dict[str, Any]:
    return {"query_id": item.query_id, "document": item.doc_id, "start": item.start, "end": item.end}


def _rows(
    items: Mapping[str, PassageToGrade], settled: Mapping[str, SettledGrade]
) -> list[tuple[str, dict[str, Any]]]:
    """The rows of all items with a grade, with their ids, in the order of the text."""
    graded = [(items[name], final) for name, final in settled.items() if final.grade is not None]
    graded.sort(key=lambda pair: pair[0].key)
    relevant = [(item, final) for item, final in graded if final.grade]
    names = _evidence(relevant)
    return [
        (
            final.item_id,
            {
                **item.row(),
                "grade": final.grade,
                "evidence": names.get(final.item_id, ""),
                "answer": _answer(item, relevant) if final.grade else "",
                "note": final.note,
                "judge": ", ".join(final.grades),
                "settled": final.how,
            },
        )
        for item, final in graded
    ]


def _answer(item: PassageToGrade, relevant: Settled) -> str:
    """The text of the single relevant mark inside a passage, where it is there once."""
    inside = [
        mark.text
        for mark, _ in relevant
        if mark.origin == "mark"
        and (item.query_id, item.doc_id) == (mark.query_id, mark.doc_id)
        and item.start <= mark.start
        and mark.end <= item.end
    ]
    if item.origin == "mark" or len(inside) != 1 or item.text.count(inside[0]) != 1:
        return ""
    return quote_of(inside[0])


def _evidence(relevant: Settled) -> dict[str, str]:
    """The name of the evidence that an item states, by item, for those that share it or were named.

    Items are in the order of the text. Those that state one fact become one group, name by name and pair by
    pair.
    """
    group_of = {final.item_id: [final.item_id] for _, final in relevant}
    named: dict[tuple[str, str], str] = {}

    def join(first: str, second: str) -> None:
        group, other = group_of[first], group_of[second]
        if group is not other:
            group += other
            group_of.update(dict.fromkeys(other, group))

    for at, (item, final) in enumerate(relevant):
        for name in final.evidence:
            join(named.setdefault((item.query_id, name), final.item_id), final.item_id)
        for other, second in relevant[at + 1 :]:
            if (other.query_id, other.doc_id) != (item.query_id, item.doc_id) or other.start >= item.end:
                break
            overlap = covers((item.start, item.end), (other.start, other.end))
            if overlap and "mark" in (item.origin, other.origin):
                join(final.item_id, second.item_id)
    names = {final.item_id: final.evidence for _, final in relevant}
    order = {final.item_id: at for at, (_, final) in enumerate(relevant)}
    return {
        item_id: min(
            (name for member in group for name in names[member]),
            default=f"mark-{min(group, key=order.__getitem__)}",
        )
        for item_id, group in group_of.items()
        if len(group) > 1 or names[item_id]
    }
