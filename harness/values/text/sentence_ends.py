"""Where sentences end, by rule: for the prose, tables and headings of reports, and for Chinese and Japanese.

A sentence ends

- at ``.``, ``!``, ``?`` or ``…`` (with the quotes and brackets that close after it) before whitespace, unless
  the next word is lower-case or the full stop belongs to an abbreviation, an initial or a list number;
- at ``。``, ``！``, ``？``, ``；`` (with closing quotes and brackets), whatever follows;
- at a blank line or a form feed;
- at a line break next to a heading, a list item or a table row. Any other line break is a wrapped line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from harness.values.text.characters import width
from harness.values.text.spans import Span, between, trim

SENTENCES_VERSION = 2
"""Raised whenever the sentences of the same text may end elsewhere than before; part of cache keys."""

_CANDIDATE = re.compile(
    r"""
      (?P<stop> (?<![.!?…]) (?P<mark>[.!?…]++) ["'”’»)\]]*+ (?=\s) )
    | (?P<cjk>  [。！？｡；]+ [」』”’）】》]* )
    | (?P<gap>  \n[^\S\n]*\n\s* | \f )
    | (?P<line> \n )
    """,
    re.VERBOSE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the last word of a sentence: a name follows.
_TITLES = _words(
    "mr mrs ms messrs dr prof st rev hon gov sen rep gen col capt lt sgt maj vs e.g i.e cf approx"
)
# Not the last word where a number follows.
_COUNTED = _words(
    """no nos p pp fig figs eq eqs sec secs art ch chap vol vols par ex exh pt
    jan feb mar apr jun jul aug sep sept oct nov dec"""
)
# The last word of a sentence only where a usual first word follows; so are initials (J.P., U.S., a.m.).
_AMBIGUOUS = _words("""inc corp co cos ltd llc plc bros mfg ph.d etc al jr sr dept div est assn natl intl""")
_INITIALS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]")
_FIRST_WORDS = _words(
    """The This These Those That There Their They It Its We Our In On At As By For From To If When While Where
    Although However Moreover Furthermore Additionally After Before During Since Under Each All Any No Some
    Such He She His Her You Your What Why How Who Is Are Was Were Do Does Did But And Or So Then Thus"""
)

_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*$")
_NEXT = re.compile(r"""\s*["'“‘«(\[]*(?P<word>\S[\w'’]*)""")
_LIST_NUMBER = re.compile(r"(?:\d{1,3}|[ivxlc]{1,6}|[A-Za-z])", re.IGNORECASE)
_LIST_ITEM = re.compile(r"\s*(?:[•●▪■◦‣·*–—-]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s|\d{1,2}\.\s)")
_NUMBER = r"[$€£(]*\s?\d[\d,.]*\)?%?|[-–—]"
_TABLE_ROW = re.compile(rf"\s*\||.*\t|.*\S(?:\s{{2,}}\S+){{2}}|.*(?:\s(?:{_NUMBER})){{2}}\s*\)?%?\s*$")
_HEADING = re.compile(r"\s*#{1,6}\s|(?=.*[A-Z]{3})[A-Z\d\s&,'’()/:–—-]+$")
_LONGEST_ROW = 300  # characters; a longer line is prose
_WORD_TAIL = 24  # characters looked at before a full stop: longer than any abbreviation


def sentence_spans(text: str) -> list[Span]:
    """The sentences of a text in order, without surrounding whitespace; together they hold all other text."""
    trimmed = (trim(text, span) for span in between(0, len(text), _sentence_ends(text)))
    return [(start, end) for start, end in trimmed if start < end]


def _sentence_ends(text: str) -> list[int]:
    ends = []
    for match in _CANDIDATE.finditer(text):
        kind = match.lastgroup
        if (
            kind in ("cjk", "gap")
            or (kind == "stop" and _stop_ends_sentence(text, match))
            or (kind == "line" and _line_ends_sentence(text, match))
        ):
            ends.append(match.end())
    return ends


def _stop_ends_sentence(text: str, stop: re.Match[str]) -> bool:
    following = _NEXT.match(text, stop.end())
    word = following["word"] if following else ""
    if word[:1].islower():
        return False
    if stop["mark"] != ".":
        return True
    tail = text[max(0, stop.start() - _WORD_TAIL) : stop.start()]
    before = _LAST_WORD.search(tail)
    return before is None or _full_stop_ends_sentence(before[0], word, tail[: before.start()])


def _full_stop_ends_sentence(before: str, following: str, line: str) -> bool:
    """Whether the word ``before`` and its full stop end a sentence; ``line`` is before both."""
    if not before:
        return False  # leader dots: ". . . . 12"
    name = before.lower()
    if name in _TITLES:
        return False
    if name in _COUNTED:
        return not following[:1].isdigit()
    opens_line = not line.strip() or line.rstrip(" \t").endswith("\n")
    if opens_line and _LIST_NUMBER.fullmatch(before):
        return False
    if name in _AMBIGUOUS or _INITIALS.fullmatch(before):
        return following in _FIRST_WORDS
    return True


def _line_ends_sentence(text: str, line_break: re.Match[str]) -> bool:
    above = text[text.rfind("\n", 0, line_break.start()) + 1 : line_break.start()]
    stop = text.find("\n", line_break.end())
    below = text[line_break.end() : stop if stop >= 0 else len(text)]
    return _stands_alone(above) or _stands_alone(below) or _LIST_ITEM.match(below) is not None


def _stands_alone(line: str) -> bool:
    """Whether a line is a table row or a heading."""
    if len(line) > _LONGEST_ROW:
        return False
    return _TABLE_ROW.match(line) is not None or _HEADING.match(line) is not None


# A sentence ends after its closing marks: Western ones need a blank behind them, full-width ones do not.
# A blank line is sought from the first of the blanks before it: from each would take their square.
_BREAK = re.compile(r"""(?<=[.!?])["'”’)\]]*\s+|[。！？；]["”’）】」』]*\s*|(?<!\s)\s*\n\s*\n\s*""")
# "Dr. Low", "No. 7", "J. Doe": a full stop that ends no sentence.
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|vs|cf|e\.g|i\.e|approx|Fig)\.$")
# The width of passages that people grade. `ndcg_evidence` counts 200 characters of a label as found: half of
# it or more, and so most likely the answer, where it has up to 400, as listings without a sentence end have.
TO_GRADE = 200
_PARAGRAPH = re.compile(r"\n\s*\n")


def passage_spans(text: str, target: int) -> list[tuple[int, int]]:
    """Disjoint passages of about ``target`` width that together hold every character that is not blank.

    A passage is a run of whole sentences; it ends at the first sentence end that fills ``target``, or
    earlier at a paragraph end once half full. A sentence wider than twice the target is cut at blanks, or
    anywhere if it has none. A full-width character is two wide. The same text gives the same passages,
    always.
    """
    spans: list[tuple[int, int]] = []
    start, filled = 0, 0
    for begin, end in _sentences(text, 2 * target):
        if not filled:
            start = begin
        filled += width(text[begin:end])
        paragraph_ends = _PARAGRAPH.search(text[begin:end]) is not None
        if filled >= target or (paragraph_ends and 2 * filled >= target):
            spans.append(trim(text, (start, end)))
            filled = 0
    if filled:
        spans.append(trim(text, (start, len(text))))
    return [(start, end) for start, end in spans if start < end]


def _sentences(text: str, widest: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of sentences, blanks behind them included, that cover the text."""
    breaks = _BREAK.finditer(text)
    ends = [at.end() for at in breaks if not _ABBREVIATION.search(text[max(0, at.start() - 10) : at.start()])]
    for begin, end in pairwise([0, *ends, len(text)]):
        if begin < end:
            yield from _pieces(text, begin, end, widest)


def _pieces(text: str, begin: int, end: int, widest: int) -> Iterator[tuple[int, int]]:
    """Cut a run without sentence ends (a table, a listing) into pieces of at most ``widest``."""
    left = width(text[begin:end])
    while left > widest:
        reach, wide = begin, 0
        while wide < widest:
            wide += width(text[reach])
            reach += 1
        blank = max(text.rfind(" ", begin + 1, reach), text.rfind("\n", begin + 1, reach))
        cut = blank + 1 if blank > begin else reach
        yield begin, cut
        left -= width(text[begin:cut])
        begin = cut
    if begin < end:
        yield begin, end
