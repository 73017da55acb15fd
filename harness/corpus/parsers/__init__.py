"""The PDF parsers to choose from: ``PARSERS`` maps each kind to its config and to its page reader.

A page reader is ``(path, config, on_page) -> PdfPages``. It tells ``on_page`` the number of every page
before it reads it, and raises CorpusError for every file it cannot read.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.corpus.parsers.pdf_file import PdfPages
from harness.corpus.parsers.pypdf import PypdfConfig, read_with_pypdf
from harness.corpus.parsers.pypdfium2 import Pypdfium2Config, read_with_pypdfium2
from harness.kinds import Kind

PARSERS: dict[str, Kind] = {
    "pypdf": Kind(PypdfConfig, read_with_pypdf),
    "pypdfium2": Kind(Pypdfium2Config, read_with_pypdfium2),
}

ParserConfig = Annotated[PypdfConfig | Pypdfium2Config, Field(discriminator="kind")]

__all__ = ["PARSERS", "ParserConfig", "PdfPages", "PypdfConfig", "Pypdfium2Config"]
