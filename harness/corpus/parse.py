"""A file becomes a document: PDF through the chosen parser, text and Markdown as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from harness.corpus.documents import DocumentFile, refuse_unknown
from harness.corpus.formats import Format, format_of
from harness.corpus.parsers import PARSERS, ParserConfig, release_of, second_reader, suffixes_of
from harness.corpus.reading import read_utf8, refuse_special
from harness.corpus.text import (
    STATS_FORMAT,
    TEXT_FORMAT,
    ParsedDocument,
    TextStats,
    count_odd,
    join_pages,
    text_sha256,
    without_surrogates,
)
from harness.corpus.worker_process import OnPage
from harness.errors import CorpusError
from harness.types import Document

_BOM = "\ufeff"


def parse_document(file: DocumentFile, parser: ParserConfig, on_page: OnPage | None = None) -> ParsedDocument:
    """Extract the text of one file; raises CorpusError that names file, page where known, and remedy.

    ``on_page`` is called with the number of every PDF page before it is read.

    PDF pages, sheets of a workbook and slides are joined with a newline between them, which belongs to the
    page before it. Line ends and spaces of text files stay as they are, so offsets count the file's own
    characters.
    """
    if file.path.suffix.lower() in suffixes_of(parser):
        return _parse_pages(file, parser, on_page or _tell_nobody)
    found = format_of(file.path)
    if found is not None:
        return _parse_format(file, found)
    refuse_unknown(file.path, suffixes_of(parser))
    return _parse_text(file)


def parser_fingerprint(parser: ParserConfig, second_reading: bool = False) -> str:
    """All that decides the text besides the file: kind, library version, options and our formats.

    With ``second_reading`` also the second reader, on which the statistics depend.
    """
    options = json.dumps(parser.model_dump(exclude={"kind"}), sort_keys=True)
    try:
        library = release_of(parser)
    except PackageNotFoundError as error:
        raise CorpusError(
            f"The parser kind {parser.kind} is not installed: pip install {parser.kind}."
        ) from error
    second = f" {second_reader(parser).name}" if second_reading else ""
    return f"{parser.kind} {library} {options} text-{TEXT_FORMAT} stats-{STATS_FORMAT}{second}"


def _tell_nobody(page: int) -> None:
    pass


def _parse_pages(file: DocumentFile, parser: ParserConfig, on_page: OnPage) -> ParsedDocument:
    refuse_special(file.path)
    pdf = PARSERS.make(parser)(file.path, on_page)
    pages = [without_surrogates(page) for page in pdf.pages]
    if not pdf.paged:
        return _unpaged(file, pages[0])
    empty = tuple(number for number, page in enumerate(pages, 1) if not page.strip())
    if len(empty) == len(pages):
        which = "its only page has no" if len(pages) == 1 else f"none of the {len(pages)} pages has any"
        raise CorpusError(
            f"{file.path}: {which} text, so it is most likely a scan. "
            "Run OCR over it first (for example: ocrmypdf in.pdf out.pdf)."
        )
    text, page_starts = join_pages(pages)
    document = Document(file.doc_id, text, page_starts, text_sha256(text))
    return ParsedDocument(document, _stats(document, file.path, empty, pdf.encryption, pdf.warnings))


def _parse_format(file: DocumentFile, found: Format) -> ParsedDocument:
    read = found.read(file.path)
    parts = [without_surrogates(part or "") for part in read]
    if not any(part.strip() for part in parts):
        raise CorpusError(f"{file.path}: the file holds no text. Fill it, or leave it out.")
    if not found.paged:
        return _unpaged(file, "".join(parts))
    empty = tuple(number for number, part in enumerate(parts, 1) if not part.strip())
    text, page_starts = join_pages(parts)
    document = Document(file.doc_id, text, page_starts, text_sha256(text))
    blank = tuple(number for number, part in enumerate(read, 1) if part == "")
    stats = _stats(document, file.path, empty, "none", ())
    return ParsedDocument(document, replace(stats, blank_pages=blank))


def _parse_text(file: DocumentFile) -> ParsedDocument:
    text = read_utf8(file.path)
    return _unpaged(file, text.removeprefix(_BOM), int(text.startswith(_BOM)))


def _unpaged(file: DocumentFile, text: str, marks: int = 0) -> ParsedDocument:
    if not text.strip():
        raise CorpusError(f"{file.path}: the file holds no text. Fill it, or leave it out.")
    document = Document(file.doc_id, text, (), text_sha256(text))
    return ParsedDocument(document, _stats(document, file.path, (), "none", (), marks))


def _stats(
    document: Document,
    path: Path,
    empty: tuple[int, ...],
    encryption: str,
    warnings: tuple[str, ...],
    byte_order_marks: int = 0,
) -> TextStats:
    return TextStats(
        pages=len(document.page_starts),
        pages_without_text=empty,
        odd_characters=count_odd(document.text),
        undecodable_characters=document.text.count("\ufffd"),
        no_break_spaces=document.text.count("\u00a0"),
        characters=len(document.text),
        bytes=path.stat().st_size,
        byte_order_marks=byte_order_marks,
        encryption=encryption,
        warnings=warnings,
    )
