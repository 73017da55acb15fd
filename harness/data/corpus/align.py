"""Find a passage in a text or document that holds it with other spaces, other characters, or other words.

All functions return half-open offsets into the text or document they were given.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from harness.values import Document, HarnessError, counted, snippet, trim

Codes = NDArray[np.uint32]

# Invisible where a line may break or a font needs help: no reader would quote them.
_SEEN = re.compile("[^\\s\u00ad\u200b\u200c\u200d\u2060\ufeff]+")
_ONE_ALPHABET = re.compile("[\x00-\x7f]+|[^\x00-\x7f]+")
_FOLDED_PUNCTUATION = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}


@dataclass(frozen=True, slots=True)
class View:
    """A text reduced to the characters that matter; ``offsets[i]`` is where ``text[i]`` comes from."""

    text: str
    offsets: Sequence[int]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """The source range of a non-empty range of the view, from its first to its last character."""
        return self.offsets[start], self.offsets[end - 1] + 1


Method = Literal["offsets", "page", "whole", "exact", "whitespace_free", "fuzzy"]


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A half-open range of a text, how it was found, how surely (0 to 100), and how often it is there.

    Empty, and so false, where nothing is alike. ``doc_id`` names its document where several were searched.
    """

    method: Method
    start: int
    end: int
    score: float = 100.0
    copies: int = 1
    doc_id: str = ""

    def __bool__(self) -> bool:
        return self.start < self.end

    def text_in(self, document: Document) -> str:
        """What the document has there."""
        return document.text[self.start : self.end]


def whitespace_free(text: str) -> View:
    """The text without whitespace (no-break spaces too) and invisible characters."""
    kept: list[str] = []
    offsets = array("i")
    for run in _SEEN.finditer(text):
        kept.append(run.group())
        offsets.extend(range(*run.span()))
    return View("".join(kept), offsets)


def folded(text: str) -> View:
    """Without whitespace, lookalikes unified: NFKD, accents, case, kinds of quotes and dashes."""
    seen = whitespace_free(text)
    kept: list[str] = []
    offsets = array("i")
    for run in _ONE_ALPHABET.finditer(seen.text):
        if run.group().isascii():
            # each character stays one character: a whole run at a time is some ten times as fast
            kept.append(run.group().lower().replace("`", "'"))
            offsets.extend(seen.offsets[slice(*run.span())])
            continue
        for place in range(*run.span()):
            spelled = _fold(seen.text[place])
            kept.append(spelled)
            offsets.extend([seen.offsets[place]] * len(spelled))
    return View("".join(kept), offsets)


def is_same_text(cell: str, text: str) -> bool:
    """Whether a cell of a table holds a text: white space, line ends and invisible characters aside.

    So is the apostrophe that keeps a spreadsheet from reading a cell as a formula.
    """
    of_cell, of_text = _letters(cell), _letters(text)
    return of_text in (of_cell, of_cell.removeprefix("'"))


def _letters(text: str) -> str:
    """The characters that survive a spreadsheet: no white space, invisible or control characters."""
    seen = whitespace_free(text).text
    if seen.isprintable():
        return seen
    return "".join(
        character for character in seen if unicodedata.category(character) not in ("Cc", "Cs", "Cn")
    )


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character in _FOLDED_PUNCTUATION:
        return _FOLDED_PUNCTUATION[character]
    plain = unicodedata.normalize("NFKD", character).casefold()
    # without accents
    kept = (part for part in plain if not (part.isspace() or "\u0300" <= part <= "\u036f"))
    return "".join(_FOLDED_PUNCTUATION.get(part, part) for part in kept)


def find_exact(quote: str, text: str) -> TextPlace | None:
    """The first place where the quote is verbatim."""
    start = text.find(quote) if quote else -1
    return None if start < 0 else TextPlace("exact", start, start + len(quote), copies=text.count(quote))


def find_in_view(quote: View, text: View) -> TextPlace | None:
    """The first place where the quote is in the view of the text, as a range of the source."""
    place = find_exact(quote.text, text.text)
    if place is None:
        return None
    return TextPlace("whitespace_free", *text.source_span(place.start, place.end), copies=place.copies)


def align_fuzzy(quote: View, text: View) -> TextPlace | None:
    """The range of the text that takes the fewest insertions and deletions to become the quote.

    Approximate substring matching (Sellers 1980) with free ends in the text and indel costs: unlike a window
    as long as the quote, the range ends where the passage ends. The score is rapidfuzz's ``fuzz.ratio`` of
    quote and range, ``100 * (1 - distance / (len(quote) + len(range)))``. None when nothing matches.
    """
    needle, hay = codes(quote.text), codes(text.text)
    if not len(needle) or not len(hay):
        return None
    end = int(_infix_distances(needle, hay).argmin())
    # Backwards from that end; of equally near starts the closest one, so the range is tight.
    # A range of more than twice the needle is further from it than an empty one.
    near = hay[max(0, end - 2 * len(needle)) : end]
    length = int(_infix_distances(needle[::-1], near[::-1], anchored=True).argmin())
    if length == 0:
        return None
    score = fuzz.ratio(quote.text, text.text[end - length : end])
    return TextPlace("fuzzy", *text.source_span(end - length, end), score)


def codes(text: str) -> Codes:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _infix_distances(needle: Codes, hay: Codes, anchored: bool = False) -> NDArray[np.int32]:
    """Indel distance of the whole needle to the best range of hay that ends at each offset 0..len(hay).

    ``anchored``: to ``hay[:offset]`` instead. One row of the dynamic program per needle character; within a
    row, insertions are a running minimum of ``cost - column``. O(len(needle) * len(hay)) time.
    """
    columns = np.arange(len(hay) + 1, dtype=np.int32)
    row = columns.copy() if anchored else np.zeros(len(hay) + 1, dtype=np.int32)
    same = {code: hay == code for code in np.unique(needle).tolist()}
    unmatched = np.int32(len(hay) + len(needle) + 1)
    for code in needle.tolist():
        step = row + 1
        np.minimum(step[1:], np.where(same[code], row[:-1], unmatched), out=step[1:])
        step -= columns
        np.minimum.accumulate(step, out=step)
        step += columns
        row = step
    return row


Region = tuple[int, int]

# Below this score on its page a quote may run over the page break: worth a look at the text that follows.
_SURELY_ON_PAGE = 99.0
# Fuzzy alignment is exact but costs quote times text, so it sees only the likeliest windows of a document.
_ALIGNED_WINDOWS = 3
_MIN_WINDOW = 4000
_MAX_SEEDS = 128
_OFFSETS = (
    "Offsets count characters of the extracted text. Correct them, or leave them out: the text is searched."
)


class Searcher:
    """Finds quotes in one document and remembers the reduced forms of its pages."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._views: dict[tuple[Callable[[str], View], Region], View] = {}

    def find(self, quote: str, page: int | None) -> TextPlace:
        """The best place of a quote on a page (or beginning on it), or in the whole document."""
        if page is None:
            return self._in_document(quote)
        return self._on_page(quote, page)

    def _on_page(self, quote: str, page: int) -> TextPlace:
        on_page = self._document.page_span(page)
        for region in (on_page, self._run_over(on_page, quote)):
            exact = self.verbatim(quote, region)
            if exact is not None and exact.start < on_page[1]:
                return exact
        place = self._fuzzy(quote, on_page)
        if place.score >= _SURELY_ON_PAGE:
            return place
        longer = self._fuzzy(quote, self._run_over(on_page, quote))
        return longer if longer.start < on_page[1] and longer.score > place.score else place

    def _in_document(self, quote: str) -> TextPlace:
        exact = self.verbatim(quote, (0, len(self._document.text)))
        if exact is not None:
            return exact
        parts = seeds(folded(quote).text)
        windows = self._windows(quote)
        texts = [self._view(folded, window).text for window in windows]
        hits = [sum(part in text for part in parts) for text in texts]
        likeliest = sorted(range(len(windows)), key=lambda i: (-hits[i], i))[:_ALIGNED_WINDOWS]
        places = [self._fuzzy(quote, self._run_over(windows[i], quote)) for i in sorted(likeliest)]
        return max(places, key=lambda place: place.score)

    def verbatim(self, quote: str, region: Region) -> TextPlace | None:
        """The first place of a quote in a region, as it is, else without white space; None for none."""
        exact = find_exact(quote, self._document.text[slice(*region)])
        exact = exact or find_in_view(whitespace_free(quote), self._view(whitespace_free, region))
        return None if exact is None else _moved(exact, region[0])

    def _fuzzy(self, quote: str, region: Region) -> TextPlace:
        alignment = align_fuzzy(folded(quote), self._view(folded, region))
        return TextPlace("fuzzy", 0, 0, 0.0, 0) if alignment is None else _moved(alignment, region[0])

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
        raise error(f"{where}: {document.doc_id} has no pages. Leave the page out, or give the text.")
    if page > len(document.page_starts):
        raise error(
            f"{where}: {document.doc_id} has {counted(len(document.page_starts), 'page')}, not page {page}. "
            "Count pages of the file from 1, not the printed numbers."
        )
    return document.page_span(page)


def by_offsets(
    document: Document, start: int, end: int, text: str, where: str, error: type[HarnessError]
) -> TextPlace:
    """The place that a row names; raises ``error`` if it is not in the document, or holds another text."""
    if end > len(document.text):
        raise error(f"{where}: {document.doc_id} ends at {len(document.text)}, before {end}. {_OFFSETS}")
    there = document.text[start:end]
    if text and not is_same_text(text, there):
        raise error(
            f"{where}: the text at {start}-{end} of {document.doc_id} is {snippet(there, 160)!r}, not "
            f"{snippet(text, 160)!r}. {_OFFSETS}"
        )
    return TextPlace("offsets", start, end)


def whole_text(document: Document) -> TextPlace:
    """All of a document without the white space around it."""
    return TextPlace("whole", *trim(document.text, (0, len(document.text))))


def whole_page(
    document: Document, page: int, where: str, error: type[HarnessError], may_miss: bool = False
) -> TextPlace:
    """A page without the white space around it; raises ``error`` where there is none, or no text on it.

    With ``may_miss``, a page without text is no place.
    """
    start, end = trim(document.text, page_of_row(document, page, where, error))
    if start < end:
        return TextPlace("page", start, end)
    if may_miss:
        return TextPlace("page", 0, 0, 0.0)
    raise error(
        f"{where}: page {page} of {document.doc_id} has no text. Run OCR over the document, give the text, "
        "or remove the row."
    )


def figures_differ(method: Method, quote: str, matched: str) -> bool:
    """Whether text found by similarity holds other digits than the quote."""
    return method == "fuzzy" and [*filter(str.isdigit, quote)] != [*filter(str.isdigit, matched)]


def seeds(needle: str) -> list[str]:
    """Short stretches of the needle; one alike enough to be accepted has most of them unharmed."""
    length = min(8, max(1, len(needle) // 3))
    step = -(-len(needle) // _MAX_SEEDS) or 1
    return [needle[start : start + length] for start in range(0, len(needle) - length + 1, step)]


def _moved(place: TextPlace, by: int) -> TextPlace:
    return replace(place, start=by + place.start, end=by + place.end)
