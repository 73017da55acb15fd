"""The extracted text of a document, statistics of its extraction, and text that was lost in silence.

Lost text is found by a second reading, counted, and refused above a share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, chain, groupby, repeat, zip_longest
from pathlib import Path
from typing import Any

from harness.data.corpus.parsers import ParserConfig, second_reader
from harness.data.corpus.parsers.pdf_file import OnPage, PageReading
from harness.data.corpus.workers import ParsingConfig
from harness.values import CorpusError, Document, counted, text_sha256

# Bumped whenever the same file would yield another text; part of every cache key.
TEXT_FORMAT = 1
# Bumped whenever TextStats changes; part of every cache key.
STATS_FORMAT = 2
PAGE_SEPARATOR = "\n"
# C0 and C1 except for tab, line ends, form feed and NEL; private use; noncharacters
_ODD = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextStats:
    """Problems that the extraction met and did not repair.

    Pages are 1-based. ``undecodable_characters`` counts U+FFFD in the text, among them the lone surrogates it
    stands for; ``odd_characters`` counts control and private-use characters and noncharacters. ``bytes`` is
    the size of the file, ``characters`` the length of the text. ``byte_order_marks`` counts the marks taken
    off the front of a text file (0 or 1). ``encryption`` is ``none`` or the cipher. ``warnings`` are distinct
    messages of the parser about what it worked around, and of a second reading that failed.

    ``second_reader`` read the file once more, '' where none did. ``blank_pages`` are those of the
    ``pages_without_text`` on which it finds next to nothing drawn; ``short_pages`` those on which it finds
    far more text, together ``missing_characters`` (without white space) more; ``damaged_pages`` those with a
    broken content stream. A short page may be one that the parser did not find at all, numbered above
    ``pages``.
    """

    pages: int
    pages_without_text: tuple[int, ...]
    undecodable_characters: int
    no_break_spaces: int
    characters: int
    bytes: int
    byte_order_marks: int = 0
    encryption: str = "none"
    warnings: tuple[str, ...] = ()
    odd_characters: int = 0
    second_reader: str = ""
    blank_pages: tuple[int, ...] = ()
    short_pages: tuple[int, ...] = ()
    missing_characters: int = 0
    damaged_pages: tuple[int, ...] = ()

    @property
    def silent_pages(self) -> tuple[int, ...]:
        """Pages without text though something is drawn on them; the short ones are listed separately."""
        return tuple(sorted(set(self.pages_without_text) - {*self.blank_pages, *self.short_pages}))

    @property
    def suspect_pages(self) -> tuple[int, ...]:
        """Pages that may have lost text: silent, short or damaged ones."""
        return tuple(sorted({*self.silent_pages, *self.short_pages, *self.damaged_pages}))

    @property
    def all_pages(self) -> int:
        """The number of pages, those that the second reading alone finds included."""
        return max((self.pages, *self.short_pages, *self.damaged_pages))

    @property
    def suspect_characters(self) -> int:
        """Characters that stand for no text that was written."""
        return self.undecodable_characters + self.odd_characters


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document and the statistics of its extraction; goes through JSON and back unchanged."""

    document: Document
    stats: TextStats

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ParsedDocument:
        """The inverse of ``to_json``; raises ValueError when the text does not match its hash."""
        document, stats = dict(data["document"]), dict(data["stats"])
        for part in (document, stats):
            part |= {name: tuple(value) for name, value in part.items() if isinstance(value, list)}
        parsed = cls(Document(**document), TextStats(**stats))
        if parsed.document.sha256 != text_sha256(parsed.document.text):
            raise ValueError(f"{parsed.document.doc_id}: the stored text does not match its hash")
        return parsed


def count_odd(text: str) -> int:
    """How many control characters (white space apart), private-use characters and noncharacters there are."""
    return len(_ODD.findall(text))


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """One text with a newline after every page but the last, and the offset at which each page begins."""
    starts = accumulate((len(page) + len(PAGE_SEPARATOR) for page in pages[:-1]), initial=0)
    return PAGE_SEPARATOR.join(pages), tuple(starts)


def without_surrogates(text: str) -> str:
    """Text that UTF-8 can hold: surrogate pairs joined into their character, each lone one as U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_MOST_PAGES_NAMED = 8


def read_again(path: Path, parser: ParserConfig, on_page: OnPage) -> list[PageReading] | str:
    """The pages of a PDF by the second reader of ``parser``, or why it cannot read them."""
    second = second_reader(parser)
    try:
        readings = second.read(path, on_page)
        return readings if second.sees_damage else _with_damage(readings, path, on_page)
    except CorpusError as error:
        return str(error)
    except MemoryError:
        raise
    except Exception as error:  # of a damaged file, to which pypdf may answer with anything
        return f"{type(error).__name__}: {error}"


def _with_damage(readings: list[PageReading], path: Path, on_page: OnPage) -> list[PageReading]:
    """The readings with damage found in the content streams, if pypdf can read the file."""
    from harness.data.corpus.parsers.pypdf import read_content_streams

    try:
        streams = read_content_streams(path, on_page)
    except MemoryError:
        raise
    except Exception:  # of a damaged file, to which pypdf may answer with anything
        return readings
    damaged = chain((stream.damaged for stream in streams), repeat(False))
    return [replace(reading, damaged=broken) for reading, broken in zip(readings, damaged, strict=False)]


def compare(
    parsed: ParsedDocument, readings: Sequence[PageReading] | str, parser: ParserConfig
) -> ParsedDocument:
    """The document with the findings of a second reading; a reading that failed is a warning."""
    second = second_reader(parser)
    if isinstance(readings, str):
        warning = f"no second reading by {second.name}: {' '.join(readings.split())[:300]}"
        stats = replace(parsed.stats, warnings=(*parsed.stats.warnings, warning))
        return replace(parsed, stats=stats)
    document = parsed.document
    spans = (document.page_span(number) for number in range(1, len(document.page_starts) + 1))
    # characters other than white space, by page
    extracted = [sum(map(len, document.text[start:end].split())) for start, end in spans]
    counts = zip_longest(extracted, (reading.characters for reading in readings), fillvalue=0)
    short = {
        page: second_count - first_count
        for page, (first_count, second_count) in enumerate(counts, 1)
        if second.finds_far_more(second_count, first_count)
    }
    blank = tuple(
        page for page in parsed.stats.pages_without_text if page <= len(readings) and readings[page - 1].blank
    )
    stats = replace(
        parsed.stats,
        second_reader=second.name,
        blank_pages=blank,
        short_pages=tuple(short),
        damaged_pages=tuple(page for page, reading in enumerate(readings, 1) if reading.damaged),
        missing_characters=sum(short.values()),
    )
    return replace(parsed, stats=stats)


def refusal(parsed: ParsedDocument, parsing: ParsingConfig) -> str | None:
    """Why a document has lost too much text to be used, with the remedy; None if it has not."""
    stats = parsed.stats
    pages, characters = len(stats.suspect_pages), stats.suspect_characters
    if pages > parsing.max_suspect_pages * stats.all_pages:
        return (
            f"{pages} of {stats.all_pages} pages may have lost text (page "
            f"{some_pages(stats.suspect_pages)}: {_losses(stats)}), more than parsing.max_suspect_pages: "
            f"{parsing.max_suspect_pages:g} allows. Run OCR over scans (for example: ocrmypdf --skip-text "
            "in.pdf out.pdf), download the file again, choose another parser kind, or raise the key."
        )
    if characters > parsing.max_suspect_characters * stats.characters:
        return (
            f"{characters:,} of {stats.characters:,} characters are undecodable, control or private-use "
            f"characters, more than parsing.max_suspect_characters: {parsing.max_suspect_characters:g} "
            "allows. Save the file as text in UTF-8, choose another parser kind, or raise the key."
        )
    return None


def _losses(stats: TextStats) -> str:
    """The ways in which pages are suspect."""
    silent = len(stats.silent_pages)
    parts = [f"{silent} without text though something is drawn"] if silent else []
    if stats.damaged_pages:
        parts.append(f"{len(stats.damaged_pages)} with damaged content")
    if stats.short_pages:
        parts.append(f"{stats.second_reader} finds {counted(stats.missing_characters, 'character')} more")
    return "; ".join(parts)


def some_pages(pages: Sequence[int]) -> str:
    """Page numbers in runs, such as ``2-60, 63``; of many runs the first."""
    runs = [[page for _, page in run] for _, run in groupby(enumerate(pages), lambda at: at[1] - at[0])]
    shown = [f"{run[0]}-{run[-1]}" if run[1:] else f"{run[0]}" for run in runs[:_MOST_PAGES_NAMED]]
    return ", ".join(shown) + (", …" if len(runs) > _MOST_PAGES_NAMED else "")
