"""The folders of Chroma's collections: which one is finished and whole, and where a new one may be built."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import uuid
from pathlib import Path

from harness.store.artifacts import Faults
from harness.store.atomic import TEMPORARY, seal, unseal, write_bytes
from harness.values import Slot

_WHAT = "indexes"
_FILES, _SEAL = "collection", "seal"


class CollectionFolders:
    """Collections below ``folder``, each under the key of its content.

    A collection is filled elsewhere and moved to its place when it is finished, with a checksum over its
    files that is sealed with its key, so that under another key it is damage, and it is built again. So a
    collection cut short by a kill is never used, and two runs do not share a half one. Chroma writes to a
    database that it only reads: a stored collection is checked, and a copy of it is opened, so that what is
    stored stays as it is, and a cache that is read-only will do.
    """

    def __init__(self, folder: Path, faults: Faults | None = None) -> None:
        self._folder = folder
        self._faults = Faults() if faults is None else faults

    def slot(self, key: str) -> Slot:
        """The finished collection of this key, or a fresh place for it."""
        scratch = self._scratch()
        stored, finished = self._folder / key, False
        if _is_whole(stored):
            shutil.copytree(stored / _FILES, scratch / _FILES)
            return Slot(scratch / _FILES, True, lambda: None, lambda: _remove(scratch))
        if stored.exists():
            self._faults.damaged(_WHAT, stored)

        def finish() -> None:
            nonlocal finished
            finished = True

        def release() -> None:
            """Store the finished collection, now that nothing writes to it."""
            try:
                if finished and scratch.parent == self._folder:
                    _store(scratch, stored)
            except OSError as error:
                self._faults.cannot_write(self._folder, error)
            finally:
                _remove(scratch)

        return Slot(scratch / _FILES, False, finish, release)

    def _scratch(self) -> Path:
        """A new folder of our own: in the cache, else where the system keeps temporary files."""
        scratch = self._folder / f"{TEMPORARY}{uuid.uuid4().hex}"
        try:
            scratch.mkdir(parents=True)
        except OSError as error:
            self._faults.cannot_write(self._folder, error)
            return Path(tempfile.mkdtemp(prefix="harness-"))
        return scratch


def _store(scratch: Path, place: Path) -> None:
    if _is_whole(place):
        # another run has stored it in the meantime, and others may be reading it
        return
    write_bytes(scratch / _SEAL, seal(place.name.encode(), _digest(scratch / _FILES)))
    _remove(place)
    try:
        scratch.rename(place)
    except OSError:
        if not _is_whole(place):
            raise


def _is_whole(place: Path) -> bool:
    """Whether a stored collection passes its check."""
    try:
        sealed = (place / _SEAL).read_bytes()
        return unseal(place.name.encode(), sealed) == _digest(place / _FILES)
    except OSError:
        return False


def _digest(folder: Path) -> bytes:
    """A hash over the names and the content of all files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.digest()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
