"""Advisory locks on files, and whole folders replaced under them, also while other runs do the same.

No lock outlives a kill, so a dead owner is never taken for a live one; a process id that was used again,
or one on another machine, cannot be mistaken for it. On Windows nobody else reads a locked file,
so what others have to read is not in it.

filelock has no shared locks that end with their process. So each user of a folder holds the lock of a file of
its own, and who locks all of them knows to be alone.

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

from filelock import lock_descriptor

from harness.store.atomic import TEMPORARY, insist
from harness.values import StoreError

# file systems that cannot lock, among them some network ones
_CANNOT = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL})
_GATE = "gate"
_FILE = "user-"
# how often a folder is made again that others remove at the same moment
_TURNS = 100


class Lock:
    """A lock that is held until ``release``, or until the process ends.

    ``sure`` is False if the file system has no locks: then it excludes no one. ``leaves``: a file that goes
    with it.
    """

    def __init__(self, handle: int, sure: bool) -> None:
        self._handle: int | None = handle
        self.sure = sure
        self.leaves: Path | None = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Release it; a second call does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            if self.leaves is not None:
                with suppress(OSError):
                    self.leaves.unlink(missing_ok=True)


def lock(path: Path, *, wait: bool = False, create: bool = True) -> Lock | None:
    """Lock the file at ``path``, which ``create`` makes if needed; None if somebody else holds it.

    ``wait``: until it is free. Raises OSError if the file cannot be opened.
    """
    while True:
        handle = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o644)
        try:
            sure = _take(handle, wait)
            current = _is_at(handle, path)
        except BaseException:
            os.close(handle)
            raise
        if sure is not None and current:
            return Lock(handle, sure)
        os.close(handle)
        # else the file was removed while we waited for it: lock the one that is there now
        if sure is None:
            return None


def _take(handle: int, wait: bool) -> bool | None:
    """True: locked; False: this file system has no such locks; None: somebody else holds it."""
    try:
        return lock_descriptor(handle, blocking=wait) or None
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise


def _is_at(handle: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), there)


def turn(path: Path) -> Lock | None:
    """Take what only one may have at a time, without waiting; None when it is taken.

    Raises OSError where the file cannot be opened, or where the file system has no locks: what is bought in
    a turn would be bought twice.
    """
    held = lock(path)
    if held is not None and not held.sure:
        held.release()
        raise OSError(errno.ENOLCK, "this file system has no locks", str(path))
    return held


def join(files: Path) -> Lock:
    """Become a user until the lock is released, as soon as nobody is alone; ``files`` has the users' files.

    Raises OSError where nothing can be written there.
    """
    with _gate(files):
        _others(files)
        path = files / f"{_FILE}{uuid.uuid4().hex}"
        held = lock(path)
        assert held is not None, "a name of its own"
        held.leaves = path
        return held


@contextmanager
def alone(files: Path, *, last: bool = False) -> Iterator[None]:
    """Keep users out for the length of the with block; raises StoreError while there is one.

    ``last``: ``files`` is removed when the block ends well.
    """
    refused = False
    with _gate(files) as gate:
        others = _others(files)
        if others:
            cannot = f" (or, if none is, remove {others[0]}: this file system has no locks)"
            raise StoreError(
                f"{files.parent} is in use by another command. Try again when that has ended"
                f"{'' if gate.sure else cannot}; nothing was removed."
            )
        yield
        if last:
            # while it is locked: who waits for it sees that it has gone, and begins anew
            refused = not _removed(files)
    if refused:
        # Windows keeps what is open: now also what others have opened by now, so none of them loses it
        _removed(files)


def _removed(files: Path) -> bool:
    """Remove the gate and the folder; False where the system refuses it for now."""
    try:
        (files / _GATE).unlink(missing_ok=True)
        files.rmdir()
    except PermissionError:
        return False
    except OSError:
        # somebody else is there again, or something of others
        return True
    return True


def _gate(files: Path) -> Lock:
    for _ in range(_TURNS):
        files.mkdir(parents=True, exist_ok=True)
        # who was alone may remove the folder in between
        with suppress(FileNotFoundError):
            gate = lock(files / _GATE, wait=True)
            assert gate is not None, "waited for"
            return gate
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(files))


def _others(files: Path) -> list[Path]:
    """The files of the users that are there; those of killed ones are removed."""
    alive = []
    for path in sorted(files.glob(f"{_FILE}*")):
        with suppress(FileNotFoundError):
            held = lock(path, create=False)
            if held is None or not held.sure:
                alive.append(path)
            else:
                held.release()
                path.unlink()
    return alive


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
    try:
        with _owned(partial, path.name):
            try:
                (partial / "new").mkdir()
                yield partial / "new"
                _commit(partial, path)
            finally:
                # it is there only where it was not finished
                shutil.rmtree(partial / "new", ignore_errors=True)
                _retire(partial, path, keep)
    finally:
        _sweep(partial)


def _owned(partial: Path, name: str) -> Lock:
    # a process that cleans up may hold it for a moment
    held = lock(partial / _LOCK, wait=True)
    assert held is not None, "waited for"
    (partial / _OWNER).write_text(name, encoding="utf-8", errors="surrogateescape")
    return held


def _commit(partial: Path, path: Path) -> None:
    whole = partial / "whole-0"
    insist((partial / "new").rename, whole)
    while not exchange(whole, path):
        try:
            whole.rename(path)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        else:
            return
        # this system cannot exchange two folders: two steps, and another run may come in between
        try:
            with suppress(FileNotFoundError):
                insist(path.rename, partial / f"whole-{uuid.uuid4().hex}")
        except PermissionError as error:
            beside = _rename_to_free_name(whole, path.with_name(f"{path.name}-new"))
            raise StoreError(
                f"{path} cannot be replaced ({error.strerror}): another program may have a file of it open. "
                f"Nothing is lost: what should take its place is in {beside}. Close the file, and rename "
                "that folder."
            ) from error


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


def _sweep(partial: Path) -> None:
    """Remove what is left of a retired folder: on Windows its lock stays for as long as it is held."""
    if not (partial / _OWNER).exists():
        shutil.rmtree(partial, ignore_errors=True)


def _rename_to_free_name(whole: Path, wanted: Path) -> Path:
    """Rename to the wanted name, or to the first of ``name-2``, ``name-3``, … that is free; returns which."""
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
            return target


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
        _sweep(partial)


def _forget(partial: Path) -> None:
    """Remove a folder with an unknown owner if it is old and holds nothing finished."""
    with suppress(OSError):
        old = time.time() - partial.stat().st_mtime > _FORGOTTEN_SECONDS
        if old and not any(partial.glob("whole-*")):
            shutil.rmtree(partial, ignore_errors=True)


def exchange(first: Path, second: Path) -> bool:
    """Swap the names of two folders atomically, so that neither is ever missing.

    False, and nothing has changed, where one is not there or this system or file system cannot do it.
    """
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    status = renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    return bool(status == 0)


@cache
def _renameat2() -> Any:
    """The function of the C library (Linux 3.15 and glibc 2.28 or later); None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function
