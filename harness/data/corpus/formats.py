"""The formats that are neither PDF nor plain text: one table; each format is one file.

A format is read whole, in a worker process: pages (sheets, slides) where ``paged``, else one text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from harness.data.corpus.slides import SLIDES_SUFFIXES, read_slides
from harness.data.corpus.web import WEB_SUFFIXES, read_web
from harness.data.corpus.word import WORD_SUFFIXES, read_word
from harness.data.corpus.workbook import WORKBOOK_SUFFIXES, read_workbook


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


FORMATS = (
    FileFormat(WORKBOOK_SUFFIXES, ("openpyxl",), True, read_workbook, version=2),
    FileFormat(WORD_SUFFIXES, ("python-docx",), False, read_word),
    FileFormat(WEB_SUFFIXES, ("beautifulsoup4", "lxml"), False, read_web),
    FileFormat(SLIDES_SUFFIXES, ("python-pptx",), True, read_slides),
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
    return [f"format-{found.version}", *(f"{name} {_version(name)}" for name in found.packages)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
