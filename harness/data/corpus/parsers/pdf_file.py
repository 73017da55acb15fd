"""Shared by all PDF parsers: the pages they return, and the checks that need no parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.values import CorpusError

T = TypeVar("T")
OnPage = Callable[[int], None]
"""Is called with the number of every page before it is read."""

# Acrobat looks for the header in the first and for the end marker in the last 1,024 bytes.
_MARKER_WINDOW = 1024

# A page with fewer lines and boxes and no image holds no text that a parser could have lost.
MOST_PATHS_OF_A_BLANK_PAGE = 20


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The text of each page in page order, how the file is encrypted, and what the parser had to repair.

    ``paged`` False: it is one text of a file that has no pages.
    """

    pages: tuple[str, ...]
    encryption: str
    warnings: tuple[str, ...] = ()
    paged: bool = True


def check_pdf_file(path: Path) -> None:
    """Refuse an empty, foreign or cut-off file; a lenient parser might read part of it as the whole."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_MARKER_WINDOW)
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 8 * _MARKER_WINDOW))
            tail = stream.read().rstrip(b"\x00\t\n\x0c\r ")[-_MARKER_WINDOW:]
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}). Check that it is there.") from error
    if size == 0:
        raise CorpusError(f"{path}: the file is empty. Download or export it again.")
    if b"%PDF-" not in head:
        raise CorpusError(
            f"{path}: is not a PDF: it starts with {head[:20]!r}. "
            "Download the PDF itself, or give the file the suffix of what it is."
        )
    if b"%%EOF" not in tail:
        raise CorpusError(
            f"{path}: the PDF does not end with %%EOF, so it is cut off (it has {size:,} bytes). "
            "Download or export it again."
        )


def password_error(path: Path) -> CorpusError:
    """The error for a file that the empty password does not open."""
    return CorpusError(
        f"{path}: the PDF is encrypted with a password. "
        "Save a copy without the password (for example: qpdf --decrypt --password=… in.pdf out.pdf)."
    )


def damaged_error(path: Path, parser: str, problem: object) -> CorpusError:
    """The error for a file whose structure the parser cannot follow."""
    return CorpusError(
        f"{path}: the PDF is damaged; {parser} says: {_one_line(problem)}. "
        "Download it again, repair it (for example: qpdf in.pdf out.pdf), or choose another parser kind."
    )


def read_pages(
    path: Path, parser: str, count: int, on_page: OnPage, read: Callable[[int], T]
) -> tuple[T, ...]:
    """What ``read`` makes of every page, by its number, of which ``on_page`` is told first.

    Raises CorpusError where there is no page, and for one of which the parser fails to extract the text.
    """
    if not count:
        raise CorpusError(f"{path}: the PDF has 0 pages. Export it again, or leave it out.")
    pages = []
    for number in range(1, count + 1):
        on_page(number)
        try:
            pages.append(read(number))
        except MemoryError:
            raise
        except Exception as error:  # a damaged content stream or font can raise anything
            raise CorpusError(
                f"{path}, page {number}: {parser} cannot extract the text: {type(error).__name__}: "
                f"{_one_line(error)}. Repair the file (for example: qpdf in.pdf out.pdf), or choose another "
                "parser kind."
            ) from error
    return tuple(pages)


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())[:300].rstrip(".") or type(problem).__name__


@dataclass(frozen=True, slots=True)
class PageReading:
    """One page: how many characters other than white space it shows, and whether next to nothing is drawn.

    ``damaged``: a stream of its content is broken.
    """

    characters: int
    blank: bool
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class SecondReader:
    """A reader to compare a parser with.

    ``name`` holds its version. A page is short of text if the parser found less than ``share`` of the
    characters that ``read`` counts, and at least ``least`` fewer. ``sees_damage``: it finds broken
    streams.
    """

    name: str
    read: Callable[[Path, OnPage], list[PageReading]]
    share: float
    least: int
    sees_damage: bool = False

    def finds_far_more(self, second: int, first: int) -> bool:
        """Whether ``first`` characters are far fewer than the ``second`` ones of this reader."""
        return first < self.share * second and second - first >= self.least
