"""Advisory locks on files: the kernel drops them when their process ends, however it ends.

No lock outlives a kill, so a dead owner is never taken for a live one; a process id that was used again,
or one on another machine, cannot be mistaken for it. On Windows nobody else reads a locked file,
so what others have to read is not in it.

filelock has no shared locks that end with their process. So each user of a folder holds the lock of a file of
its own, and who locks all of them knows to be alone.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from harness.values import StoreError

# file systems that cannot lock, among them some network ones
_CANNOT = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL})
_GATE = "gate"
_FILE = "user-"


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


class Turn:
    """A lock that is taken and given back many times by one object; only one holds it at a time.

    Raises OSError where the file cannot be opened, or where the file system has no locks: what is bought in
    a turn would be bought twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: Lock | None = None

    def take(self) -> bool:
        """Take the turn without waiting; False when it is taken, also by this object."""
        if self._held is not None:
            return False
        held = lock(self._path)
        if held is not None and not held.sure:
            held.release()
            raise OSError(errno.ENOLCK, "this file system has no locks", str(self._path))
        self._held = held
        return held is not None

    def end(self) -> None:
        """Let others have it; nothing happens when it was not taken."""
        if self._held is not None:
            self._held.release()
            self._held = None


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
def alone(files: Path) -> Iterator[None]:
    """Keep users out for the length of the with block; raises StoreError while there is one."""
    with _gate(files) as gate:
        others = _others(files)
        if others:
            cannot = f" (or, if none is, remove {others[0]}: this file system has no locks)"
            raise StoreError(
                f"{files.parent} is in use by a benchmark. Try again when it has ended"
                f"{'' if gate.sure else cannot}; nothing was removed."
            )
        yield


def _gate(files: Path) -> Lock:
    while True:
        files.mkdir(parents=True, exist_ok=True)
        try:
            gate = lock(files / _GATE, wait=True)
        except FileNotFoundError:
            if files.exists():
                raise
            # who was alone has removed it
            continue
        assert gate is not None, "waited for"
        return gate


def _others(files: Path) -> list[Path]:
    """The files of the users that are there; those of killed ones are removed."""
    found = []
    for path in sorted(files.glob(f"{_FILE}*")):
        with suppress(FileNotFoundError):
            held = lock(path, create=False)
            if held is None or not held.sure:
                found.append(path)
            else:
                held.release()
                path.unlink()
    return found
