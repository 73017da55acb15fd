"""The paths below the cache folder, the mark that says it is ours, its size, and how it is cleaned up."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from harness.store.atomic import TEMPORARY
from harness.store.keyvalue import SQLITE_SUFFIXES, remove_condemned
from harness.store.locking import Lock, alone, join

FORMAT = 2
FOLDER = "harness-v"
# https://bford.info/cachedir/: programs that back up folders leave one with this file out
_MARK = "CACHEDIR.TAG"
_ROOMS = {_MARK, "artifacts", "chroma", "copies", "shared", "vectors", "scores"}
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder was made by harness. Everything in it can be recomputed:\n"
    "# `harness cache --clear` removes it.\n"
)


@dataclass(frozen=True, slots=True)
class CacheLayout:
    """Paths below one cache folder. A change of what is stored raises ``FORMAT`` and starts afresh."""

    root: Path

    @property
    def base(self) -> Path:
        """The folder of this format."""
        return self.root / f"{FOLDER}{FORMAT}"

    @property
    def mark(self) -> Path:
        """The file that says whose folder this is."""
        return self.base / _MARK

    @property
    def artifacts(self) -> Path:
        """Parsed documents, chunk offsets, rankings: one file each, named by the key of what made it."""
        return self.base / "artifacts"

    @property
    def chroma(self) -> Path:
        """Chroma's databases, one folder per collection."""
        return self.base / "chroma"

    @property
    def copies(self) -> Path:
        """Documents copied from other file systems."""
        return self.base / "copies"

    @property
    def ledger(self) -> Path:
        """Every judgment ever bought; outside the format, since it must outlive it."""
        return self.root / "judgments.sqlite"

    @property
    def values(self) -> tuple[Path, ...]:
        """The folders of the files with vectors, scores and orders."""
        return self.base / "vectors", self.base / "scores", self.paid

    def vectors(self, fingerprint: str) -> Path:
        """The vectors that one model computed."""
        return self.base / "vectors" / f"{fingerprint[:32]}.sqlite"

    def scores(self, fingerprint: str) -> Path:
        """The pair scores that one reranker computed."""
        return self.base / "scores" / f"{fingerprint[:32]}.sqlite"

    @property
    def orders(self) -> Path:
        """The best orders of chunks that a search found."""
        return self.base / "scores" / "orders.sqlite"

    @property
    def paid(self) -> Path:
        """Paid results of endpoints; outside the format, like the judgments."""
        return self.root / "paid"

    def served(self, what: str, fingerprint: str) -> Path:
        """The vectors or scores that one endpoint gave."""
        return self.paid / f"{what}-{fingerprint[:32]}.sqlite"

    @property
    def users(self) -> Path:
        """The files of those who use the cache; outside the format, since that is removed."""
        return self.root / ".in-use"

    def use(self) -> Lock | None:
        """Mark the folder as ours and keep `harness cache` from emptying it until the user is released.

        None if nothing can be written there; then nothing keeps others from emptying it.
        """
        try:
            user = join(self.users)
            self.base.mkdir(parents=True, exist_ok=True)
            size = self.mark.stat().st_size if self.mark.exists() else 0
            if not size and {path.name for path in self.base.iterdir()} <= _ROOMS:
                self.mark.write_text(_TAG, encoding="utf-8")
        except OSError:
            return None
        return user


def is_marked(folder: Path) -> bool:
    """Whether a folder carries the mark of our cache."""
    try:
        return (folder / _MARK).read_bytes().startswith(_TAG.encode().partition(b". ")[0])
    except OSError:
        return False


def sizes(layout: CacheLayout) -> dict[str, int]:
    """Bytes on disk by kind of content."""
    folders = sorted(path for path in _content(layout.base) if path.is_dir())
    totals = {path.name: _total(path) for path in folders}
    for older in _ours(layout):
        if older != layout.base:
            totals[f"{older.name} (older format)"] = _total(older)
    ledger = (layout.ledger.with_name(layout.ledger.name + suffix) for suffix in SQLITE_SUFFIXES)
    paid = {"paid": _total(layout.paid)} if layout.paid.is_dir() else {}
    return {**totals, **paid, "judgments": sum(map(_size, ledger))}


def tidy(layout: CacheLayout) -> int:
    """Remove leftovers of killed runs, and damaged files; returns how many.

    Raises StoreError while a benchmark uses the cache.
    """
    if not is_marked(layout.base):
        return 0
    with alone(layout.users):
        left = [path for path in layout.base.rglob(f"{TEMPORARY}*") if path.exists()]
        for path in left:
            _remove(path)
        return len(left) + remove_condemned(layout.base)


def clear(layout: CacheLayout) -> tuple[Path, ...]:
    """Remove all that can be computed again, of every format; paid results and foreign files stay.

    Returns the folders removed. Raises StoreError while a benchmark uses the cache.
    """
    if not _ours(layout):
        return ()
    with alone(layout.users, last=True):
        # another command may have removed some while this one waited
        ours = _ours(layout)
        for path in ours:
            shutil.rmtree(path)
    return tuple(ours)


def _ours(layout: CacheLayout) -> list[Path]:
    """The folders of all formats below the root that are ours for sure."""
    folders = sorted(path for path in _content(layout.root) if path.name.startswith(FOLDER))
    return [path for path in folders if path.is_dir() and not path.is_symlink() and is_marked(path)]


def _content(folder: Path) -> list[Path]:
    """What lies in a folder; nothing where it has been removed meanwhile."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _total(folder: Path) -> int:
    """The bytes of the files below a folder; what is removed meanwhile does not count."""
    return sum(_size(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
