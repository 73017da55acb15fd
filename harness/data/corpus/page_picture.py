"""Pictures of PDF pages, by pypdfium2 and Pillow: each in a process of its own, and bounded.

Run as a program it reads a request as JSON and answers with the picture and where quotes are in it. A file
that crashes or blocks the reader only loses its own picture.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_int
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.data.corpus.align import align_fuzzy, find_in_view, folded
from harness.values import CorpusError

Kind = Literal["PNG", "WEBP"]
Box = tuple[int, int, int, int]
Area = tuple[float, float, float, float]
"""Left, bottom, right and top in points, from the lower left corner of the page."""

_SECONDS = 30
_MOST_BYTES = 12_000_000
# Below this a quote is not on the page: it was cut out of other text.
_LEAST_ALIKE = 80.0
# Longer quotes are looked for by their first characters, as fuzzy search costs quote times page.
_LONGEST_QUOTE = 2000


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A drawn page: the file's bytes, its size in pixels, and for each quote its lines as boxes.

    A box is left, top, right and bottom in pixels. A quote that is not on the page has none.
    """

    data: bytes
    size: tuple[int, int]
    boxes: tuple[tuple[Box, ...], ...]


def can_draw() -> bool:
    """Whether Pillow, which writes pictures, is installed: ``pip install 'ndcg-harness[pdfium]'``."""
    return importlib.util.find_spec("PIL") is not None


def draw_page(
    path: Path,
    page: int,
    *,
    width: int = 1200,
    height: int = 1800,
    kind: Kind = "PNG",
    quotes: Sequence[str] = (),
) -> PagePicture:
    """Draw a page, counted from 1, of at most ``width`` by ``height`` pixels, and find ``quotes`` in it.

    Raises CorpusError for a page that cannot be drawn.
    """
    limits = {"width": width, "height": height, "kind": kind}
    request = {"path": str(path), "page": page, "quotes": list(quotes)} | limits
    command = [sys.executable, "-m", "harness.data.corpus.page_picture"]
    try:
        process = subprocess.run(
            command, input=json.dumps(request).encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise CorpusError(f"Page {page} of {path.name} takes too long to draw.") from None
    if process.returncode or len(process.stdout) > _MOST_BYTES:
        raise CorpusError(f"Page {page} of {path.name} cannot be drawn.")
    answer = json.loads(process.stdout)
    wide, high = answer["size"]
    boxes = tuple(
        tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in quote_boxes) for quote_boxes in answer["boxes"]
    )
    return PagePicture(base64.b64decode(answer["data"]), (wide, high), boxes)


def scale_of(size: tuple[float, float], width: int, height: int) -> float:
    """Pixels a point, at most 2.5, for a page of ``size`` points to fit ``width`` by ``height`` pixels."""
    if not (size[0] > 0 and size[1] > 0):
        raise ValueError(f"a page of {size[0]} by {size[1]} points")
    return min(2.5, width / size[0], height / size[1])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Draw what a request asks for. Raises whatever pypdfium2 raises for what it cannot read."""
    import pypdfium2

    if request["page"] < 1:
        raise IndexError(f"pages count from 1, not {request['page']}")
    with closing(pypdfium2.PdfDocument(request["path"])) as pdf:
        page = pdf[request["page"] - 1]
        scale = scale_of(page.get_size(), request["width"], request["height"])
        picture = page.render(scale=scale).to_pil().convert("RGB")
        out = io.BytesIO()
        if request["kind"] == "PNG":
            picture.quantize(64).save(out, "PNG")
        else:
            picture.save(out, "WEBP", quality=40, method=6)
        boxes = _boxes(page, request["quotes"], picture.size)
        return {"data": base64.b64encode(out.getvalue()).decode(), "size": picture.size, "boxes": boxes}


def _boxes(page: Any, quotes: Sequence[str], size: tuple[int, int]) -> list[list[Box]]:
    """The lines of each quote in a picture of ``size``; each character is as high as its font."""
    if not quotes:
        return []
    with closing(page.get_textpage()) as text_page:
        text = _characters(text_page)
        return [
            [
                _in_picture(page, line, size)
                for line in _lines(text_page.get_charbox(at, loose=True) for at in _place(quote, text))
            ]
            for quote in quotes
        ]


def _lines(letters: Iterable[Area]) -> Iterator[Area]:
    """Areas of characters, in the order of reading, joined as long as they stay on a line."""
    line: Area | None = None
    for left, bottom, right, top in letters:
        if line is not None and line[1] < (bottom + top) / 2 < line[3]:
            line = min(line[0], left), min(line[1], bottom), max(line[2], right), max(line[3], top)
            continue
        if line is not None:
            yield line
        line = left, bottom, right, top
    if line is not None:
        yield line


def _characters(text_page: Any) -> str:
    """The text of a page, one letter for each character that PDFium counts."""
    from pypdfium2 import raw

    codes = (raw.FPDFText_GetUnicode(text_page, at) for at in range(text_page.count_chars()))
    return "".join(chr(code) if code < sys.maxunicode else " " for code in codes)


def _place(quote: str, text: str) -> Iterator[int]:
    """The places of a quote's characters in the text of a page; none if it is not there."""
    wanted, seen = folded(quote[:_LONGEST_QUOTE]), folded(text)
    if not wanted.text:
        return
    place = find_in_view(wanted, seen) or align_fuzzy(wanted, seen)
    if place is not None and place.score >= _LEAST_ALIKE:
        yield from (at for at in range(place.start, place.end) if not text[at].isspace())


def _in_picture(page: Any, area: Area, size: tuple[int, int]) -> Box:
    """An area of the page in pixels, whatever the page's rotation and crop."""
    from pypdfium2 import raw

    left, bottom, right, top = area
    corners = []
    for x, y in ((left, top), (right, bottom)):
        across, down = c_int(), c_int()
        raw.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, byref(across), byref(down))
        corners.append((across.value, down.value))
    (x1, y1), (x2, y2) = corners
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.loads(sys.stdin.buffer.read()))))
