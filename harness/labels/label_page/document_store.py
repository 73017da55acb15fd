"""The documents behind the passages: their text page by page, copies of a text, and pictures of pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt

from harness.data import can_draw, draw_page
from harness.labels.labelling.finding import find_evidence, places_of
from harness.running import Running
from harness.values import CorpusError, Document, LabelError, Span, sentence_spans

Answer = dict[str, Any]
# characters of a part of a text without pages, or of a longer page
WINDOW = 20_000
# enough to find a text, and to show a passage; a longer one is found by its beginning
LONGEST_SOUGHT = 2_000
# characters shown at most before and after a passage, to complete its sentence or row
_COMPLETED = 400
# pictures of pages that are kept
_KEPT = 24


class DocumentStore:
    """All documents of a pool, as the page asks for them.

    ``files`` are those that can be shown as pictures, by document.
    """

    def __init__(
        self, documents: Mapping[str, Document], visitor: Running, files: Mapping[str, Path]
    ) -> None:
        self._documents, self._visitor = documents, visitor
        self._files = dict(files)
        self._parts = cache(self._parts_of)
        # the cache and the retriever are used by one request at a time, and one page is drawn at a time
        self._searching, self._drawing = threading.Lock(), threading.Lock()
        self._drawn = lru_cache(_KEPT)(lambda path, page: draw_page(path, page).data)

    def document(self, doc_id: str) -> Document:
        """One document; raises LabelError if there is none of that id."""
        document = self._documents.get(doc_id)
        if document is None:
            raise LabelError(f"There is no document {doc_id!r}.")
        return document

    def part(self, doc: str, offset: NonNegativeInt = 0, part: int | None = None) -> Answer:
        """A part of a document by its number from 1, or the one that holds the character at ``offset``.

        ``text`` begins at ``start``; ``page`` counts from 1 (None: unpaged text). Raises LabelError if there
        is no such part.
        """
        parts = self._parts(doc)
        number = part
        if number is None:
            number = next((at for at, (_, span) in enumerate(parts, 1) if offset < span[1]), len(parts))
        if not 1 <= number <= len(parts):
            raise LabelError(f"{doc} has {len(parts)} parts, not part {number}.")
        page, (start, end) = parts[number - 1]
        drawable = page is not None and doc in self._files
        return {
            "doc_id": doc,
            "start": start,
            "end": end,
            "text": self.document(doc).text[start:end],
            "page": page,
            "part": number,
            "parts": len(parts),
            "has_picture": drawable and can_draw(),
            "needs_extra": drawable and not can_draw(),
        }

    def around(self, doc: str, start: int, end: int) -> tuple[str, str]:
        """The text before and after a range that completes its first and last sentence or row.

        Each is at most 400 characters of the same page: of a longer sentence only the line is completed, and
        of a longer line nothing.
        """
        document = self.document(doc)
        page = document.page_of(start)
        first, last = document.page_span(page) if page else (0, len(document.text))
        from_, to = max(first, start - _COMPLETED), min(max(last, end), end + _COMPLETED)
        begin, finish = start, end
        for left, right in sentence_spans(document.text[from_:to]):
            left, right = left + from_, right + from_
            # a sentence that touches the edge of the window may go on beyond it: there the line is completed
            if left < start < right:
                whole = left > from_ or from_ == first
                begin = left if whole else document.text.rfind("\n", from_, start) + 1 or start
            if left < end < right:
                line = document.text.find("\n", end, to)
                finish = right if right < to or to >= last else max(line, end)
        return document.text[begin:start], document.text[end:finish]

    def find(self, q: str, doc: str = "", top: int = 20) -> Answer:
        """Passages for some words: exact matches first, then by BM25."""
        if not q.strip():
            raise LabelError("There is nothing to look for: give some words.")
        documents = {doc: self.document(doc)} if doc else self._documents
        with self._searching:
            passages = find_evidence(q[:LONGEST_SOUGHT], documents, self._visitor, top)
        hits = [
            {
                "doc_id": passage.doc_id,
                "start": passage.start,
                "end": passage.end,
                "page": passage.page,
                "how": passage.origin,
                "text": passage.text[:LONGEST_SOUGHT],
            }
            for passage in passages
        ]
        return {"found": hits}

    def copies(self, doc: str, start: NonNegativeInt, end: NonNegativeInt, most: int = 50) -> Answer:
        """The other places where a text is, ignoring white space and case, and whether there are more."""
        others = (
            {
                "doc_id": document.doc_id,
                "start": first,
                "end": last,
                "page": document.page_of(first),
                "text": document.text[first:last],
                "around": document.text[max(0, first - 80) : last + 80],
            }
            for document, first, last in places_of(
                self.document(doc).text[start:end], self._documents.values()
            )
            if document.doc_id != doc or last <= start or end <= first
        )
        copies = list(islice(others, most + 1))
        return {"copies": copies[:most], "more": len(copies) > most}

    def picture(self, doc: str, page: NonNegativeInt) -> bytes:
        """A page, from 1, as PNG of at most 1200 by 1800 pixels; raises LabelError if there is none."""
        self.document(doc)
        if doc not in self._files:
            raise LabelError(f"There is no picture of {doc}.")
        try:
            with self._drawing:
                return self._drawn(self._files[doc], page)
        except CorpusError as error:
            raise LabelError(f"{error} Use its text.") from None

    def _parts_of(self, doc_id: str) -> list[tuple[int | None, Span]]:
        """The parts of a document, each with its page."""
        document = self.document(doc_id)
        pages: list[tuple[int | None, Span]] = [
            (page, document.page_span(page)) for page in range(1, len(document.page_starts) + 1)
        ] or [(None, (0, len(document.text)))]
        return [(page, part) for page, span in pages for part in _windows(document.text, span)]


def _windows(text: str, span: Span) -> Iterator[Span]:
    """A span in parts of at most WINDOW characters, cut at line ends where there are some."""
    start, end = span
    while end - start > WINDOW:
        cut = text.rfind("\n", start + WINDOW // 2, start + WINDOW) + 1 or start + WINDOW
        yield start, cut
        start = cut
    yield start, end
