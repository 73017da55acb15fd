"""What a folder of results compares, as items of an order of labelling, with the grades of people."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.corpus import AnchorConfig
from harness.errors import LabelError
from harness.labelling.grading import known_labels
from harness.labelling.skips import read_skips
from harness.labelling.stored import Opened, open_results
from harness.labelling.unjudged import LENGTH, Retrieved, Wanted, covers, retrieved_of
from harness.ordering.order import ByVerdict
from harness.ordering.pool import Item
from harness.progress import Reporter
from harness.report import cells_of
from harness.text.passages import passage_spans
from harness.text.spans import Span, trim
from harness.types import Document

# (query, document, range) with a grade
GradedSpan = tuple[str, str, Span, int]
Grades = Mapping[tuple[str, str], Sequence[tuple[Span, int]]]


@dataclass(frozen=True, slots=True)
class Contest:
    """The passages of all settings, one ``wanted`` for each of ``items``, and the ``order`` to label them in.

    ``people`` are the grades of the labels file, ``skipped`` the names of the passages that people have set
    aside. ``judge`` names the language model whose grades are corrected, '' for none.
    """

    opened: Opened
    labels: Path
    wanted: tuple[Wanted, ...]
    items: tuple[Item, ...]
    order: ByVerdict
    people: tuple[GradedSpan, ...]
    skipped: frozenset[str]
    judge: str

    def graded(self, more: Iterable[GradedSpan] = ()) -> dict[str, int]:
        """The grade of every item that the labels file, or ``more``, covers by half of either."""
        known = _by_document((*self.people, *more))
        found = {}
        for one in self.wanted:
            grade = _grade(known, one.query_id, one.doc_id, (one.start, one.end))
            if grade is not None:
                found[name_of(one)] = grade
        return found


def contest_of(folder: Path, top: int, count: int, labels: Path | None, reporter: Reporter) -> Contest:
    """Read results and labels: passages among the first ``top`` of all settings, to draw ``count`` at a time.

    ``labels`` is the file of labels, by default that of the configuration. Raises LabelError where there is
    no file of labels to go by.
    """
    opened = open_results(folder, reporter)
    config = opened.record["config"]
    path = labels or (Path(config["labels"]) if config.get("labels") else None)
    if path is None:
        raise LabelError(
            f"{folder} was scored without labels. Name the file that people's grades go into: --labels."
        )
    anchor = AnchorConfig.model_validate(config.get("anchor", {}))
    there = known_labels(path, opened.documents, anchor, reporter.note)
    people = tuple(
        (query, doc, (start, end), grade) for (query, doc, start, end), (grade, _) in there.items()
    )
    judge = config.get("relevance", {}).get("judge", {}).get("kind", "labels")
    said = _judged(folder) if judge != "labels" else {}
    wanted, items = _pooled(retrieved_of(folder, top, opened.answerable), opened.documents, said)
    settings = {name for item in items for name in item.ranks}
    names = tuple(one["name"] for one in config["settings"] if one["name"] in settings)
    order = ByVerdict(names, path.with_suffix(".order.json"), k=top, batch=count)
    skipped = frozenset(_name(query, doc, (start, end)) for query, doc, start, end in read_skips(path))
    name = "" if judge == "labels" else _judge_name(opened)
    return Contest(opened, path, tuple(wanted), tuple(items), order, people, skipped, name)


def name_of(one: Wanted) -> str:
    """The name of a passage in an order of labelling."""
    return _name(one.query_id, one.doc_id, (one.start, one.end))


def _pooled(
    retrieved: Iterator[Retrieved], documents: Mapping[str, Document], said: Grades
) -> tuple[list[Wanted], list[Item]]:
    """Every passage that a ranked chunk holds, with the first rank at which each setting shows it."""
    passages: dict[str, Sequence[Span]] = {}
    ranks: dict[tuple[str, str, Span], dict[str, int]] = {}
    above: dict[tuple[str, str, Span], dict[Span, None]] = {}
    for row in retrieved:
        document = documents.get(row.chunk.doc_id)
        if document is None:
            continue
        if row.chunk.doc_id not in passages:
            passages[row.chunk.doc_id] = passage_spans(document.text, LENGTH)
        for span in _held(row, document, passages[row.chunk.doc_id]):
            key = (row.query_id, row.chunk.doc_id, span)
            own = ranks.setdefault(key, {})
            own[row.setting] = min(row.rank, own.get(row.setting, row.rank))
            before = {one: None for one in row.chunk.before if one[1] <= span[0]}
            above.setdefault(key, {}).update(before)
    wanted = [
        Wanted(query, doc, *span, frozenset(own), min(own.values()), tuple(above[query, doc, span]))
        for (query, doc, span), own in ranks.items()
    ]
    items = [
        Item(_name(query, doc, span), query, own, _grade(said, query, doc, span))
        for (query, doc, span), own in ranks.items()
    ]
    return wanted, items


def _held(row: Retrieved, document: Document, passages: Sequence[Span]) -> list[Span]:
    """The passages that share half of either with the chunk; the chunk itself where there is none."""
    own = trim(document.text, (row.chunk.start, row.chunk.end))
    if own[0] >= own[1]:
        return []
    first = bisect_right(passages, own[0], key=lambda span: span[1])
    last = bisect_left(passages, own[1], key=lambda span: span[0])
    return [span for span in passages[first:last] if covers(own, span)] or [own]


def _judged(folder: Path) -> Grades:
    """The grades that settings were scored on, by query and document."""
    return _by_document(
        (row["query_id"], row["document"], (int(row["start"]), int(row["end"])), int(row["grade"]))
        for row in cells_of(folder, "judgments")
        if row["grade"] and row.get("scored_on", "yes") == "yes"
    )


def _by_document(graded: Iterable[GradedSpan]) -> Grades:
    found: dict[tuple[str, str], list[tuple[Span, int]]] = {}
    for query, document, (start, end), grade in graded:
        found.setdefault((query, document), []).append(((start, end), grade))
    return found


def _grade(grades: Grades, query_id: str, doc_id: str, span: Span) -> int | None:
    """The highest grade of what covers a passage, None where nothing does."""
    own = [grade for other, grade in grades.get((query_id, doc_id), ()) if covers(span, other)]
    return max(own, default=None)


def _judge_name(opened: Opened) -> str:
    judge = opened.record.get("judge", {})
    return str(judge.get("model") or judge.get("name") or "the judge")


def _name(query_id: str, doc_id: str, span: Span) -> str:
    return f"{query_id} {doc_id}:{span[0]}-{span[1]}"
