"""Files that people name, checked before a byte of them is read, hashed or written."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.values.errors import ConfigError, CorpusError

MOST_BYTES = 4 << 30
"""The largest file that is read, in bytes."""


def refuse_special(path: Path, most: int = MOST_BYTES) -> None:
    """Raise CorpusError unless ``path`` is a regular file of at most ``most`` bytes.

    A pipe can be read only once, and a device may not end. Nor may files that the system makes as they are
    read, such as /proc/kmsg: they say that they are empty.
    """
    with explained(path):
        status = path.stat()
        made_up = stat.S_ISREG(status.st_mode) and not status.st_size and not _is_empty(path)
    if made_up:
        raise CorpusError(
            f"{path}: is made by the system as it is read. Write the content to a file and name that."
        )
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise CorpusError(f"{path}: is {kind}, not a file. Write the content to a file and name that.")
    if status.st_size > most:
        raise CorpusError(
            f"{path}: has {status.st_size:,} bytes; at most {most:,} are read. Split it into smaller files."
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn whatever the system has against a path, within the with block, into a CorpusError.

    A path may hold NUL, be too long, lead through a file or in a circle, or be nobody's to read; ``resolve``
    of some versions of Python raises RuntimeError for a circle of links.
    """
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        raise CorpusError(
            f"{path}: cannot be read ({_reason(path, error)}). Check that it is there."
        ) from error


def real_path(path: Path) -> Path:
    """The path with all links followed, of a file that need not be there; raises CorpusError for none."""
    with explained(path):
        return path.resolve()


def _reason(path: Path, error: Exception) -> object:
    reason = error.strerror or error if isinstance(error, OSError) else error
    if isinstance(error, FileNotFoundError):
        with suppress(OSError):
            if path.is_symlink():
                return f"it is a link to {path.readlink()}, which is not there"
            if not path.is_absolute():
                return f"{reason} in {Path.cwd()}"
    return reason


def _is_empty(path: Path) -> bool:
    """Whether nothing can be read from a regular file; does not wait for more to come."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return not os.read(handle, 1)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)


def refuse_existing(path: Path | None) -> None:
    """Raise ConfigError for an output that is there already, perhaps with somebody's work in it."""
    if path is not None and path.exists() and not path.is_dir():
        raise ConfigError(f"{path} exists already and is not overwritten. Name another file.")


def file_sha256(path: Path) -> str:
    """The sha256 of a file; raises CorpusError for what ``refuse_special`` refuses, OSError as in reading."""
    refuse_special(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_sha256(text: str) -> str:
    """The SHA-256 of a text in UTF-8, as a document carries it; half characters pass."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
