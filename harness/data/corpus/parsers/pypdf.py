"""Text extraction with pypdf (pure Python), and a cheap second reading of how much text a PDF shows.

AES-encrypted files need pypdf's ``crypto`` extra. The second reading counts what content streams show,
without fonts.

A page shows text by strings before the operators Tj, TJ, ' and " (ISO 32000-2, 9.4.3). One byte of a string
is one glyph in a simple font and half of one in a composite font, which is nearly always coded in two bytes.
"""

from __future__ import annotations

import base64
import logging
import re
import zlib
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


_TOKEN = re.compile(
    rb"BI\s.*?\sEI\b"  # an inline image: not text, whatever it looks like
    rb"|/([^\s/<>\[\]()]+)\s+[-+.\d]+\s+Tf\b"
    rb"|\(((?:[^\\()]|\\.|\((?:[^\\()]|\\.)*\))*)\)"
    rb"|<([0-9A-Fa-f\s]+)>",
    re.DOTALL,
)

_ESCAPE = re.compile(rb"\\(?:[0-7]{1,3}|.)", re.DOTALL)
# operators that show text, an image, a form or a shading; and those that paint a path
_SHOWS = re.compile(rb"(?<![^\s\]>)])(?:Tj|TJ|'|\"|Do|sh|EI)(?=[\s/\[(<]|$)")
_PAINTS = re.compile(rb"(?<![^\s\]>)])(?:[SsFfBb]|[fBb]\*)(?=[\s/\[(<]|$)")
_DEEPEST = 8
_STEP = 1_000_000


def read_content_streams(path: Path, on_page: pdf_file.OnPage) -> list[pdf_file.PageReading]:
    """Read how much every page shows; raises whatever pypdf raises for a file it cannot follow."""
    from pypdf import PdfReader

    readings = []
    with path.open("rb") as stream, collect_warnings():
        for number, page in enumerate(PdfReader(stream).pages, 1):
            on_page(number)
            readings.append(_read_page(page))
    return readings


def _read_page(page: Any) -> pdf_file.PageReading:
    characters, paths, shows = 0, 0, False
    contents = _parts(page.get("/Contents"))
    damaged = any(is_damaged(part) for part in contents)
    content = b"\n".join(part.get_data() for part in contents)
    for data, fonts in _streams(content, page, set(), 0):
        characters += _glyphs(data, fonts)
        paths += sum(1 for _ in _PAINTS.finditer(data))
        shows = shows or _SHOWS.search(data) is not None
    blank = not shows and paths < pdf_file.MOST_PATHS_OF_A_BLANK_PAGE
    return pdf_file.PageReading(characters, blank, damaged)


def _streams(data: bytes, owner: Any, seen: set[int], depth: int) -> Iterator[tuple[bytes, Any]]:
    """The content of a page or form with its fonts, and that of every form in its resources, each once."""
    resources = _value(owner.get("/Resources")) or {}
    yield data, _value(resources.get("/Font")) or {}
    if depth == _DEEPEST:
        return
    for reference in (_value(resources.get("/XObject")) or {}).values():
        form = _value(reference)
        if hasattr(form, "get_data") and form.get("/Subtype") == "/Form" and id(form) not in seen:
            seen.add(id(form))
            yield from _streams(form.get_data(), form, seen, depth + 1)


def _parts(contents: Any) -> list[Any]:
    """The streams of a page's content, which is one stream or an array of them."""
    contents = _value(contents)
    parts = contents if isinstance(contents, list) else [contents]
    return [part for part in map(_value, parts) if hasattr(part, "get_data")]


def _value(thing: Any) -> Any:
    """Resolve a reference; return anything else unchanged."""
    return thing.get_object() if hasattr(thing, "get_object") else thing


def _glyphs(data: bytes, fonts: Any) -> int:
    """How many glyphs other than spaces the strings of a content stream show."""
    count, composite = 0, False
    for font, literal, digits in _TOKEN.findall(data):
        if font:
            entry = _value(fonts.get(f"/{font.decode('latin-1')}")) or {}
            composite = entry.get("/Subtype") == "/Type0"
        else:
            text = bytes.fromhex(_even(digits)) if digits else _ESCAPE.sub(b"x", literal)
            count += len(text) // 2 if composite else len(text) - text.count(b" ")
    return count


def _even(digits: bytes) -> str:
    text = b"".join(digits.split()).decode("ascii")
    return text + "0" * (len(text) % 2)


def is_damaged(stream: Any) -> bool:
    """Whether a Flate stream (RFC 1950) breaks off or fails its checksum; other streams are not checked."""
    filters = stream.get("/Filter", [])
    names = filters if isinstance(filters, list) else [filters]
    # As it is in the file: get_data hands out what could be saved. pypdf has no public name for it.
    data: bytes = getattr(stream, "_data", b"")
    if names[:1] == ["/ASCII85Decode"]:
        try:
            data = base64.a85decode(data.strip().removesuffix(b"~>"))
        except ValueError:
            return True
        names = names[1:]
    return names[:1] == ["/FlateDecode"] and not _inflates(data)


def _inflates(data: bytes) -> bool:
    inflater = zlib.decompressobj()
    try:
        while data and not inflater.eof:
            inflater.decompress(data, _STEP)
            data = inflater.unconsumed_tail
    except zlib.error:
        return False
    return inflater.eof
