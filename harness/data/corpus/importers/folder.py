"""The corpus folder that every importer writes: complete under its name, or not there."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, BinaryIO

from harness.values import Column, CorpusError, id_of_query

# bytes; a file system allows 255, and a suffix and the name of a partial file come on top
_LONGEST_NAME = 200
_NEVER_IN_A_NAME = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The result of an import, and in ``notes`` what was left out or changed, one sentence each."""

    target: Path
    documents: int
    queries: int
    labels: int
    notes: tuple[str, ...] = ()


@contextmanager
def new_corpus_folder(target: Path) -> Iterator[Path]:
    """A folder to fill; it gets its name when the block ends well, and is removed when it does not.

    Raises CorpusError when ``target`` exists and is not an empty folder.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise CorpusError(f"{target} exists already. Remove it, or import into another folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    partial.chmod(0o755)
    try:
        yield partial
        if target.exists():
            target.rmdir()
        partial.rename(target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write a CSV file in UTF-8 with LF; returns the number of rows below the header."""
    count = 0
    with path.open("x", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def plain_name(name: str) -> str:
    """``name``, which a file is to have; raises ValueError if it is more, or other, than a file's name.

    What a table calls a document becomes a file: no separator, no ``..``, nothing hidden, nothing that a file
    system cannot hold, may lead out of the folder.
    """
    odd = any(letter in _NEVER_IN_A_NAME or not letter.isprintable() for letter in name)
    if odd or name.startswith(".") or len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME:
        raise ValueError(
            f"{name[:80]!r} cannot be the name of a document, which becomes a file. Give it a name of at "
            f"most {_LONGEST_NAME} bytes, without {' '.join(sorted(_NEVER_IN_A_NAME))} and without a dot at "
            "its beginning."
        )
    return name


QueryId = Annotated[str, Column("the question", read=id_of_query, filled=True)]
DocumentName = Annotated[str, Column("the name of the document", read=plain_name, filled=True)]


def write_text(path: Path, text: str) -> None:
    """Write a new file in UTF-8 without translating line ends, so that offsets into ``text`` hold for it.

    Raises CorpusError if there is such a file.
    """
    with _new(path) as file:
        file.write(text.encode("utf-8"))


def link_or_copy(source: Path, target: Path) -> None:
    """A new file: a hard link where the file system allows one, else a copy.

    Raises CorpusError if there is such a file.
    """
    try:
        os.link(source, target)
    except OSError:
        with source.open("rb") as content, _new(target) as file:
            shutil.copyfileobj(content, file)


def _new(path: Path) -> BinaryIO:
    try:
        return path.open("xb")
    except FileExistsError:
        raise CorpusError(
            f"{path.name} is the name of two documents (some file systems take a and A for one). Rename one."
        ) from None


def source_files(source: Path, names: Sequence[str], importer: str) -> list[Path]:
    """The named files or folders of an import source; raises CorpusError that lists what is missing."""
    if not source.is_dir():
        raise CorpusError(f"{source} is not a folder. Name the folder that holds {', '.join(names)}.")
    missing = [name for name in names if not (source / name).exists()]
    if missing:
        raise CorpusError(
            f"{source}: {', '.join(missing)} not found; {importer} needs {', '.join(names)}. "
            "Point to the folder that holds them."
        )
    return [source / name for name in names]
