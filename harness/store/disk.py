"""Errors of the disk, told in one way whoever meets them: Python, SQLite, FAISS or Chroma."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from harness.values import StoreError, causes_of

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
IN_THE_WAY = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ELOOP})
NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
# What libraries say that give no number.
_WORDS = ("no space left on device", "disk quota exceeded", "database or disk is full", "os error 28")
_FREE_SPACE = (
    "Free some space (harness cache shows what the cache contains) and run the same command again: it "
    "resumes from what is stored."
)
_WHAT_TO_DO = {
    errno.EEXIST: "is a file where a folder is needed. Remove it, or name another folder.",
    errno.ENOTDIR: "leads through a file as if it were a folder. Correct the path.",
    errno.EISDIR: "is a folder. Name a file, such as one in it.",
    errno.ELOOP: "is a link that leads back to itself. Remove it, or name another path.",
    errno.ENAMETOOLONG: "is longer than a name may be here. Name another path.",
}


def why_full(error: BaseException) -> str:
    """What says that a full disk or a spent quota is behind an error; '' where none is.

    An error may hide it: then it is the one that it came from, of these the last.
    """
    return next((_words_of(cause) for cause in reversed(list(causes_of(error))) if _is_full(cause)), "")


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in FULL
    if isinstance(error, sqlite3.Error) and sqlite_kind(error) == sqlite3.SQLITE_FULL:
        return True
    return any(words in str(error).lower() for words in _WORDS)


def _words_of(error: BaseException) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split()).rstrip(".")


def disk_full(path: Path, reason: object) -> StoreError:
    """The error for a full disk."""
    return StoreError(f"{path} cannot be written: {reason}. {_FREE_SPACE}")


def os_error_line(error: OSError) -> str:
    """What an error of the system says, with what to do about it where that is plain."""
    if not error.filename:
        # a write to an open file does not name it
        return f"{error.strerror}. {_FREE_SPACE}" if error.errno in FULL else str(error)
    if error.errno in FULL:
        return str(disk_full(error.filename, error.strerror))
    remedy = _WHAT_TO_DO.get(error.errno or 0)
    return f"{error.filename} {remedy}" if remedy else f"{error.filename}: {error.strerror}"


def sqlite_kind(error: sqlite3.Error) -> int:
    """The primary result code of SQLite, such as ``sqlite3.SQLITE_FULL``; 0 if there is none."""
    # the low byte is the kind of error, the others say more about it
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
