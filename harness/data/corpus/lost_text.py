"""Silently lost text: found by a second reading, counted, and refused above a share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from harness.data.corpus.parsers import ParserConfig, second_reader
from harness.data.corpus.parsers.content_streams import read_content_streams
from harness.data.corpus.parsers.pdf_file import OnPage, PageReading
from harness.data.corpus.text import ParsedDocument, TextStats
from harness.data.corpus.workers import ParsingConfig
from harness.values import CorpusError

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
    try:
        streams = read_content_streams(path, on_page)
    except MemoryError:
        raise
    except Exception:  # of a damaged file, to which pypdf may answer with anything
        return readings
    damaged = [stream.damaged for stream in streams]
    return [
        replace(reading, damaged=index < len(damaged) and damaged[index])
        for index, reading in enumerate(readings)
    ]


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
    found = [sum(map(len, document.text[start:end].split())) for start, end in spans]
    counts = zip_longest(found, (reading.characters for reading in readings), fillvalue=0)
    short = {
        page: there - here
        for page, (here, there) in enumerate(counts, 1)
        if second.finds_far_more(there, here)
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
        parts.append(f"{stats.second_reader} finds {stats.missing_characters:,} characters more")
    return "; ".join(parts)


def some_pages(pages: Sequence[int]) -> str:
    """Page numbers in runs, such as ``2-60, 63``; of many runs the first."""
    runs: list[tuple[int, int]] = []
    for page in pages:
        if runs and page == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], page)
        else:
            runs.append((page, page))
    shown = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs[:_MOST_PAGES_NAMED]]
    return ", ".join(shown) + (", …" if len(runs) > _MOST_PAGES_NAMED else "")
