"""Parse many files into documents: PDFs in worker processes, texts in this one, in the order of the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from harness.data.corpus.documents import PDF_SUFFIXES, DocumentFile
from harness.data.corpus.formats import FORMAT_SUFFIXES, format_of
from harness.data.corpus.lost_text import compare, read_again
from harness.data.corpus.parse import parse_document
from harness.data.corpus.parsers import ParserConfig, suffixes_of
from harness.data.corpus.parsers.pdf_file import OnPage
from harness.data.corpus.parsing import ParsingConfig
from harness.data.corpus.text import ParsedDocument
from harness.data.corpus.workers import LostTask, Worker, run_in_workers
from harness.values import CorpusError

OnBad = Literal["fail", "skip", "fail_at_end"]


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A file that was left out, and why."""

    doc_id: str
    path: Path
    reason: str


# A worker returns the message of an error, not the error: every message survives the way back.
_Outcome = ParsedDocument | str
_Record = Callable[[DocumentFile, _Outcome], None]


def parse_documents(
    files: Sequence[DocumentFile],
    parser: ParserConfig,
    on_bad: OnBad = "fail",
    parsing: ParsingConfig | None = None,
    on_done: Callable[[DocumentFile, ParsedDocument | None], None] | None = None,
) -> tuple[list[ParsedDocument], list[SkippedDocument]]:
    """Parse all files; both lists follow the order of ``files``.

    All but plain text is read in worker processes, the largest first; a file that is beyond a limit of
    ``parsing`` or kills its worker is a bad file like any other. ``on_done`` gets each file as it ends, with
    what was read or None. Raises CorpusError at the first bad file (``fail``); otherwise bad files are left
    out.
    """
    outcomes: dict[DocumentFile, _Outcome] = {}

    def record(file: DocumentFile, outcome: _Outcome) -> None:
        if isinstance(outcome, str) and on_bad == "fail":
            raise bad_document(outcome)
        outcomes[file] = outcome
        if on_done is not None:
            on_done(file, None if isinstance(outcome, str) else outcome)

    apart = (*suffixes_of(parser), *FORMAT_SUFFIXES)
    paged = [file for file in files if file.path.suffix.lower() in apart]
    for file in files:
        if file not in paged:
            record(file, _outcome(file, parser))
    if paged:
        _parse_in_workers(paged, parser, parsing or ParsingConfig(), record)

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
        f"{reason} Or go on without such files: on_bad_document: skip, or fail_at_end for an exit code of 1."
    )


def _outcome(file: DocumentFile, parser: ParserConfig, on_page: OnPage | None = None) -> _Outcome:
    try:
        return parse_document(file, parser, on_page)
    except CorpusError as error:
        return str(error)


def _parse_in_workers(
    files: Sequence[DocumentFile], parser: ParserConfig, parsing: ParsingConfig, record: _Record
) -> None:
    sizes = {file: file.path.stat().st_size if file.path.exists() else 0 for file in files}
    by_size = sorted(files, key=lambda file: (-sizes[file], file.doc_id))
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(len(files), parsing.workers or cpus)
    jobs = {file: partial(_read, file, parser, parsing.second_reading) for file in by_size}
    run_in_workers(jobs, count, parsing, record)


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
    places = [str(path)] if path else []
    places += [f"page {lost.page}"] if lost.page else []
    return f"{', '.join(places)}{': ' if places else ''}{reason}"
