"""Find a passage in a text that holds it with other spaces, other characters, or small differences.

All functions return half-open offsets into the text they were given.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

# Invisible where a line may break or a font needs help: no reader would quote them.
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
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


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where a passage is, how alike the two are (0 to 100), and how often it is there."""

    start: int
    end: int
    score: float
    copies: int = 1


def whitespace_free(text: str) -> View:
    """The text without whitespace (no-break spaces too) and invisible characters."""
    return _view(text, lambda character: character)


def folded(text: str) -> View:
    """Without whitespace, lookalikes unified: NFKD, accents, case, kinds of quotes and dashes."""
    return _view(text, _fold)


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
    return "".join(one for one in seen if unicodedata.category(one) not in ("Cc", "Cs", "Cn"))


def _view(text: str, spell: Callable[[str], str]) -> View:
    kept: list[str] = []
    offsets = array("i")
    for offset, character in enumerate(text):
        if character.isspace() or character in _INVISIBLE:
            continue
        spelled = spell(character)
        kept.append(spelled)
        offsets.extend([offset] * len(spelled))
    return View("".join(kept), offsets)


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character in _FOLDED_PUNCTUATION:
        return _FOLDED_PUNCTUATION[character]
    plain = unicodedata.normalize("NFKD", character).casefold()
    # without accents
    kept = (part for part in plain if not (part.isspace() or "\u0300" <= part <= "\u036f"))
    return "".join(_FOLDED_PUNCTUATION.get(part, part) for part in kept)


def find_exact(quote: str, text: str) -> Alignment | None:
    """The first place where the quote is verbatim."""
    start = text.find(quote)
    return None if start < 0 else Alignment(start, start + len(quote), 100.0, text.count(quote))


def find_in_view(quote: View, text: View) -> Alignment | None:
    """The first place where the quote is in the view of the text, as a range of the source."""
    found = find_exact(quote.text, text.text)
    if found is None:
        return None
    return Alignment(*text.source_span(found.start, found.end), 100.0, found.copies)


def align_fuzzy(quote: View, text: View) -> Alignment | None:
    """The range of the text that takes the fewest insertions and deletions to become the quote.

    Approximate substring matching (Sellers 1980) with free ends in the text and indel costs: unlike a window
    as long as the quote, the range ends where the passage ends. The score is rapidfuzz's ``fuzz.ratio`` of
    quote and range, ``100 * (1 - distance / (len(quote) + len(range)))``. None when nothing matches.
    """
    needle, hay = _codes(quote.text), _codes(text.text)
    if not len(needle) or not len(hay):
        return None
    end = int(_infix_distances(needle, hay).argmin())
    # Backwards from that end; of equally near starts the closest one, so the range is tight.
    length = int(_infix_distances(needle[::-1], hay[:end][::-1], anchored=True).argmin())
    if length == 0:
        return None
    score = fuzz.ratio(quote.text, text.text[end - length : end])
    return Alignment(*text.source_span(end - length, end), score)


def _codes(text: str) -> NDArray[np.int32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


def _infix_distances(
    needle: NDArray[np.int32], hay: NDArray[np.int32], anchored: bool = False
) -> NDArray[np.int32]:
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
