"""How much of the extracted text is suspect: one line for all documents, and the losses of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.data import ParsedDocument, ParserConfig, some_pages
from harness.running.context import Context
from harness.values import counted

_SHOWN = 3
# Many filings have a few symbols of fonts without names, which change nothing.
_WORTH_A_WARNING = 0.001


def report_text(parsed: Sequence[ParsedDocument], parser: ParserConfig, context: Context) -> None:
    """Say what share of pages and characters is suspect, if any is; warn of losses and of repairs."""
    stats = [item.stats for item in parsed]
    pages, suspect_pages = sum(s.all_pages for s in stats), sum(len(s.suspect_pages) for s in stats)
    characters, suspect = sum(s.characters for s in stats), sum(s.suspect_characters for s in stats)
    context.count("pages", pages)
    context.count("pages_suspect", suspect_pages)
    context.count("characters", characters)
    context.count("characters_suspect", suspect)
    line = f"text of {counted(len(parsed), 'document')}: "
    line += f"{_share(suspect_pages, pages)} pages and " if pages else ""
    line += f"{_share(suspect, characters)} characters are suspect"
    worth = suspect_pages or suspect > _WORTH_A_WARNING * characters
    if suspect_pages or suspect:
        if worth:
            context.warn("text", line)
        else:
            context.reporter.note(line)
    _warn_of_pages(parsed, parser, context)
    _warn_of_repairs(parsed, context)


def _warn_of_pages(parsed: Sequence[ParsedDocument], parser: ParserConfig, context: Context) -> None:
    by_id = {item.document.doc_id: item.stats for item in parsed}
    silent = {doc_id: stats.silent_pages for doc_id, stats in by_id.items() if stats.silent_pages}
    short = {doc_id: stats.short_pages for doc_id, stats in by_id.items() if stats.short_pages}
    damaged = {doc_id: stats.damaged_pages for doc_id, stats in by_id.items() if stats.damaged_pages}
    if silent:
        have = counted(len(silent), "document has", "documents have")
        context.warn(
            "text",
            f"{have} pages without text although something is drawn on them, most likely scans: "
            f"{_listed(silent)}. Run OCR over them (for example: ocrmypdf --skip-text in.pdf out.pdf).",
        )
    if damaged:
        have = counted(len(damaged), "document has", "documents have")
        context.warn(
            "text",
            f"{have} pages with damaged content, part of which may be missing: {_listed(damaged)}. "
            "Download or export them again.",
        )
    if short:
        readers = sorted({item.stats.second_reader for item in parsed if item.stats.short_pages})
        missing = sum(item.stats.missing_characters for item in parsed)
        context.warn(
            "text",
            f"{parser.kind} may have lost text of {counted(len(short), 'document')}; the second "
            f"reading ({', '.join(readers)}) finds {missing:,} characters more: {_listed(short)}. "
            "Check these pages, or choose another kind of parser.",
        )


def _warn_of_repairs(parsed: Sequence[ParsedDocument], context: Context) -> None:
    repaired = [item for item in parsed if item.stats.warnings]
    if repaired:
        shown = "; ".join(f"{item.document.doc_id}: {item.stats.warnings[0]}" for item in repaired[:_SHOWN])
        more = f"; and {len(repaired) - _SHOWN} more" if len(repaired) > _SHOWN else ""
        context.warn(
            "text",
            f"{counted(len(repaired), 'document')} could be read, but only after repairing errors "
            f"({shown}{more}); "
            "documents.csv of a run lists all of them",
        )


def _listed(pages: Mapping[str, Sequence[int]]) -> str:
    shown = [
        f"{doc_id} (page{'s' * (len(its) > 1)} {some_pages(its)})"
        for doc_id, its in list(pages.items())[:_SHOWN]
    ]
    return ", ".join(shown) + (f" and {len(pages) - _SHOWN} more" if len(pages) > _SHOWN else "")


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.2%})" if whole else "0 of 0"
