"""Files that people name, checked before a byte of them is read, hashed or written."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from harness.values.errors import ConfigError, CorpusError

MOST_BYTES = 4 << 30
"""The largest file that is read, in bytes."""


def refuse_special(path: Path, most: int = MOST_BYTES) -> None:
    """Raise CorpusError unless ``path`` is a regular file of at most ``most`` bytes.

    A pipe can be read only once, and a device may not end.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        if path.is_symlink() and isinstance(error, FileNotFoundError):
            reason = f"it is a link to {path.readlink()}, which is not there"
        elif isinstance(error, FileNotFoundError) and not path.is_absolute():
            reason = f"{reason} in {Path.cwd()}"
        raise CorpusError(f"{path}: cannot be read ({reason}). Check that it is there.") from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise CorpusError(f"{path}: is {kind}, not a file. Write the content to a file and name that.")
    if status.st_size > most:
        raise CorpusError(
            f"{path}: has {status.st_size:,} bytes; at most {most:,} are read. Split it into smaller files."
        )


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
