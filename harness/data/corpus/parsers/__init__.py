"""The PDF parsers to choose from, by kind.

The configuration of each has ``read(path, on_page) -> PdfPages``. It calls ``on_page`` with the number of
every page before it reads it, and raises CorpusError for every file it cannot read.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.data.corpus.document_files import PDF_SUFFIXES
from harness.data.corpus.parsers.pdf_file import SecondReader
from harness.data.corpus.parsers.pypdf import PypdfConfig
from harness.data.corpus.parsers.pypdfium2 import Pypdfium2Config, count_with_pypdfium2
from harness.data.corpus.parsers.python import PythonParserConfig
from harness.values import KindAt, Kinds, installed_version

ParserConfig = Annotated[PypdfConfig | Pypdfium2Config | PythonParserConfig, Field(discriminator="kind")]
PARSERS: Kinds[ParserConfig] = Kinds(
    "parse",
    KindAt("pypdf", "PypdfConfig", tries=({},)),
    KindAt("pypdfium2", "Pypdfium2Config", tries=({},)),
    KindAt("python", "PythonParserConfig"),
    home=__name__,
)


def suffixes_of(parser: ParserConfig) -> tuple[str, ...]:
    """The endings of the files that a parser reads; all others are plain text."""
    return parser.suffixes if isinstance(parser, PythonParserConfig) else PDF_SUFFIXES


def release_of(parser: ParserConfig) -> str:
    """The version of the library that reads the files."""
    return parser.version if isinstance(parser, PythonParserConfig) else installed_version(parser.kind)


def second_reader(parser: ParserConfig) -> SecondReader:
    """The reader that a parser's text is compared with.

    pypdf is compared with pypdfium2. The opposite would take far longer than the parsing itself, so all
    others are compared with the content streams. These know no fonts and count glyphs too many, so that only
    heavy losses show. Pages of real filings lie far from both limits: see docs/corpora.md.
    """
    if parser.kind == "pypdf":
        return SecondReader(f"pypdfium2 {installed_version('pypdfium2')}", count_with_pypdfium2, 0.8, 20)
    from harness.data.corpus.parsers.pypdf import read_content_streams

    name = f"content streams by pypdf {installed_version('pypdf')}"
    return SecondReader(name, read_content_streams, 0.25, 50, True)
