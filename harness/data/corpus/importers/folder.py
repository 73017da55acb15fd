"""The corpus folder that every importer writes: complete under its name, or not there."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from harness.values import CorpusError


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


def write_text(path: Path, text: str) -> None:
    """Write a new file in UTF-8 without translating line ends, so that offsets into ``text`` hold for it.

    Raises CorpusError if there is such a file.
    """
    try:
        with path.open("xb") as file:
            file.write(text.encode("utf-8"))
    except FileExistsError:
        raise CorpusError(
            f"{path.name} is the name of two documents (some file systems take a and A for one). Rename one."
        ) from None
