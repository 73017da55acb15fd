"""Judgments as arrays: graded spans of documents, as they are and with longer or shorter spans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from harness.measures.ragged import AnyArray, Bools, Ints, place_in
from harness.values import Judgment

PADDING = (100, 250, 700)
MOST_GROWN = 700
"""Sentences add no more characters than this on either side: tables and logs may have no sentence ends."""
TRIMMED = (50, 25)
"""Per cent of a span that trimming leaves, from its middle."""
AS_LABELLED = "as labelled"
S = TypeVar("S", bound="Spans")


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of documents for queries, one row each.

    ``query`` [S] numbers the queries of a ``SpanQrels``, ``doc`` [S] is an index into ``doc_ids``; ``start``
    and ``end`` are half-open character offsets.
    """

    doc_ids: tuple[str, ...]
    query: Ints
    doc: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: AnyArray | Bools) -> Self:
        """Some of the rows; the meaning of their numbers is unchanged."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen: dict[str, Any] = {
            n: column[rows] for n, column in columns.items() if isinstance(column, np.ndarray)
        }
        return replace(self, **chosen)


@dataclass(frozen=True, slots=True)
class SpanQrels(Spans):
    """The scored spans of all queries, one row each, sorted by query, document, start, end and evidence.

    ``query`` and ``doc`` [S] are indices into ``query_ids`` and ``doc_ids`` (sorted by name, unless
    ``for_queries`` puts queries in another order); ``grade`` is 0 and up. ``evidence`` [S] numbers the facts
    over all queries: spans of one query with the same non-empty name share a number, any other span has its
    own. ``unscored`` are the spans that have no grade, as a judgment failed: they may hold any. ``answer``
    [S, 2] is the part of each span that answers, start and end; both -1 if the span names none. None if no
    span does.
    """

    query_ids: tuple[str, ...]
    grade: Ints
    evidence: Ints
    unscored: Spans
    answer: Ints | None = None

    @property
    def n_evidence(self) -> int:
        """How many facts there are over all queries."""
        return int(self.evidence.max()) + 1 if len(self) else 0

    @classmethod
    def from_judgments(cls, judgments: Iterable[Judgment]) -> SpanQrels:
        """Read judgments; the same one given twice counts once.

        Raises ValueError for a span without extent or with a negative start or grade, and for a span that has
        two grades as the same evidence: the conflict has to be resolved before scoring.
        """
        rows = list(judgments)
        scored = [row for row in rows if row.grade is not None]
        for row in rows:
            _check(row)
        scored.sort(key=_place)
        scored = _without_repeats(scored)
        unscored = _unscored(rows, scored)
        query_ids, query = _encode([row.query_id for row in scored], [row.query_id for row in unscored])
        doc_ids, doc = _encode([row.doc_id for row in scored], [row.doc_id for row in unscored])
        return cls(
            doc_ids,
            query[0],
            doc[0],
            *_ends(scored),
            query_ids,
            np.array([row.grade for row in scored], dtype=np.int64),
            _number_evidence(scored),
            Spans(doc_ids, query[1], doc[1], *_ends(unscored)),
            _answers(scored),
        )

    def for_queries(self, query_ids: tuple[str, ...]) -> SpanQrels:
        """The spans of these queries alone, in their order; documents and evidence keep their numbers."""
        if query_ids == self.query_ids:
            return self
        place = place_in(self.query_ids, query_ids)
        unscored = _of_queries(self.unscored, place)
        return replace(_of_queries(self, place), query_ids=query_ids, unscored=unscored)

    def evidence_grades(self) -> tuple[Ints, Ints]:
        """The query and the best grade of every evidence, [E] each; -1 for an evidence with no row here."""
        owner = np.full(self.n_evidence, -1, dtype=np.int64)
        best = np.full(self.n_evidence, -1, dtype=np.int64)
        owner[self.evidence] = self.query
        np.maximum.at(best, self.evidence, self.grade)
        return owner, best


def _of_queries(spans: S, place: Ints) -> S:
    """The rows of queries that have a new ``place``, not -1, query by query."""
    spans = replace(spans, query=place[spans.query])
    rows = np.flatnonzero(spans.query >= 0)
    return spans.take(rows[np.argsort(spans.query[rows], kind="stable")])


def _ends(rows: Sequence[Judgment]) -> tuple[Ints, Ints]:
    """Where each span begins and ends, [S] each."""
    ends = np.array([[row.start for row in rows], [row.end for row in rows]], dtype=np.int64)
    return ends[0], ends[1]


def _place(row: Judgment) -> tuple[str, str, int, int, str]:
    return row.query_id, row.doc_id, row.start, row.end, row.evidence


def _check(row: Judgment) -> None:
    where = f"query {row.query_id}: the judged span {row.doc_id}:{row.start}-{row.end}"
    if row.start < 0 or row.end <= row.start:
        raise ValueError(f"{where} has no extent; a span needs 0 <= start < end")
    if row.answer is not None and not row.start <= row.answer[0] < row.answer[1] <= row.end:
        raise ValueError(f"{where} does not hold its answer, {row.answer[0]}-{row.answer[1]}")
    if row.grade is not None and row.grade < 0:
        raise ValueError(f"{where} has the grade {row.grade}; use 0 for not relevant, None for not scored")


def _without_repeats(ordered: Sequence[Judgment]) -> list[Judgment]:
    kept: list[Judgment] = []
    for row in ordered:
        if not kept or _place(kept[-1]) != _place(row):
            kept.append(row)
        elif kept[-1].grade != row.grade:
            raise ValueError(
                f"query {row.query_id}: the span {row.doc_id}:{row.start}-{row.end} has two grades, "
                f"{kept[-1].grade} and {row.grade}; keep one judge or merge them before scoring"
            )
    return kept


def _answers(ordered: Sequence[Judgment]) -> Ints | None:
    if all(row.answer is None for row in ordered):
        return None
    return np.array([row.answer or (-1, -1) for row in ordered], dtype=np.int64)


def _unscored(rows: Sequence[Judgment], scored: Sequence[Judgment]) -> list[Judgment]:
    """The judgments without a grade, except for those of spans that another judgment grades."""
    graded_places = {_place(row)[:4] for row in scored}
    places = {_place(row)[:4]: row for row in rows if row.grade is None}
    return [places[place] for place in sorted(places.keys() - graded_places)]


def _encode(*columns: Sequence[str]) -> tuple[tuple[str, ...], list[Ints]]:
    """The sorted names of all columns, and each column as indices into them."""
    vocabulary = tuple(sorted({name for column in columns for name in column}))
    code = {name: i for i, name in enumerate(vocabulary)}
    return vocabulary, [np.array([code[name] for name in column], dtype=np.int64) for column in columns]


def _number_evidence(ordered: Sequence[Judgment]) -> Ints:
    """Number the facts in the order in which their first span is."""
    numbers: dict[tuple[object, ...], int] = {}
    keys = ((row.query_id, row.evidence) if row.evidence else _place(row) for row in ordered)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Text:
    """The facts of a document that redrawing spans needs.

    ``length`` is in characters; ``sentences`` [N, 2] are half-open ranges of characters in the order of the
    text, empty if sentences are not looked at.
    """

    length: int
    sentences: Ints


def relabelled(spans: SpanQrels, texts: Mapping[str, Text]) -> dict[str, SpanQrels]:
    """The spans under every way of drawing them, by its name, the given ones first.

    Padded by 100, 250 and 700 characters on either side, trimmed to the middle half and quarter, and, where
    sentences are known, grown to whole sentences and by one sentence more on either side. Grades and
    evidence stay. Raises KeyError for a judged document that is not among ``texts``.
    """
    ways = {AS_LABELLED: spans}
    ways |= {f"padded by {by}": padded(spans, by, texts) for by in PADDING}
    ways |= {f"trimmed to {percent} %": trimmed(spans, percent) for percent in TRIMMED}
    if any(len(texts[doc_id].sentences) for doc_id in spans.doc_ids):
        ways["whole sentences"] = in_sentences(spans, texts, 0)
        ways["a sentence more"] = in_sentences(spans, texts, 1)
    return ways


def padded(spans: SpanQrels, by: int, texts: Mapping[str, Text]) -> SpanQrels:
    """``by`` characters more on either side, as far as the document goes."""
    length = np.array([texts[doc_id].length for doc_id in spans.doc_ids], dtype=np.int64)[spans.doc]
    return _redrawn(spans, np.maximum(spans.start - by, 0), np.minimum(spans.end + by, length))


def trimmed(spans: SpanQrels, percent: int) -> SpanQrels:
    """The middle ``percent`` of every span, in whole characters, at least one."""
    kept = np.maximum((spans.end - spans.start) * percent // 100, 1)
    start = spans.start + (spans.end - spans.start - kept) // 2
    return _redrawn(spans, start, start + kept)


def in_sentences(spans: SpanQrels, texts: Mapping[str, Text], more: int) -> SpanQrels:
    """All sentences that a span touches, and ``more`` on either side, up to ``MOST_GROWN`` characters each.

    A span in no sentence stays as it is.
    """
    start, end = spans.start.copy(), spans.end.copy()
    for number, doc_id in enumerate(spans.doc_ids):
        sentences = texts[doc_id].sentences
        rows = np.flatnonzero(spans.doc == number)
        if not len(sentences) or not len(rows):
            continue
        first = np.searchsorted(sentences[:, 1], start[rows], side="right")
        last = np.searchsorted(sentences[:, 0], end[rows], side="left") - 1
        rows, first, last = (column[first <= last] for column in (rows, first, last))
        first = np.maximum(first - more, 0)
        last = np.minimum(last + more, len(sentences) - 1)
        first_start = np.maximum(sentences[first, 0], start[rows] - MOST_GROWN)
        last_end = np.minimum(sentences[last, 1], end[rows] + MOST_GROWN)
        start[rows] = np.minimum(start[rows], first_start)
        end[rows] = np.maximum(end[rows], last_end)
    return _redrawn(spans, start, end)


def median_length(spans: SpanQrels) -> float:
    """The median length of the relevant spans in characters; NaN if there are none."""
    relevant: Bools = spans.grade > 0
    return float(np.median((spans.end - spans.start)[relevant])) if relevant.any() else float("nan")


def _redrawn(spans: SpanQrels, start: Ints, end: Ints) -> SpanQrels:
    """Spans at new places, in the order of ``SpanQrels``; the evidence keeps its numbers."""
    order = np.lexsort((spans.evidence, end, start, spans.doc, spans.query))
    return replace(spans, start=start, end=end).take(order)
