"""Whole files: written at once or not at all, and their content sealed, so that a flipped bit is found."""

from __future__ import annotations

import errno
import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

# The prefix of names of unfinished files.
TEMPORARY = ".partial-"
_CHECKSUM = 16
_PAUSES = tuple(0.01 * 2**turn for turn in range(7))
"""Seconds between attempts at a rename, 1.3 in all: longer than anybody reads a file of ours."""


def write_bytes(path: Path, content: bytes | Iterable[bytes]) -> int:
    """Write a file whole: to a neighbour first, flushed to disk, then renamed over ``path``.

    Returns how many parts it was given in. A link stays one: the file that it leads to is written. Raises
    OSError that names ``path``.
    """
    parts = (content,) if isinstance(content, bytes) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    partial = target.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        with partial.open("wb") as file:
            written = [file.write(part) for part in parts]
            file.flush()
            os.fsync(file.fileno())
        insist(partial.replace, target)
    except OSError as error:
        # the caller does not know the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        partial.unlink(missing_ok=True)
    return len(written)


def insist(change: Callable[[Path], object], target: Path) -> None:
    """Rename to ``target``, or remove it, and try again for a second where that is refused.

    Windows refuses it while somebody has the file open, or one in the folder, at either name. Elsewhere it
    is hardly ever refused where a file could just be made. Raises PermissionError in the end.
    """
    for pause in _PAUSES:
        try:
            change(target)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    change(target)


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text in UTF-8."""
    write_bytes(path, content.encode("utf-8"))


def seal(key: bytes, content: bytes) -> bytes:
    """``content`` with a checksum over it and the key that it is stored under."""
    return _checksum(key, content) + content


def unseal(key: bytes, sealed: bytes) -> bytes | None:
    """The content that ``seal`` was given; None if a bit of it has changed or it belongs to another key."""
    content = sealed[_CHECKSUM:]
    return content if sealed[:_CHECKSUM] == _checksum(key, content) else None


def _checksum(key: bytes, content: bytes) -> bytes:
    # SHA-256 is as fast as any hash of this length where the processor has instructions for it
    return hashlib.sha256(key + content).digest()[:_CHECKSUM]
