"""Write so that whoever looks finds the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_TEMPORARY = ".partial-"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole: to a neighbour first, flushed to disk, then renamed over ``path``.

    Raises OSError that names ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    partial = path.with_name(f"{_TEMPORARY}{uuid.uuid4().hex}")
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


@contextmanager
def replace_folder(path: Path, keep: Callable[[Path], str | None] | None = None) -> Iterator[Path]:
    """Fill a new folder inside the with block; it takes the place of ``path`` when the block ends well.

    ``keep`` is asked with the new folder under what name the old one stays beside it; None: it is removed.
    Killed between the two renames, the old folder is left beside ``path`` and put back by the next call.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.with_name(f".old-{path.name}")
    _recover(path, old)
    partial = path.with_name(f"{_TEMPORARY}{path.name}-{uuid.uuid4().hex}")
    partial.mkdir()
    try:
        yield partial
        if path.exists():
            name = keep(partial) if keep else None
            path.rename(path.with_name(name) if name else old)
        partial.rename(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)


def _recover(path: Path, old: Path) -> None:
    if old.exists() and not path.exists():
        old.rename(path)
    shutil.rmtree(old, ignore_errors=True)
    for left in path.parent.glob(f"{_TEMPORARY}{path.name}-*"):
        shutil.rmtree(left, ignore_errors=True)
