"""The folders of Chroma's collections: which one is finished and whole, and where a new one may be built."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from harness.store.atomic import TEMPORARY, write_bytes
from harness.store.faults import Faults
from harness.store.seal import seal, unseal
from harness.values import Slot

_WHAT = "indexes"
_POINTER = ".pointer"


class CollectionFolders:
    """Collections below ``folder``, found by the key of their content.

    A collection is filled under a name of its own; a pointer file with its checksum, written last, makes it
    the one that its key stands for; it is sealed with that key, so that under another key it is damage, and
    the collection is built again. So a collection cut short by a kill is never used, and two runs do not
    share a half one. Chroma writes to a database that it only reads: a stored collection is checked, and a
    copy of it is opened, so that what is stored stays as it is, and a cache that is read-only will do.
    """

    def __init__(self, folder: Path, faults: Faults | None = None) -> None:
        self._folder = folder
        self._faults = Faults() if faults is None else faults

    def slot(self, key: str) -> Slot:
        """The finished collection of this key, or a fresh place for it."""
        scratch = self._scratch()
        stored = self._stored(key)
        if stored is not None:
            shutil.copytree(stored, scratch / "collection")
            return Slot(scratch / "collection", True, _nothing, lambda: _remove(scratch))
        fresh = _Fresh(self._folder, key, scratch, self._faults)
        return Slot(scratch / "collection", False, fresh.finish, fresh.release)

    def remove_unfinished(self) -> int:
        """Delete folders that no pointer names; returns how many. Not while a run is going on."""
        pointed = {_target(pointer)[0] for pointer in self._folder.glob(f"*{_POINTER}")}
        # pointers once were JSON that did not hold their key
        for old in self._folder.glob("*.json"):
            old.unlink()
        left = [path for path in self._folder.glob("*-*") if path.is_dir() and path.name not in pointed]
        for path in left:
            _remove(path)
        return len(left)

    def _stored(self, key: str) -> Path | None:
        """The folder of a finished collection that passes its check."""
        pointer = _pointer(self._folder, key)
        if not pointer.exists():
            return None
        name, digest = _target(pointer)
        path = self._folder / name
        if name and path.is_dir() and _digest(path) == digest:
            return path
        self._faults.damaged(_WHAT, pointer)
        return None

    def _scratch(self) -> Path:
        """A new folder of our own: in the cache, else where the system keeps temporary files."""
        scratch = self._folder / f"{TEMPORARY}{uuid.uuid4().hex}"
        try:
            scratch.mkdir(parents=True)
        except OSError as error:
            self._faults.cannot_write(self._folder, error)
            return Path(tempfile.mkdtemp(prefix="harness-"))
        return scratch


@dataclass(slots=True)
class _Fresh:
    """A collection that is being built in ``scratch``."""

    folder: Path
    key: str
    scratch: Path
    faults: Faults
    finished: bool = False

    def finish(self) -> None:
        self.finished = True

    def release(self) -> None:
        """Store the finished collection, now that nothing writes to it."""
        try:
            if self.finished and self.scratch.parent == self.folder:
                self._store()
        except OSError as error:
            self.faults.cannot_write(self.folder, error)
        finally:
            _remove(self.scratch)

    def _store(self) -> None:
        pointer = _pointer(self.folder, self.key)
        name, digest = _target(pointer)
        if name and _digest(self.folder / name) == digest:
            # another run has stored it in the meantime, and others may be reading it
            return
        path = self.folder / f"{self.key[:16]}-{uuid.uuid4().hex[:8]}"
        (self.scratch / "collection").rename(path)
        content = json.dumps({"folder": path.name, "sha256": _digest(path)}).encode()
        write_bytes(pointer, seal(self.key.encode(), content))
        if name:
            _remove(self.folder / name)


def _pointer(folder: Path, key: str) -> Path:
    return folder / f"{key}{_POINTER}"


def _target(pointer: Path) -> tuple[str, str]:
    """The folder that a pointer names and its checksum; two empty strings where it is damaged."""
    try:
        content = json.loads(unseal(pointer.stem.encode(), pointer.read_bytes()) or b"")
        name, digest = content["folder"], content["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    # a damaged name must not lead elsewhere
    if not isinstance(name, str) or not isinstance(digest, str) or Path(name).name != name:
        return "", ""
    return name, digest


def _digest(folder: Path) -> str:
    """A hash over the names and the content of all files."""
    digest = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    except OSError:
        return ""
    return digest.hexdigest()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _nothing() -> None:
    """A built collection needs no finishing."""
