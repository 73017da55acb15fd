"""How much text the content streams of a PDF show, counted without fonts: a cheap second reading.

A page shows text by strings before the operators Tj, TJ, ' and " (ISO 32000-2, 9.4.3). One byte of a string
is one glyph in a simple font and half of one in a composite font, which is nearly always coded in two bytes.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.data.corpus.parsers.pdf_file import MOST_PATHS_OF_A_BLANK_PAGE, OnPage, PageReading

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


def read_content_streams(path: Path, on_page: OnPage) -> list[PageReading]:
    """Read how much every page shows; raises whatever pypdf raises for a file it cannot follow."""
    from pypdf import PdfReader

    from harness.data.corpus.parsers.pypdf import collect_warnings

    readings = []
    with path.open("rb") as stream, collect_warnings():
        for number, page in enumerate(PdfReader(stream).pages, 1):
            on_page(number)
            readings.append(_read_page(page))
    return readings


def _read_page(page: Any) -> PageReading:
    characters, paths, shows = 0, 0, False
    contents = _parts(page.get("/Contents"))
    damaged = any(is_damaged(part) for part in contents)
    content = b"\n".join(part.get_data() for part in contents)
    for data, fonts in _streams(content, page, set(), 0):
        characters += _glyphs(data, fonts)
        paths += sum(1 for _ in _PAINTS.finditer(data))
        shows = shows or _SHOWS.search(data) is not None
    return PageReading(characters, not shows and paths < MOST_PATHS_OF_A_BLANK_PAGE, damaged)


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
