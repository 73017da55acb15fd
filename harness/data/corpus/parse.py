"""Files become documents: text as it is, all others in worker processes, in the order of the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from harness.data.corpus.document_files import (
    FORMAT_SUFFIXES,
    PDF_SUFFIXES,
    DocumentFile,
    FileFormat,
    format_of,
    refuse_unknown,
)
from harness.data.corpus.extraction import (
    STATS_FORMAT,
    TEXT_FORMAT,
    ParsedDocument,
    TextStats,
    compare,
    count_odd,
    join_pages,
    read_again,
    without_surrogates,
)
from harness.data.corpus.parsers import ParserConfig, release_of, suffixes_of
from harness.data.corpus.parsers.pdf_file import OnPage
from harness.data.corpus.text_file import read_utf8
from harness.data.corpus.workers import LostTask, ParsingConfig, Worker, run_in_workers
from harness.values import CorpusError, Document, available_cpus, refuse_special, text_sha256

_BOM = "\ufeff"


def parse_document(file: DocumentFile, parser: ParserConfig, on_page: OnPage | None = None) -> ParsedDocument:
    """Extract the text of one file; raises CorpusError that names file, page where known, and remedy.

    ``on_page`` is called with the number of every PDF page before it is read.

    PDF pages, sheets of a workbook and slides are joined with a newline between them, which belongs to the
    page before it. Line ends and spaces of text files stay as they are, so offsets count the file's own
    characters.
    """
    if file.path.suffix.lower() in suffixes_of(parser):
        return _parse_pages(file, parser, on_page or (lambda page: None))
    file_format = format_of(file.path)
    if file_format is not None:
        return _parse_format(file, file_format)
    refuse_unknown(file.path, suffixes_of(parser))
    text = read_utf8(file.path)
    return _parsed(file, text.removeprefix(_BOM), (), byte_order_marks=int(text.startswith(_BOM)))


def parser_fingerprint(parser: ParserConfig) -> str:
    """Everything besides the file that decides the text: kind, library version, options and our formats."""
    options = json.dumps(parser.model_dump(exclude={"kind"}), sort_keys=True)
    return f"{parser.kind} {release_of(parser)} {options} text-{TEXT_FORMAT} stats-{STATS_FORMAT}"


def _parse_pages(file: DocumentFile, parser: ParserConfig, on_page: OnPage) -> ParsedDocument:
    refuse_special(file.path)
    pdf = parser.read(file.path, on_page)
    pages = [without_surrogates(page) for page in pdf.pages]
    if not pdf.paged:
        return _parsed(file, pages[0], ())
    if not any(page.strip() for page in pages):
        which = "its only page has no" if len(pages) == 1 else f"none of the {len(pages)} pages has any"
        raise CorpusError(
            f"{file.path}: {which} text, so it is most likely a scan. "
            "Run OCR over it first (for example: ocrmypdf in.pdf out.pdf)."
        )
    return _parsed(file, *join_pages(pages), encryption=pdf.encryption, warnings=pdf.warnings)


def _parse_format(file: DocumentFile, file_format: FileFormat) -> ParsedDocument:
    read = file_format.read(file.path)
    parts = [without_surrogates(part or "") for part in read]
    if not file_format.paged:
        return _parsed(file, "".join(parts), ())
    blank = tuple(number for number, part in enumerate(read, 1) if part == "")
    return _parsed(file, *join_pages(parts), blank_pages=blank)


def _parsed(file: DocumentFile, text: str, page_starts: tuple[int, ...], **more: Any) -> ParsedDocument:
    """The document and its statistics, to which ``more`` belong."""
    if not text.strip():
        raise CorpusError(f"{file.path}: the file holds no text. Fill it, or leave it out.")
    document = Document(file.doc_id, text, page_starts, text_sha256(text))
    pages = range(1, len(page_starts) + 1)
    stats = TextStats(
        pages=len(pages),
        pages_without_text=tuple(n for n in pages if not text[slice(*document.page_span(n))].strip()),
        odd_characters=count_odd(text),
        undecodable_characters=text.count("\ufffd"),
        no_break_spaces=text.count("\u00a0"),
        characters=len(text),
        bytes=file.path.stat().st_size,
        **more,
    )
    return ParsedDocument(document, stats)


OnBad = Literal["fail", "skip", "fail_at_end"]


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A file that was left out, and why."""

    doc_id: str
    path: Path
    reason: str


# A worker returns the message of an error, not the error: every message survives the way back.
_Outcome = ParsedDocument | str
Record = Callable[[DocumentFile, _Outcome], None]
"""Takes what was read from a file, or why nothing was."""


def parse_documents(
    files: Sequence[DocumentFile],
    parser: ParserConfig,
    on_bad: OnBad = "fail",
    parsing: ParsingConfig | None = None,
    on_done: Callable[[DocumentFile, ParsedDocument | None], None] | None = None,
    elsewhere: Callable[[Sequence[DocumentFile], Record], None] | None = None,
) -> tuple[list[ParsedDocument], list[SkippedDocument]]:
    """Parse all files; both lists follow the order of ``files``.

    All but plain text is read in worker processes, the largest first; a file that is beyond a limit of
    ``parsing`` or kills its worker is a bad file like any other. ``on_done`` gets each file as it ends, with
    what was read or None. Given ``elsewhere``, that reads all files, and records each. Raises CorpusError at
    the first bad file (``fail``); otherwise bad files are left out.
    """
    outcomes: dict[DocumentFile, _Outcome] = {}

    def record(file: DocumentFile, outcome: _Outcome) -> None:
        if isinstance(outcome, str) and on_bad == "fail":
            raise bad_document(outcome)
        outcomes[file] = outcome
        if on_done is not None:
            on_done(file, None if isinstance(outcome, str) else outcome)

    if elsewhere is not None:
        elsewhere(files, record)
    local_files = files if elsewhere is None else ()
    apart = (*suffixes_of(parser), *FORMAT_SUFFIXES)
    paged = [file for file in local_files if file.path.suffix.lower() in apart]
    for file in local_files:
        if file not in paged:
            record(file, _outcome(file, parser))
    if paged:
        limits = parsing or ParsingConfig()
        sizes = {file: file.path.stat().st_size if file.path.exists() else 0 for file in paged}
        by_size = sorted(paged, key=lambda file: (-sizes[file], file.doc_id))
        jobs = {file: partial(_read, file, parser, limits.second_reading) for file in by_size}
        run_in_workers(jobs, min(len(paged), limits.workers or available_cpus()), limits, record)

    parsed = [outcome for file in files if isinstance(outcome := outcomes[file], ParsedDocument)]
    skipped = [
        SkippedDocument(file.doc_id, file.path, outcome)
        for file in files
        if isinstance(outcome := outcomes[file], str)
    ]
    return parsed, skipped


def bad_document(reason: str) -> CorpusError:
    """The error for a document that cannot be used, where such a document ends the run."""
    return CorpusError(
        f"{reason} Or go on without it: on_bad_document: skip, or fail_at_end for an exit code of 1."
    )


def _outcome(file: DocumentFile, parser: ParserConfig, on_page: OnPage | None = None) -> _Outcome:
    try:
        return parse_document(file, parser, on_page)
    except CorpusError as error:
        return str(error)


def _read(file: DocumentFile, parser: ParserConfig, again: bool, worker: Worker) -> _Outcome:
    """Parse a file and, unless it is no PDF, read it a second time, which may fail by itself."""
    path = file.path
    parsed = worker.run(partial(_outcome, file, parser))
    if isinstance(parsed, LostTask):
        form = None if path.suffix.lower() in suffixes_of(parser) else format_of(path)
        reader = form.packages[0] if form else parser.kind
        return _at(parsed, f"{reader} {parsed.reason}", path)
    # a second reader compares pages
    paged = path.suffix.lower() in PDF_SUFFIXES and isinstance(parsed, ParsedDocument)
    if not (again and paged and parsed.document.page_starts):
        return parsed  # type: ignore[no-any-return]
    readings = worker.run(partial(read_again, path, parser))
    if isinstance(readings, LostTask):
        readings = _at(readings, readings.reason)
    return compare(parsed, readings, parser)


def _at(lost: LostTask, reason: str, path: Path | None = None) -> str:
    """The reason with the page, after the path where one is given."""
    places = ", ".join(filter(None, (str(path or ""), f"page {lost.page}" if lost.page else "")))
    return f"{places}: {reason}" if places else reason
