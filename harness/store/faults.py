"""Faults of the cache in one run, reported once at its end."""

from __future__ import annotations

import errno
from collections import Counter
from pathlib import Path

from harness.values import StoreError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_IN_THE_WAY = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ELOOP})
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class Faults:
    """Counts damaged items by kind, and remembers why something could not be kept."""

    def __init__(self) -> None:
        self._damaged: Counter[str] = Counter()
        self._where: dict[str, Path] = {}
        self._not_kept = ""

    def damaged(self, what: str, path: Path, count: int = 1) -> None:
        """``count`` things of one kind failed their check, in or at ``path``."""
        self._damaged[what] += count
        self._where.setdefault(what, path)

    def not_kept(self, path: Path, reason: object) -> None:
        """The cache cannot be written."""
        self._not_kept = self._not_kept or f"{path}: {in_the_way(path) or reason}"

    def cannot_write(self, path: Path, error: OSError) -> None:
        """Note a cache that cannot be written; raises StoreError for a full disk, else ``error`` itself."""
        if error.errno in _FULL:
            raise disk_full(path, error.strerror) from error
        if error.errno in _IN_THE_WAY and (obstacle := in_the_way(path)):
            raise StoreError(
                f"{path} cannot be written: {obstacle}. Remove it, or name another folder as cache."
            ) from error
        if error.errno not in _NOT_WRITABLE:
            raise error
        self.not_kept(path, error.strerror)

    def sentences(self) -> list[str]:
        """Sentences for the user: at most one for each kind of fault."""
        sentences = []
        if self._damaged:
            kinds = ", ".join(
                f"{count} of {what} ({self._where[what]})" for what, count in self._damaged.items()
            )
            sentences.append(
                f"parts of the cache were damaged and have been computed again: {kinds}. The figures are not "
                "affected; check the disk."
            )
        if self._not_kept:
            sentences.append(
                f"the cache cannot be written ({self._not_kept}); computed results are not kept and will be "
                "computed again. Make it writable."
            )
        return sentences


def in_the_way(path: Path) -> str:
    """What keeps a file from being at ``path``, such as a folder or a link to nothing; '' if nothing does."""
    for place in (*reversed(path.parents), path):
        if place.is_symlink() and not place.exists():
            return f"{place} is a link to {place.readlink()}, which is not there"
        if place != path and place.exists() and not place.is_dir():
            return f"{place} is a file, not a folder"
    return f"{path} is a folder, not a file" if path.is_dir() else ""


def disk_full(path: Path, reason: object) -> StoreError:
    """The error for a full disk."""
    return StoreError(
        f"{path} cannot be written: {reason}. Free some space (harness cache shows what the cache contains) "
        "and run the same command again: it resumes from what is stored."
    )
