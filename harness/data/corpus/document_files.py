"""Which files are the corpus: globs to files with ids; the formats that are neither PDF nor plain text.

A format is read whole, in a worker process: pages (sheets, slides) where ``paged``, else one text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic
from importlib.util import find_spec
from itertools import dropwhile
from pathlib import Path, PurePath

from harness import values
from harness.data.corpus.file_wordings import FILES
from harness.values import At, CorpusError, by_key, guide, real_path, refuse_special, version_of, worded


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

    @property
    def extra(self) -> str:
        """Our extra that installs the packages."""
        return self.suffixes[0].removeprefix(".")

    @property
    def is_installed(self) -> bool:
        """Whether all packages are there."""
        return all(_is_there(_MODULES.get(name, name)) for name in self.packages)


# packages that Python imports by another name
_MODULES = {"python-docx": "docx", "beautifulsoup4": "bs4", "python-pptx": "pptx"}


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


_BY = "harness.data.corpus"
FORMATS = (
    FileFormat((".xlsx", ".xlsm"), ("openpyxl",), True, At(f"{_BY}.workbook", "read_workbook"), version=4),
    FileFormat((".docx",), ("python-docx",), False, At(f"{_BY}.office", "read_word"), version=2),
    FileFormat(
        (".html", ".htm", ".xhtml"),
        ("beautifulsoup4", "lxml"),
        False,
        At(f"{_BY}.web", "read_web"),
        version=3,
    ),
    FileFormat((".pptx",), ("python-pptx",), True, At(f"{_BY}.office", "read_slides")),
)
FORMAT_SUFFIXES = tuple(suffix for file_format in FORMATS for suffix in file_format.suffixes)


def format_of(path: Path) -> FileFormat | None:
    """The format of a file by its ending; None for PDF, plain text and unknown formats."""
    return next((file_format for file_format in FORMATS if path.suffix.lower() in file_format.suffixes), None)


def libraries_of(path: Path) -> list[str]:
    """The libraries that read a file, with their versions, for cache keys; empty for PDF and plain text."""
    file_format = format_of(path)
    if file_format is None:
        return []
    return [f"format-{file_format.version}", *(f"{name} {version_of(name)}" for name in file_format.packages)]


@dataclass(frozen=True, slots=True)
class LackingExtras:
    """Files that no installed package reads, by their format."""

    files: Mapping[FileFormat, Sequence[Path]]

    @classmethod
    def among(cls, paths: Iterable[Path]) -> LackingExtras:
        """Those among the files."""
        by_format = by_key(
            (file_format, path) for path in paths if (file_format := format_of(path)) is not None
        )
        return cls(
            {file_format: files for file_format, files in by_format.items() if not file_format.is_installed}
        )

    def __bool__(self) -> bool:
        return bool(self.files)

    def __contains__(self, path: Path) -> bool:
        return format_of(path) in self.files

    def __str__(self) -> str:
        """How many there are, and the command that installs what reads them all."""
        parts = []
        for form, files in self.files.items():
            suffixes = "/".join(dict.fromkeys(path.suffix.lower() for path in files))
            packages = " and ".join(form.packages)
            parts.append(
                f"{values.counted(len(files), f'{suffixes} file needs', f'{suffixes} files need')} {packages}"
            )
        extras = ",".join(sorted(form.extra for form in self.files))
        return f"{', '.join(parts)}: pip install 'ndcg-harness[{extras}]'"


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
        raise CorpusError(f"{path}: {what} needs {package}: pip install 'ndcg-harness[{extra}]'.") from error
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


PDF_SUFFIXES = (".pdf",)
TEXT_SUFFIXES = (".txt", ".md", ".markdown", ".csv", ".tsv")
SUFFIXES = PDF_SUFFIXES + TEXT_SUFFIXES + FORMAT_SUFFIXES
# What user-defined parsers often read: tables of labels may name such files with their ending.
_OTHERS = (".doc", ".odt", ".rtf", ".xml", ".json", ".ppt", ".xls", ".epub")


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file of the corpus and the id of its document."""

    doc_id: str
    path: Path


def document_id(stem: str) -> str:
    """The id for a file stem: NFC, with ``_`` for whitespace runs (TREC files) and colons (chunk ids)."""
    return re.sub(r"\s+|:", "_", unicodedata.normalize("NFC", stem))


def possible_ids(name: str) -> tuple[str, str]:
    """The ids that the name of a document in a table may mean: as it is, and without a file's ending."""
    full = document_id(name)
    return full, next((full[: -len(end)] for end in SUFFIXES + _OTHERS if full.lower().endswith(end)), full)


def beside(document: str, ids: Collection[str]) -> list[str]:
    """The documents whose files differ from that of ``document`` in their ending alone."""
    endings = (case for ending in SUFFIXES + _OTHERS for case in (ending, ending.upper()))
    return [name for ending in endings if (name := document + ending) in ids]


def find_documents(
    patterns: str | Sequence[str],
    base: Path,
    more: Sequence[str] = (),
    leave_out: Collection[Path] = (),
    note: Callable[[str], None] = lambda _: None,
    unknown: bool = False,
) -> list[DocumentFile]:
    """The files that the globs name (``**`` reaches into folders), relative to ``base``, sorted by path.

    ``more`` are endings that can be read besides `SUFFIXES`, by a user-defined parser. Files in
    ``leave_out``, such as the labels, are not documents; ``note`` gets their names. Files of one name in
    several folders get ids with as many of their folders as tell them apart. Of those in one folder that
    differ in their ending alone the first by `SUFFIXES` keeps the id that it has by itself, the others get
    ids with their ending, and ``note`` gets a sentence. With ``unknown`` files that cannot be read are listed
    too, under their whole name: reading them fails, file by file.
    Raises CorpusError for a glob that matches no file, for a file type that cannot be read, for a file name
    that is not UTF-8 and for two files that would share an id.
    """
    paths: dict[Path, Path] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        for path in _matches(pattern, base):
            paths.setdefault(real_path(path), path)
    kept_out = [paths.pop(path) for path in {real_path(excluded) for excluded in leave_out} & paths.keys()]
    if kept_out:
        names = ", ".join(str(path) for path in sorted(kept_out))
        note(worded(FILES, "documents.others", files=names))
        if not paths:
            raise CorpusError(f"documents: nothing but {names}, which are not documents. Name the documents.")
    unreadable = {path for path in paths.values() if path.suffix.lower() not in {*SUFFIXES, *more}}
    ids = _ids([path for path in paths.values() if path not in unreadable], base, note)
    ids |= {path: document_id(path.name) for path in unreadable}
    files: dict[str, DocumentFile] = {}
    for path in sorted(paths.values()):
        if not unknown:
            refuse_unknown(path, more)
        _refuse_undecodable(path)
        twin = path in unreadable and ids[path] in files
        file = DocumentFile(document_id(str(path)) if twin else ids[path], path)
        if file.doc_id in files:
            raise CorpusError(f"{files[file.doc_id].path} and {path} are both {file.doc_id!r}. Rename one.")
        files[file.doc_id] = file
    if not files:
        raise CorpusError("documents: no pattern is given. Name the files, for example docs/*.pdf.")
    return list(files.values())


def refuse_unknown(path: Path, more: Sequence[str] = ()) -> None:
    """Raise CorpusError for a file whose type is neither in `SUFFIXES` nor in ``more``."""
    suffixes = dict.fromkeys([*SUFFIXES, *more])
    if path.suffix.lower() not in suffixes:
        raise CorpusError(
            f"{path}: cannot read a {path.suffix or 'file without a suffix'} as a document. "
            f"Known: {', '.join(suffixes)}. Convert it, narrow the pattern, or name a parser of your own "
            f"({guide('own-steps.md')})."
        )


def _ids(paths: Sequence[Path], base: Path, note: Callable[[str], None]) -> dict[Path, str]:
    """The id of every file: its stem, with folders before it where files of several folders share it.

    Of files of one folder that share a stem all but the first keep their endings.

    Folders count from ``base`` and as they are named, so that ids are the same on every machine.
    """
    ids: dict[Path, str] = {}
    places = by_key(((path.parent, document_id(path.stem)), path) for path in paths)
    # report.docx beside report.pdf, whose labels name it as they did before: with its ending
    twins: set[Path] = set()
    for (_, shared), beside in places.items():
        first, *others = sorted(beside, key=_by_ending)
        # with the same ending too they share an id, which ends the run
        differing = [path for path in others if path.suffix.lower() != first.suffix.lower()]
        twins.update(differing)
        if differing:
            beside_it = ", ".join(document_id(path.name) for path in differing)
            note(worded(FILES, "documents.beside", file=first.name, document=shared, others=beside_it))
    stems = {path: document_id(path.name if path in twins else path.stem) for path in paths}
    for stem, same_stem in by_key((stem, path) for path, stem in stems.items()).items():
        names = [(*Path(os.path.relpath(path.parent, base)).parts, stem) for path in same_stem]
        length = 1
        if len(set(names)) == len(names):
            while len({parts[-length:] for parts in names}) < len(names):
                length += 1
        for path, parts in zip(same_stem, names, strict=True):
            ids[path] = "/".join(map(document_id, parts[-length:]))
    return ids


def _by_ending(path: Path) -> tuple[int, str]:
    """Files with the endings that are read without an extra come first, PDFs before all."""
    ending = path.suffix.lower()
    return SUFFIXES.index(ending) if ending in SUFFIXES else len(SUFFIXES), path.name


def _matches(pattern: str, base: Path) -> list[Path]:
    literal = base / pattern
    if literal.is_file():
        return [literal]
    if literal.is_dir():
        raise CorpusError(f"documents: {literal} is a folder. Name its files: {pattern.rstrip('/')}/*.pdf.")
    paths = [literal] if literal.is_symlink() or literal.exists() else expand(pattern, base)
    for path in paths:
        if path == literal or (path.is_symlink() and not path.exists()):
            refuse_special(path)
    files = [path for path in paths if path.is_file()]
    if not files:
        what = "pattern matches no file" if has_magic(pattern) else "file is not there"
        place = "" if Path(pattern).is_absolute() else f", looked for in {real_path(base)}"
        raise CorpusError(f"documents: the {what}: {pattern!r}{place}. Correct it.")
    return files


def _refuse_undecodable(path: Path) -> None:
    """Refuse a name that no result file could hold; in it Python writes surrogates for what is not UTF-8."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise CorpusError(f"{shown}: the file name is not UTF-8, as results need it. Rename it.") from error


def expand(pattern: str, base: Path) -> list[Path]:
    """Paths below ``base`` that match ``pattern``: as ``glob.glob``, no hidden files; ``**`` is any folders.

    Unlike there, ``**`` enters no folder a second time, whatever links lead to it; two links to ``.`` are
    2^40 paths to ``glob``.
    """
    parts = PurePath(pattern).parts
    if "**" not in parts:
        # Path.glob refuses absolute patterns and takes hidden files along.
        return [base / name for name in glob(pattern, root_dir=base)]  # noqa: PTH207
    at = parts.index("**")
    rest = tuple(dropwhile("**".__eq__, parts[at:]))
    below = str(PurePath(*rest)) if rest else "*"
    starts = expand(str(PurePath(*parts[:at])), base) if at else [base]
    return [path for folder in _folders(starts) for path in expand(below, folder)]


def _folders(starts: list[Path]) -> Iterator[Path]:
    """The folders ``starts`` and all below them that are not hidden, each once; links after all real ones."""
    seen: set[tuple[int, int]] = set()
    real, links = deque(starts), deque[Path]()
    while real or links:
        folder = real.popleft() if real else links.popleft()
        try:
            status = folder.stat()
            with os.scandir(folder) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except OSError:  # no folder, or not readable: glob skips it as well
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        yield folder
        for entry in below:
            if entry.name.startswith("."):
                continue
            with suppress(OSError):  # a link to itself
                if entry.is_dir():
                    (links if entry.is_symlink() else real).append(folder / entry.name)
