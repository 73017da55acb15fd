"""Find a quote in a document: on its page, over a page break, or anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.data.corpus.align import (
    Alignment,
    View,
    align_fuzzy,
    find_exact,
    find_in_view,
    folded,
    is_same_text,
    whitespace_free,
)
from harness.values import Document, HarnessError, counted, snippet, trim

Method = Literal["offsets", "page", "exact", "whitespace_free", "fuzzy"]
Region = tuple[int, int]

# Below this score on its page a quote may run over the page break: worth a look at the text that follows.
_SURELY_ON_PAGE = 99.0
# Fuzzy alignment is exact but costs quote times text, so it sees only the likeliest windows of a document.
_ALIGNED_WINDOWS = 3
_MIN_WINDOW = 4000
_MAX_SEEDS = 128
_OFFSETS = (
    "Offsets count characters of the text as the harness extracts it. Correct them, or leave them out to "
    "have the text searched."
)


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """A half-open range of the document (None if nothing is alike), how it was found, how surely."""

    method: Method
    start: int | None
    end: int | None
    score: float
    copies: int = 1

    def text_in(self, document: Document) -> str:
        """What the document has there."""
        return "" if self.start is None else document.text[self.start : self.end]


class Searcher:
    """Finds quotes in one document and remembers the reduced forms of its pages."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._views: dict[tuple[Callable[[str], View], Region], View] = {}

    def find(self, quote: str, page: int | None) -> QuotePlace:
        """The best place of a quote on a page (or beginning on it), or in the whole document."""
        if page is None:
            return self._in_document(quote)
        return self._on_page(quote, page)

    def _on_page(self, quote: str, page: int) -> QuotePlace:
        on_page = self._document.page_span(page)
        for region in (on_page, self._run_over(on_page, quote)):
            found = self._verbatim(quote, region)
            if found is not None and found.start is not None and found.start < on_page[1]:
                return found
        place = self._fuzzy(quote, on_page)
        if place.score >= _SURELY_ON_PAGE:
            return place
        longer = self._fuzzy(quote, self._run_over(on_page, quote))
        begins_here = longer.start is not None and longer.start < on_page[1]
        return longer if begins_here and longer.score > place.score else place

    def _in_document(self, quote: str) -> QuotePlace:
        found = self._verbatim(quote, (0, len(self._document.text)))
        if found is not None:
            return found
        parts = seeds(folded(quote).text)
        windows = self._windows(quote)
        hits = [sum(part in self._view(folded, window).text for part in parts) for window in windows]
        likeliest = sorted(range(len(windows)), key=lambda i: (-hits[i], i))[:_ALIGNED_WINDOWS]
        places = [self._fuzzy(quote, self._run_over(windows[i], quote)) for i in sorted(likeliest)]
        return max(places, key=lambda place: place.score)

    def _verbatim(self, quote: str, region: Region) -> QuotePlace | None:
        found = find_exact(quote, self._document.text[slice(*region)])
        if found is not None:
            return _place("exact", found, region)
        needle = whitespace_free(quote)
        if not needle.text:
            return None
        found = find_in_view(needle, self._view(whitespace_free, region))
        return None if found is None else _place("whitespace_free", found, region)

    def _fuzzy(self, quote: str, region: Region) -> QuotePlace:
        found = align_fuzzy(folded(quote), self._view(folded, region))
        return QuotePlace("fuzzy", None, None, 0.0, 0) if found is None else _place("fuzzy", found, region)

    def _view(self, reduce: Callable[[str], View], region: Region) -> View:
        key = (reduce, region)
        if key not in self._views:
            self._views[key] = reduce(self._document.text[slice(*region)])
        return self._views[key]

    def _run_over(self, region: Region, quote: str) -> Region:
        """The region and as much text after it as the quote might need, with room for differences."""
        return region[0], min(len(self._document.text), region[1] + 2 * len(quote))

    def _windows(self, quote: str) -> list[Region]:
        """The pages, or stretches of unpaged text a few quotes long; with ``_run_over`` they overlap."""
        if self._document.page_starts:
            pages = range(1, len(self._document.page_starts) + 1)
            return [self._document.page_span(page) for page in pages]
        size, length = max(_MIN_WINDOW, 2 * len(quote)), len(self._document.text)
        return [(start, min(start + size, length)) for start in range(0, length, size)]


def page_of_row(document: Document, page: int, where: str, error: type[HarnessError]) -> Region:
    """The range of a page that a row names; raises ``error`` where it has no such page, with a remedy."""
    if not document.page_starts:
        raise error(
            f"{where}: {document.doc_id} is a text without pages. Leave the page out, or give the text."
        )
    if page > len(document.page_starts):
        raise error(
            f"{where}: {document.doc_id} has {counted(len(document.page_starts), 'page')}, not page {page}. "
            "Count pages of the file from 1, not the printed numbers."
        )
    return document.page_span(page)


def by_offsets(
    document: Document, start: int, end: int, text: str, where: str, error: type[HarnessError]
) -> QuotePlace:
    """The place that a row names; raises ``error`` if it is not in the document, or holds another text."""
    if end > len(document.text):
        raise error(
            f"{where}: end {end} lies beyond the text of {document.doc_id}, which has {len(document.text)} "
            f"characters. {_OFFSETS}"
        )
    there = document.text[start:end]
    if text and not is_same_text(text, there):
        raise error(
            f"{where}: the text at {start}-{end} of {document.doc_id} is {snippet(there, 160)!r}, not "
            f"{snippet(text, 160)!r}. {_OFFSETS}"
        )
    return QuotePlace("offsets", start, end, 100.0)


def whole_page(document: Document, page: int, where: str, error: type[HarnessError]) -> QuotePlace:
    """A page without the white space around it; raises ``error`` where there is none. It may be empty."""
    start, end = trim(document.text, page_of_row(document, page, where, error))
    return QuotePlace("page", start, end, 100.0)


def figures_differ(method: Method, quote: str, found: str) -> bool:
    """Whether text found by similarity holds other digits than the quote."""
    return method == "fuzzy" and [*filter(str.isdigit, quote)] != [*filter(str.isdigit, found)]


def seeds(needle: str) -> list[str]:
    """Short stretches of the needle; one alike enough to be accepted has most of them unharmed."""
    length = min(8, max(1, len(needle) // 3))
    step = -(-len(needle) // _MAX_SEEDS) or 1
    return [needle[start : start + length] for start in range(0, len(needle) - length + 1, step)]


def _place(method: Method, found: Alignment, region: Region) -> QuotePlace:
    return QuotePlace(method, region[0] + found.start, region[0] + found.end, found.score, found.copies)
