"""Write files so that whoever looks finds the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path

# How everything begins that is not finished yet.
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
        # whoever asked knows nothing of the neighbour
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text in UTF-8."""
    write_bytes(path, content.encode("utf-8"))
