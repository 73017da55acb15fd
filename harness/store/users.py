"""Who uses a folder: each user holds the lock of a file of its own, so that one may know to be alone.

filelock has no shared locks. A killed user's lock ends with it, and its file is removed by the next one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.store.locking import Lock, lock
from harness.values import StoreError

_GATE = "gate"
_FILE = "user-"


class User:
    """One user of the folder, until ``release`` or the end of the process."""

    def __init__(self, path: Path, held: Lock) -> None:
        self._path, self._held = path, held

    def __enter__(self) -> User:
        return self

    def __exit__(self, *failure: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Use the folder no longer; a second call does nothing."""
        self._held.release()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def join(files: Path) -> User:
    """Become a user, as soon as nobody is alone; ``files`` is the folder of the users' files.

    Raises OSError where nothing can be written there.
    """
    with _gate(files):
        _others(files)
        path = files / f"{_FILE}{uuid.uuid4().hex}"
        held = lock(path)
        assert held is not None, "a name of its own"
        return User(path, held)


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
