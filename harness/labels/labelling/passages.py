"""Passages to grade, each once, whatever chunking found it, and the grades that there are."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Literal

from harness.labels.labelling.label_rows import quote_of
from harness.values import TO_GRADE, Chunk, Document, Judgment, Span, passage_spans, text_sha256, trim

Origin = Literal["pool", "mark", "exact", "words"]
"""How a passage came up: given to grade, marked by a rater, or found by its exact text or by words."""


@dataclass(frozen=True, slots=True)
class PassageToGrade(Judgment):
    """A span that people grade for a query, as sheets and the labelling page show it."""

    grade: int | None = None
    # what is in the document there
    text: str = ""
    # the page on which it begins, from 1; None: unpaged text
    page: int | None = None
    # what is shown before it, such as the heading of its table
    above: str = ""
    # the best rank at which each setting has a chunk with it
    ranks: Mapping[str, int] = field(default_factory=dict, hash=False)
    # orders passages, the highest first; None for none
    priority: float | None = None
    origin: Origin = "pool"

    @classmethod
    def of(cls, document: Document, query_id: str, start: int, end: int, **more: Any) -> PassageToGrade:
        """A range of a document; ``more`` are its further fields."""
        text, page = document.text[start:end], document.page_of(start)
        return cls(query_id, document.doc_id, start, end, text=text, page=page, **more)

    @property
    def best_rank(self) -> int:
        """The best rank at any setting; 0 if no setting has it."""
        return min(self.ranks.values(), default=0)

    @property
    def item_id(self) -> str:
        """Its id on the page: it depends only on query and range, so a pool made again keeps its grades."""
        return text_sha256(json.dumps(self.key))[:16]

    def row(self) -> dict[str, Any]:
        """The columns of a labels file that say where it is."""
        return {
            "query_id": self.query_id,
            "document": self.doc_id,
            "page": self.page or "",
            "start": self.start,
            "end": self.end,
            "quote": quote_of(self.text),
        }


class Grades:
    """Graded spans, by query and document."""

    def __init__(self, judgments: Iterable[Judgment]) -> None:
        self._spans: dict[tuple[str, str], list[tuple[Span, int]]] = {}
        for judgment in judgments:
            if judgment.grade is not None:
                spans = self._spans.setdefault((judgment.query_id, judgment.doc_id), [])
                spans.append(((judgment.start, judgment.end), judgment.grade))

    def at(self, query_id: str, doc_id: str, span: Span) -> int | None:
        """The highest grade of the spans that share half of either with a range, None if none does."""
        spans = self._spans.get((query_id, doc_id), ())
        return max((grade for other, grade in spans if covers(span, other)), default=None)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A chunk that a setting ranked for a query."""

    setting: str
    query_id: str
    rank: int
    chunk: Chunk


def unjudged_passages(
    retrieved: Iterable[Retrieved], documents: Mapping[str, Document], graded: Grades
) -> list[PassageToGrade]:
    """The passages whose grades would make unjudged chunks judged, each once, the most wanted first.

    Passages are runs of sentences that depend on the text alone, so that one grade serves all chunkings. They
    are in the order of how many settings want them, then of their best rank. A passage that a grade covers by
    half of either is left out. If a chunk has no such passage, or none that shares half of either, the chunk
    itself is used.
    """
    passages: dict[str, Sequence[Span]] = {}
    ranks: dict[tuple[str, str, Span], dict[str, int]] = {}
    above: dict[tuple[str, str, Span], dict[Span, None]] = {}
    for row in retrieved:
        chunk, doc_id = row.chunk, row.chunk.doc_id
        document = documents.get(doc_id)
        inside = (0, 0) if document is None else trim(document.text, (chunk.start, chunk.end))
        if document is None or inside[0] >= inside[1]:
            continue
        if doc_id not in passages:
            passages[doc_id] = passage_spans(document.text, TO_GRADE)
        near = overlapping(passages[doc_id], inside)
        left = [span for span in near if graded.at(row.query_id, doc_id, span) is None]
        for span in left if any(covers((chunk.start, chunk.end), span) for span in left) else [inside]:
            key = (row.query_id, doc_id, span)
            best = ranks.setdefault(key, {})
            best[row.setting] = min(row.rank, best.get(row.setting, row.rank))
            above.setdefault(key, {}).update(
                (earlier, None) for earlier in chunk.before if earlier[1] <= span[0]
            )
    wanted = [
        PassageToGrade.of(
            documents[doc_id],
            query_id,
            *span,
            above="\n".join(documents[doc_id].text[a:b].strip() for a, b in above[query_id, doc_id, span]),
            ranks=best,
        )
        for (query_id, doc_id, span), best in ranks.items()
    ]
    # equal ones stay in the order of settings and queries
    return sorted(wanted, key=lambda passage: (-len(passage.ranks), passage.best_rank))


def overlapping(spans: Sequence[Span], place: Span) -> Sequence[Span]:
    """Those of disjoint spans in the order of the text that share a character with a range."""
    first = bisect_right(spans, place[0], key=itemgetter(1))
    return spans[first : bisect_left(spans, place[1], key=itemgetter(0))]


def covers(chunk: Span, span: Span) -> bool:
    """Whether two spans share half of either, the rule by which grades of spans become grades of chunks."""
    shared = min(chunk[1], span[1]) - max(chunk[0], span[0])
    return shared > 0 and 2 * shared >= min(chunk[1] - chunk[0], span[1] - span[0])
