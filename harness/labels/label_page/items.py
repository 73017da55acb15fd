"""The items that people grade, and their ratings: the frozen values of the labelling page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.values import Document, LabelError

Origin = Literal["pool", "mark"]


class UnknownItemError(LabelError):
    """There is no item of the requested id."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question that passages are graded for."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """A passage to grade for a question: the half-open range ``start`` to ``end`` of a document's text.

    ``page`` is the page on which it begins, from 1 (None: unpaged text); ``above`` is what is shown before
    it, such as the heading of its table. ``priority`` orders items, the highest first; None for none.
    ``origin`` is ``pool`` for what was given to grade, ``mark`` for evidence that a rater has marked.
    """

    item_id: str
    query_id: str
    doc_id: str
    start: int
    end: int
    page: int | None
    text: str
    above: str = ""
    priority: float | None = None
    origin: Origin = "pool"

    @classmethod
    def of(cls, document: Document, query_id: str, start: int, end: int, **more: Any) -> Item:
        """The item of a range of a document; ``more`` are its further fields."""
        name = item_id(query_id, document.doc_id, start, end)
        page, text = document.page_of(start), document.text[start:end]
        return cls(name, query_id, document.doc_id, start, end, page, text, **more)


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of an item: a grade, or why it was skipped; neither as long as it is open.

    ``evidence`` names the fact that the text states: items of one question that share a name are copies.
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
    def from_json(cls, line: str | None) -> Rating:
        """The inverse of `to_json`; an empty rating for None."""
        return cls() if line is None else cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class ItemRating:
    """The rating of one item by one rater, and the event that gave it."""

    rater: str
    item_id: str
    rating: Rating
    event: int


def item_id(query_id: str, doc_id: str, start: int, end: int) -> str:
    """The id of an item: it depends only on query and range, so a pool made again keeps its grades."""
    key = json.dumps([query_id, doc_id, start, end])
    return hashlib.sha256(key.encode()).hexdigest()[:16]
