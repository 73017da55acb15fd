"""What is suspect in the text of documents that were read: losses, repairs, symbols without meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import data, values
from harness.comparison import sentence_of
from harness.running.notes import RunNotes

_SHOWN = 3
# Many filings have a few symbols of fonts without names, which change nothing.
_WORTH_A_WARNING = 0.001


def report_text(parsed: Sequence[data.ParsedDocument], parser: data.ParserConfig, notes: RunNotes) -> None:
    """Say what share of pages and characters is suspect, if any is; warn of losses and of repairs."""
    stats = [item.stats for item in parsed]
    pages, suspect_pages = sum(s.all_pages for s in stats), sum(len(s.suspect_pages) for s in stats)
    characters, suspect = sum(s.characters for s in stats), sum(s.suspect_characters for s in stats)
    notes.counts["pages"] += pages
    notes.counts["pages_suspect"] += suspect_pages
    notes.counts["characters"] += characters
    notes.counts["characters_suspect"] += suspect
    line = sentence_of(
        "text.suspect.pages" if suspect_pages else "text.suspect",
        documents=values.counted(len(parsed), "document"),
        pages=_share(suspect_pages, pages),
        characters=_share(suspect, characters),
    )
    if suspect_pages or suspect > _WORTH_A_WARNING * characters:
        notes.warn(line)
    elif suspect:
        notes.reporter.note(line)
    _warn_of_pages(parsed, parser, notes)
    _warn_of_repairs(parsed, notes)


def _warn_of_pages(parsed: Sequence[data.ParsedDocument], parser: data.ParserConfig, notes: RunNotes) -> None:
    silent, short, damaged = (
        {item.document.doc_id: pages for item in parsed if (pages := getattr(item.stats, kind))}
        for kind in ("silent_pages", "short_pages", "damaged_pages")
    )
    if silent:
        notes.warn(sentence_of("text.silent", count=len(silent), pages=_listed(silent)))
    if damaged:
        notes.warn(sentence_of("text.damaged", count=len(damaged), pages=_listed(damaged)))
    if short:
        readers = sorted({item.stats.second_reader for item in parsed if item.stats.short_pages})
        missing = sum(item.stats.missing_characters for item in parsed)
        notes.warn(
            sentence_of(
                "text.short",
                parser=parser.kind,
                documents=values.counted(len(short), "document"),
                readers=", ".join(readers),
                missing=missing,
                pages=_listed(short),
            )
        )


def _warn_of_repairs(parsed: Sequence[data.ParsedDocument], notes: RunNotes) -> None:
    repaired = [item for item in parsed if item.stats.warnings]
    if repaired:
        shown = "; ".join(f"{item.document.doc_id}: {item.stats.warnings[0]}" for item in repaired[:_SHOWN])
        more = f"; and {len(repaired) - _SHOWN} more" if len(repaired) > _SHOWN else ""
        documents = values.counted(len(repaired), "document")
        notes.warn(sentence_of("text.repaired", documents=documents, repairs=f"{shown}{more}"))


def _listed(pages: Mapping[str, Sequence[int]]) -> str:
    shown = [
        f"{doc_id} (page{'s' * (len(numbers) > 1)} {data.some_pages(numbers)})"
        for doc_id, numbers in list(pages.items())[:_SHOWN]
    ]
    return ", ".join(shown) + (f" and {len(pages) - _SHOWN} more" if len(pages) > _SHOWN else "")


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.2%})" if whole else "0 of 0"
