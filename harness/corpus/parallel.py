"""Many files become documents: PDFs in worker processes, texts in this one, in the order of the files."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.corpus.documents import PDF_SUFFIXES, DocumentFile
from harness.corpus.parse import parse_document
from harness.corpus.parsers import ParserConfig
from harness.corpus.text import ParsedDocument
from harness.errors import CorpusError

OnBad = Literal["fail", "skip"]


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """A file that was left out, and why."""

    doc_id: str
    path: Path
    reason: str


# A worker returns the message of an error, not the error: every message survives the way back.
_Outcome = ParsedDocument | str


def parse_documents(
    files: Sequence[DocumentFile],
    parser: ParserConfig,
    on_bad: OnBad = "fail",
    jobs: int | None = None,
    on_done: Callable[[DocumentFile, ParsedDocument | None], None] | None = None,
) -> tuple[list[ParsedDocument], list[SkippedDocument]]:
    """Parse all files; both lists follow the order of ``files``.

    ``jobs`` is the number of worker processes (None: one per CPU available to us, 1: no other process).
    Workers start afresh (spawn) and take one PDF at a time, the largest first. ``on_done`` is told of each
    file as it ends, with what was read or None. Raises CorpusError at the first bad file (``fail``).
    """
    outcomes: dict[DocumentFile, _Outcome] = {}

    def record(file: DocumentFile, outcome: _Outcome) -> None:
        if isinstance(outcome, str) and on_bad == "fail":
            raise CorpusError(f"{outcome} Or skip such files: on_bad_document: skip.")
        outcomes[file] = outcome
        if on_done is not None:
            on_done(file, None if isinstance(outcome, str) else outcome)

    pdfs = [file for file in files if file.path.suffix.lower() in PDF_SUFFIXES]
    workers = min(len(pdfs), jobs or _available_cpus())
    parallel = set(pdfs) if workers > 1 else set()
    for file in files:
        if file not in parallel:
            record(file, _outcome(file, parser))
    if parallel:
        _parse_in_workers(parallel, parser, workers, record)

    parsed = [outcome for file in files if isinstance(outcome := outcomes[file], ParsedDocument)]
    skipped = [
        SkippedDocument(file.doc_id, file.path, outcome)
        for file in files
        if isinstance(outcome := outcomes[file], str)
    ]
    return parsed, skipped


def _outcome(file: DocumentFile, parser: ParserConfig) -> _Outcome:
    try:
        return parse_document(file, parser)
    except CorpusError as error:
        return str(error)


def _parse_in_workers(
    files: Collection[DocumentFile],
    parser: ParserConfig,
    workers: int,
    record: Callable[[DocumentFile, _Outcome], None],
) -> None:
    by_size = sorted(files, key=lambda file: (-_size(file), file.doc_id))
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    pending: dict[Future[_Outcome], DocumentFile] = {}
    try:
        pending.update({pool.submit(_outcome, file, parser): file for file in by_size})
        for future in as_completed(list(pending)):
            record(pending[future], future.result())
            del pending[future]
        pool.shutdown()
    except BrokenProcessPool as error:
        under_way = sorted(file.path.name for file in list(pending.values())[:workers])
        raise CorpusError(
            f"A worker process died while parsing documents, perhaps one of {', '.join(under_way)}: "
            "it was killed, or memory ran out. Parse with jobs: 1, or leave the document out."
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _size(file: DocumentFile) -> int:
    return file.path.stat().st_size if file.path.exists() else 0


def _available_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
