"""Write files atomically: readers see the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path

# The prefix of names of unfinished files.
TEMPORARY = ".partial-"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole: to a neighbour first, flushed to disk, then renamed over ``path``.

    Raises OSError that names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    partial = path.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        # the caller does not know the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text in UTF-8."""
    write_bytes(path, content.encode("utf-8"))
