"""The formats that are neither PDF nor plain text: one table, and what their readers share.

A format is read whole, in a worker process: pages (sheets, slides) where ``paged``, else one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import values
from harness.values import At, CorpusError, refuse_special, version_of


@dataclass(frozen=True, slots=True)
class FileFormat:
    """Which files it reads, by which packages (the first one does the reading), and how.

    A page is None if something but text is on it, such as a picture alone, and '' if it is empty. ``version``
    is raised whenever the same file would yield another text.
    """

    suffixes: tuple[str, ...]
    packages: tuple[str, ...]
    paged: bool
    read: Callable[[Path], Sequence[str | None]]
    version: int = 1


_BY = "harness.data.corpus"
FORMATS = (
    FileFormat((".xlsx", ".xlsm"), ("openpyxl",), True, At(f"{_BY}.workbook", "read_workbook"), version=2),
    FileFormat((".docx",), ("python-docx",), False, At(f"{_BY}.office", "read_word")),
    FileFormat((".html", ".htm", ".xhtml"), ("beautifulsoup4", "lxml"), False, At(f"{_BY}.web", "read_web")),
    FileFormat((".pptx",), ("python-pptx",), True, At(f"{_BY}.office", "read_slides")),
)
FORMAT_SUFFIXES = tuple(suffix for one in FORMATS for suffix in one.suffixes)


def format_of(path: Path) -> FileFormat | None:
    """The format of a file by its ending; None for PDF, plain text and unknown formats."""
    return next((one for one in FORMATS if path.suffix.lower() in one.suffixes), None)


def libraries_of(path: Path) -> list[str]:
    """The libraries that read a file, with their versions, for cache keys; empty for PDF and plain text."""
    found = format_of(path)
    if found is None:
        return []
    return [f"format-{found.version}", *(f"{name} {version_of(name)}" for name in found.packages)]


@contextmanager
def reading(path: Path, what: str, package: str, extra: str, remedy: str) -> Iterator[None]:
    """Read a file by a library in the with block: whatever the library raises is a CorpusError.

    A damaged file raises nearly anything in libraries that read packed XML. Raises CorpusError too for what
    is not a regular file, and where the library is missing, named by ``package`` and our ``extra``.
    """
    refuse_special(path)
    try:
        yield
    except (CorpusError, MemoryError):
        # running out of memory is handled by the process
        raise
    except ImportError as error:
        raise CorpusError(
            f"{path}: reading {what} needs {package}: pip install 'ndcg-harness[{extra}]'."
        ) from error
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise CorpusError(f"{path}: cannot be read as {what} ({reason}). {remedy}") from error


def tab_separated(rows: Sequence[Sequence[str]]) -> str:
    """Rows as tab-separated lines, all of one width except for empty ones; quoted as in CSV where need be."""
    width = max((i for row in rows for i, cell in enumerate(row, 1) if cell), default=0)
    full = ([*row, *[""] * (width - len(row))][:width] if any(row) else [] for row in rows)
    return values.delimited_text(full, "\t")


class Blocks:
    """Paragraphs, headings, items of lists and tables one after the other, a blank line between them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._last = ""

    def add(self, text: str, kind: str = "") -> None:
        """Add a block without the white space around it; items follow one another without a blank line."""
        text = text.strip("\n") if kind in ("table", "pre") else text.strip()
        if not text.strip():
            return
        if self._parts:
            self._parts.append("\n" if kind == self._last == "item" else "\n\n")
        self._parts.append(text)
        self._last = kind

    def heading(self, text: str, level: int) -> None:
        """Add a heading in Markdown, so that readers of headings find it."""
        line = " ".join(text.split())
        if line:
            self.add(f"{'#' * max(1, min(level, 6))} {line}", "heading")

    def item(self, text: str) -> None:
        """Add an item of a list."""
        if text.strip():
            self.add(f"- {text.strip()}", "item")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table without its empty rows and columns, which web pages have; one of one column is text."""
        filled = sorted({i for row in rows for i, cell in enumerate(row) if cell})
        kept = [[row[i] if i < len(row) else "" for i in filled] for row in rows if any(row)]
        if kept and len(kept[0]) == 1:
            for row in kept:
                self.add(row[0])
        elif kept:
            self.add(tab_separated(kept), "table")

    def text(self) -> str:
        """All blocks as one text, '' where there is none."""
        return "".join(self._parts) + "\n" if self._parts else ""
