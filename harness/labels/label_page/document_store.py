"""The documents behind the passages: their text page by page, copies of a text, and pictures of pages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from harness.data import can_draw, draw_page
from harness.labels.labelling.finding import FoundEvidence, find_evidence, places_of
from harness.running import Context
from harness.values import CorpusError, Document, LabelError, Span

# characters of a part of a text without pages, or of a longer page
WINDOW = 20_000
# enough to find a text; a longer one is found by its beginning
LONGEST_SOUGHT = 2_000
# pictures of pages
_KEPT = 24


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Part of a document as the page shows it: ``text`` begins at the offset ``start``.

    ``page`` counts from 1 (None: unpaged text). ``part`` of ``parts`` is counted from 1 over the whole
    document. ``has_picture`` says whether there is a picture of the page.
    """

    doc_id: str
    start: int
    end: int
    text: str
    page: int | None
    part: int
    parts: int
    has_picture: bool


class Pictures:
    """Draws pages of PDFs, one at a time, and keeps the latest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int], bytes] = OrderedDict()
        self._drawing = threading.Lock()

    def page(self, path: Path, page: int) -> bytes:
        """A page, counted from 1, as PNG of at most 1200 by 1800 pixels; raises LabelError if it fails."""
        key = (path, page)
        with self._drawing:
            if key not in self._kept:
                try:
                    self._kept[key] = draw_page(path, page).data
                except CorpusError as error:
                    raise LabelError(f"{error} Use its text.") from None
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


class DocumentStore:
    """All documents of a pool. ``files`` are those that can be shown as pictures, by document."""

    def __init__(self, documents: Sequence[Document], context: Context, files: Mapping[str, Path]) -> None:
        self._documents = {document.doc_id: document for document in documents}
        self._context = context
        self._files = dict(files)
        self._pictures = Pictures()
        self._leaves: dict[str, list[tuple[int | None, Span]]] = {}
        # the cache and the retriever are used by one request at a time
        self._one = threading.Lock()

    def document(self, doc_id: str) -> Document:
        """One document; raises LabelError if there is none of that id."""
        document = self._documents.get(doc_id)
        if document is None:
            raise LabelError(f"There is no document {doc_id!r}.")
        return document

    def at(self, doc_id: str, offset: int) -> DocumentPart:
        """The part of a document that holds the character at ``offset``."""
        spans = self._spans(doc_id)
        held = (number for number, (_, span) in enumerate(spans, 1) if offset < span[1])
        return self.part(doc_id, next(held, len(spans)))

    def part(self, doc_id: str, number: int) -> DocumentPart:
        """A part of a document by its number from 1; raises LabelError if there is none."""
        document, spans = self.document(doc_id), self._spans(doc_id)
        if not 1 <= number <= len(spans):
            raise LabelError(f"{doc_id} has {len(spans)} parts, not part {number}.")
        page, (start, end) = spans[number - 1]
        has_picture = page is not None and doc_id in self._files and can_draw()
        return DocumentPart(
            doc_id, start, end, document.text[start:end], page, number, len(spans), has_picture=has_picture
        )

    def find(self, sought: str, doc_id: str = "", top: int = 20) -> list[FoundEvidence]:
        """Passages for some words: exact matches first, then by BM25."""
        documents = [self.document(doc_id)] if doc_id else list(self._documents.values())
        with self._one:
            return find_evidence(sought[:LONGEST_SOUGHT], documents, self._context, top)

    def copies(self, doc_id: str, start: int, end: int, most: int = 50) -> list[tuple[Document, int, int]]:
        """The other places where a text is, ignoring white space and case."""
        sought = self.document(doc_id).text[start:end]
        others = (
            (document, first, last)
            for document, first, last in places_of(sought, list(self._documents.values()))
            if document.doc_id != doc_id or last <= start or end <= first
        )
        return list(islice(others, most))

    def picture(self, doc_id: str, page: int) -> bytes:
        """A page as PNG; raises LabelError if there is no picture of it."""
        self.document(doc_id)
        if doc_id not in self._files:
            raise LabelError(f"There is no picture of {doc_id}.")
        return self._pictures.page(self._files[doc_id], page)

    def _spans(self, doc_id: str) -> list[tuple[int | None, Span]]:
        if doc_id not in self._leaves:
            document = self.document(doc_id)
            pages: list[tuple[int | None, Span]] = [
                (page, document.page_span(page)) for page in range(1, len(document.page_starts) + 1)
            ] or [(None, (0, len(document.text)))]
            self._leaves[doc_id] = [
                (page, part) for page, span in pages for part in _windows(document.text, span)
            ]
        return self._leaves[doc_id]


def _windows(text: str, span: Span) -> list[Span]:
    """A span in parts of at most WINDOW characters, cut at line ends where there are some."""
    start, end = span
    parts = []
    while end - start > WINDOW:
        cut = text.rfind("\n", start + WINDOW // 2, start + WINDOW) + 1 or start + WINDOW
        parts.append((start, cut))
        start = cut
    return [*parts, (start, end)]
