"""The PDF parsers to choose from: ``PARSERS`` maps each kind to its config and to its page reader.

A page reader is ``(path, config, on_page) -> PdfPages``. It tells ``on_page`` the number of every page
before it reads it, and raises CorpusError for every file it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from harness.corpus.documents import PDF_SUFFIXES
from harness.corpus.parsers.content_streams import read_content_streams
from harness.corpus.parsers.pdf_file import PageReading, PdfPages, SecondReader
from harness.corpus.parsers.pypdf import PypdfConfig, read_with_pypdf
from harness.corpus.parsers.pypdfium2 import Pypdfium2Config, count_with_pypdfium2, read_with_pypdfium2
from harness.corpus.parsers.python import PythonParserConfig, read_with_python
from harness.kinds import Kind, Kinds, StageConfig

ReadPdf = Callable[[Path, Callable[[int], None]], PdfPages]
ParserConfig = Annotated[PypdfConfig | Pypdfium2Config | PythonParserConfig, Field(discriminator="kind")]
Configured = TypeVar("Configured", bound=StageConfig)


def _with_config(
    read: Callable[[Path, Configured, Callable[[int], None]], PdfPages],
) -> Callable[[Configured], ReadPdf]:
    return lambda config: lambda path, on_page: read(path, config, on_page)


PARSERS: Kinds[ReadPdf] = Kinds(
    "parse",
    Kind(PypdfConfig, _with_config(read_with_pypdf)),
    Kind(Pypdfium2Config, _with_config(read_with_pypdfium2)),
    Kind(PythonParserConfig, _with_config(read_with_python)),
)


def suffixes_of(parser: ParserConfig) -> tuple[str, ...]:
    """The endings of the files that a parser reads; all others are plain text."""
    return parser.suffixes if isinstance(parser, PythonParserConfig) else PDF_SUFFIXES


def release_of(parser: ParserConfig) -> str:
    """The version of what reads the files; raises PackageNotFoundError where it is not installed."""
    return parser.version if isinstance(parser, PythonParserConfig) else version(parser.kind)


def second_reader(parser: ParserConfig) -> SecondReader:
    """The reader that a parser's text is compared with.

    pypdf is compared with pypdfium2 where that is installed. The opposite would take far longer than the
    parsing itself, so pypdfium2, and pypdf without it, are compared with the content streams. These know no
    fonts and count glyphs too many, so that only heavy losses show. Pages of real filings lie far from both
    limits: see docs/corpora.md.
    """
    if parser.kind == "pypdf":
        try:
            return SecondReader(f"pypdfium2 {version('pypdfium2')}", count_with_pypdfium2, 0.8, 20)
        except PackageNotFoundError:
            pass
    return SecondReader(f"content streams by pypdf {version('pypdf')}", read_content_streams, 0.25, 50, True)
