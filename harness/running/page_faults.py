"""Rows of a collection with pages that cannot be: counted from another number, no number, or not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.data import GivenHit
from harness.values import Document, counted, quoted

WordedAs = tuple[str, Mapping[str, str | int]]
"""The code of a sentence and its values, but for the setting that it is about."""


@dataclass(frozen=True, slots=True)
class PageFaults:
    """Rows at fault, each in words: of page 0 where pages count from 1, of no number, of a page not there."""

    zero: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    def warnings(self, first_page: int) -> Iterator[WordedAs]:
        """A warning for each kind of fault, with an example."""
        if self.zero:
            yield "hits.page zero", {"count": len(self.zero), "example": self.zero[0]}
        if self.unread:
            yield "hits.page unread", {"count": len(self.unread), "example": self.unread[0]}
        if self.beyond:
            code = "hits.page beyond zero" if first_page == 0 else "hits.page beyond"
            yield code, {"count": len(self.beyond), "example": self.beyond[0]}


def page_faults(
    rows: Sequence[GivenHit],
    bad: Sequence[tuple[GivenHit, Any]],
    documents: Mapping[str, Document],
    first_page: int,
) -> PageFaults:
    """The rows with pages that cannot be, of those in ``documents``, which are by the names in rows.

    ``bad`` are rows with what they state in place of a page.
    """
    stated = [(hit, value) for hit, value in bad if hit.document in documents]
    zero = [hit for hit, value in stated if first_page == 1 and _is_zero(value)]
    unread = [(hit, value) for hit, value in stated if first_page != 1 or not _is_zero(value)]
    beyond = [
        (hit, last)
        for hit in rows
        if hit.page is not None
        and hit.document in documents
        and 0 < (last := len(documents[hit.document].page_starts)) < hit.page
    ]
    return PageFaults(
        tuple(f"such as {row_name(hit)} of {hit.document}" for hit in zero),
        tuple(f"such as {quoted(value, 40)} in {row_name(hit)}" for hit, value in unread),
        tuple(
            f"such as page {(hit.page or 0) - 1 + first_page} in {row_name(hit)}: {hit.document} has "
            f"{counted(last, 'page')}"
            for hit, last in beyond
        ),
    )


def _is_zero(value: Any) -> bool:
    return not isinstance(value, bool) and str(value) == "0"


def row_name(hit: GivenHit) -> str:
    """Such as ``row 7``."""
    return f"row {hit.where.rpartition(', row ')[2]}"
