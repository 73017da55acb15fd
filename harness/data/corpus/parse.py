"""A file becomes a document: PDF through the chosen parser, text and Markdown as they are."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from typing import Any

from harness.data.corpus.documents import DocumentFile, refuse_unknown
from harness.data.corpus.formats import FileFormat, format_of
from harness.data.corpus.parsers import ParserConfig, release_of, suffixes_of
from harness.data.corpus.parsers.pdf_file import OnPage
from harness.data.corpus.reading import read_utf8
from harness.data.corpus.text import (
    STATS_FORMAT,
    TEXT_FORMAT,
    ParsedDocument,
    TextStats,
    count_odd,
    join_pages,
    text_sha256,
    without_surrogates,
)
from harness.values import CorpusError, Document, refuse_special

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
    found = format_of(file.path)
    if found is not None:
        return _parse_format(file, found)
    refuse_unknown(file.path, suffixes_of(parser))
    text = read_utf8(file.path)
    return _parsed(file, text.removeprefix(_BOM), (), byte_order_marks=int(text.startswith(_BOM)))


def parser_fingerprint(parser: ParserConfig) -> str:
    """Everything besides the file that decides the text: kind, library version, options and our formats."""
    options = json.dumps(parser.model_dump(exclude={"kind"}), sort_keys=True)
    try:
        library = release_of(parser)
    except PackageNotFoundError as error:
        raise CorpusError(
            f"The parser kind {parser.kind} is not installed: pip install {parser.kind}."
        ) from error
    return f"{parser.kind} {library} {options} text-{TEXT_FORMAT} stats-{STATS_FORMAT}"


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


def _parse_format(file: DocumentFile, found: FileFormat) -> ParsedDocument:
    read = found.read(file.path)
    parts = [without_surrogates(part or "") for part in read]
    if not found.paged:
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
