"""Text extraction with pypdf (pure Python); AES-encrypted files need its ``crypto`` extra."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from harness.data.corpus.parsers import pdf_file
from harness.values import CorpusError, StageConfig

_MAX_WARNINGS = 10


class PypdfConfig(StageConfig):
    """pypdf reads the text of PDF pages."""

    kind: Literal["pypdf"] = "pypdf"
    extraction_mode: Literal["plain", "layout"] = Field(
        "plain",
        description="`plain` follows the order of the content stream, `layout` imitates the page by spaces.",
    )

    def read(self, path: Path, on_page: pdf_file.OnPage) -> pdf_file.PdfPages:
        """Extract the text of every page; raises CorpusError for a file or page that cannot be read."""
        pdf_file.check_pdf_file(path)
        with path.open("rb") as stream, collect_warnings() as warnings:
            reader = _open(path, stream)
            encryption, count = _encryption_of(reader), len(reader.pages)

            def text_of(number: int) -> str:
                return str(reader.pages[number - 1].extract_text(extraction_mode=self.extraction_mode))

            pages = pdf_file.read_pages(path, "pypdf", count, on_page, text_of)
        return pdf_file.PdfPages(pages, encryption, tuple(warnings))


def _open(path: Path, stream: Any) -> Any:
    """The reader, once it has found the pages; pypdf tries the empty password by itself."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, WrongPasswordError

    try:
        reader = PdfReader(stream)
        len(reader.pages)
    except (WrongPasswordError, FileNotDecryptedError) as error:
        raise pdf_file.password_error(path) from error
    except DependencyError as error:
        raise CorpusError(
            f"{path}: the PDF is encrypted with AES, which pypdf reads only with its crypto extra. "
            "Install it: pip install 'pypdf[crypto]'."
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can raise anything, from KeyError to RecursionError
        raise pdf_file.damaged_error(path, "pypdf", error) from error
    return reader


def _encryption_of(reader: Any) -> str:
    """The cipher by the encryption dictionary (ISO 32000-2, 7.6.2): V 1 and 2 are RC4, 4 names its own."""
    if not reader.is_encrypted:
        return "none"
    entry = reader.trailer["/Encrypt"].get_object()
    version = int(entry.get("/V", 0))
    if version >= 5:
        return "aes-256"
    if version == 4:
        filters = entry.get("/CF", {})
        method = filters.get(entry.get("/StmF", "/Identity"), {}).get("/CFM", "/None")
        return {"/AESV2": "aes-128", "/V2": "rc4-128"}.get(method, f"crypt filter {method}")
    return "rc4-40" if version == 1 else f"rc4-{int(entry.get('/Length', 40))}"


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Keep pypdf's log off the terminal; yield the distinct messages, the first ten."""
    messages: list[str] = []

    class _Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if text not in messages and len(messages) < _MAX_WARNINGS:
                messages.append(text)

    logger, handler = logging.getLogger("pypdf"), _Collector(logging.WARNING)
    propagate = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
