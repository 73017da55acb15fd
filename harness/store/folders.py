"""Replace whole folders of results, also while other runs do the same.

What is being written lies in a folder of its own, ``.partial-<random>``, beside the place it will take:

    owner        the name of that place
    lock         held by the process that writes, for as long as it lives
    new/         what is being written
    whole-*/     a finished folder that waits for its place, or an earlier one that was taken from it

So a finished folder is never without a name for longer than its owner lives, and what a killed run left
behind is not mistaken for what a live one is writing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from harness.store.atomic import TEMPORARY
from harness.store.locking import Lock, lock

# Gives the new name of an earlier folder that was replaced (``keep(current, earlier)``).
Keep = Callable[[Path, Path], str | None]

_OWNER, _LOCK = "owner", "lock"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
# A folder without a readable owner is only removed when it has not been touched for this long.
_FORGOTTEN_SECONDS = 86_400


@contextmanager
def replace_folder(path: Path, keep: Keep | None = None) -> Iterator[Path]:
    """Fill a new folder inside the with block; it takes the place of ``path`` when the block ends well.

    ``keep`` is asked with the folder now at ``path`` and the earlier one under what name the latter stays
    beside it; None: it is removed. A number follows a name that is taken. Of several processes that replace
    one folder, the last to end has its place. Folders that killed runs left in ``path.parent`` are cleaned up
    first.
    """
    parent = path.parent
    parent.mkdir(parents=True, exist_ok=True)
    _recover(parent, keep)
    partial = parent / f"{TEMPORARY}{uuid.uuid4().hex}"
    partial.mkdir()
    with _owned(partial, path.name):
        try:
            (partial / "new").mkdir()
            yield partial / "new"
            _commit(partial, path)
        except BaseException:
            shutil.rmtree(partial / "new", ignore_errors=True)
            _retire(partial, path, keep)
            raise
        _retire(partial, path, keep)


def _owned(partial: Path, name: str) -> Lock:
    # a process that cleans up may hold it for a moment
    held = lock(partial / _LOCK, wait=True)
    assert held is not None, "waited for"
    (partial / _OWNER).write_text(name, encoding="utf-8", errors="surrogateescape")
    return held


def _commit(partial: Path, path: Path) -> None:
    whole = partial / "whole-0"
    (partial / "new").rename(whole)
    while not exchange(whole, path):
        try:
            whole.rename(path)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            # this system cannot exchange two folders: two steps, and another run may come in between
            with suppress(FileNotFoundError):
                path.rename(partial / f"whole-{uuid.uuid4().hex}")
        else:
            return


def _retire(partial: Path, path: Path, keep: Keep | None) -> None:
    """Give the finished folders in ``partial`` a name, then remove the rest."""
    for whole in sorted(partial.glob("whole-*")):
        if not path.exists():
            with suppress(OSError):
                whole.rename(path)
                continue
        name = keep(path, whole) if keep else None
        if name is not None:
            _rename_to_free_name(whole, path.with_name(name))
    # first the owner: what has one and no lock would pass for a folder that waits for its place
    (partial / _OWNER).unlink(missing_ok=True)
    shutil.rmtree(partial, ignore_errors=True)


def _rename_to_free_name(whole: Path, wanted: Path) -> None:
    """Rename to the wanted name, or to the first of ``name-2``, ``name-3``, … that is free."""
    target, count = wanted, 2
    while True:
        try:
            # an empty folder of that name would be replaced; a file or a full folder is not
            whole.rename(target)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            target, count = wanted.with_name(f"{wanted.name}-{count}"), count + 1
        else:
            return


def _recover(parent: Path, keep: Keep | None) -> None:
    """Clean up after killed runs; folders that are being written are left alone."""
    for partial in parent.glob(f"{TEMPORARY}*"):
        if not partial.is_dir():
            continue
        owner = partial / _OWNER
        try:
            if not owner.exists():
                _forget(partial)
                continue
            held = lock(partial / _LOCK, create=False)
        except OSError:
            # another run is putting it in order
            continue
        if held is None:
            continue
        with held:
            name = owner.read_text(encoding="utf-8", errors="surrogateescape") if held.sure else ""
            if name and name == Path(name).name:
                _retire(partial, parent / name, keep)
            else:
                _forget(partial)


def _forget(partial: Path) -> None:
    """Remove a folder with an unknown owner if it is old and holds nothing finished."""
    with suppress(OSError):
        old = time.time() - partial.stat().st_mtime > _FORGOTTEN_SECONDS
        if old and not any(partial.glob("whole-*")):
            shutil.rmtree(partial, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders atomically, so that neither is ever missing.

    False, and nothing has changed, where one is not there or this system or file system cannot do it.
    """
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return bool(done == 0)


@cache
def _renameat2() -> Any:
    """The function of the C library (Linux 3.15 and glibc 2.28 or later); None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return found
