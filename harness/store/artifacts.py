"""The content-addressed cache of stage outputs and indexes, named by a hash of all inputs; its faults."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tempfile
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.store.atomic import TEMPORARY, insist, seal, unseal, write_bytes
from harness.store.disk import FULL, IN_THE_WAY, NOT_WRITABLE, disk_full, why_full
from harness.store.locking import lock
from harness.values import Sentence, Slot, StoreError, worded

FAULTS_OF_CACHE: Mapping[str, str] = {
    "cache.damaged": (
        "Parts of the cache were damaged and have been computed again: {parts}. The figures are not "
        "affected; check the disk."
    ),
    "cache.unwritable": (
        "The cache cannot be written ({reason}); computed results are not kept and will be computed again. "
        "Make it writable."
    ),
}
"""What is said of faults of the cache, each sentence by its code."""


class Faults:
    """Counts damaged items by kind, and remembers why something could not be kept."""

    def __init__(self) -> None:
        self._damaged: Counter[str] = Counter()
        self._where: dict[str, Path] = {}
        self._not_kept = ""

    def damaged(self, what: str, path: Path, count: int = 1) -> None:
        """``count`` things of one kind failed their check, in or at ``path``."""
        self._damaged[what] += count
        self._where.setdefault(what, path)

    def not_kept(self, path: Path, reason: object) -> None:
        """The cache cannot be written."""
        self._not_kept = self._not_kept or f"{path}: {reason}"

    def cannot_write(self, path: Path, error: OSError) -> None:
        """Note a cache that cannot be written; raises StoreError for a full disk, else ``error`` itself."""
        if error.errno in FULL:
            raise disk_full(path, error.strerror) from error
        if error.errno in IN_THE_WAY:
            raise StoreError(
                f"{path} cannot be written: {error}. Remove what is in the way, or name another "
                "folder as cache."
            ) from error
        if error.errno not in NOT_WRITABLE:
            raise error
        self.not_kept(path, error.strerror)

    def sentences(self) -> list[Sentence]:
        """Sentences for the user: at most one for each kind of fault."""
        sentences = []
        if self._damaged:
            kinds = ", ".join(
                f"{count} of {what} ({self._where[what]})" for what, count in self._damaged.items()
            )
            sentences.append(worded(FAULTS_OF_CACHE, "cache.damaged", parts=kinds))
        if self._not_kept:
            sentences.append(worded(FAULTS_OF_CACHE, "cache.unwritable", reason=self._not_kept))
        return sentences


class Artifacts:
    """Get and put JSON-able values below ``folder``.

    A file that fails its checksum counts as absent and is made again; ``faults`` counts such files, and
    values that cannot be stored because the folder is not writable.
    """

    def __init__(self, folder: Path, faults: Faults | None = None) -> None:
        self._folder = folder
        self._faults = Faults() if faults is None else faults

    def path(self, kind: str, key: str) -> Path:
        """Where the artifact of this kind and key lies, or would lie."""
        return self._folder / kind / f"{key}.json.gz"

    def get(self, kind: str, key: str) -> Any | None:
        """The stored value, or None."""
        path = self.path(kind, key)
        try:
            packed = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            # a bad sector, or not a file
            packed = b""
        try:
            content = unseal(_name(kind, key), gzip.decompress(packed))
        except (EOFError, gzip.BadGzipFile, zlib.error):
            content = None
        if content is None:
            self._faults.damaged(kind, path)
            return None
        return json.loads(content)

    def put(self, kind: str, key: str, value: Any) -> None:
        """Store a value whole or not at all; raises StoreError if the disk is full."""
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        path = self.path(kind, key)
        packed = gzip.compress(seal(_name(kind, key), text.encode("ascii")), compresslevel=3, mtime=0)
        try:
            write_bytes(path, packed)
        except OSError as error:
            self._faults.cannot_write(path, error)


def _name(kind: str, key: str) -> bytes:
    return f"{kind}/{key}".encode()


_WHAT = "indexes"
_FILES, _SEAL, _LOCK = "collection", "seal", "lock"


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

    @contextmanager
    def slot(self, key: str, *, in_place: bool = False) -> Iterator[Slot]:
        """The finished collection of this key, or a fresh place for it, for the time of a ``with`` block.

        ``in_place``: what is finished is opened where it is stored, as it is only read; without a copy it may
        be mapped into memory for longer than the block, and nothing that is open has to be removed.
        What was finished in the block is stored at its end, when nothing writes to it any more. Raises
        StoreError if the disk is full.
        """
        stored, finished = self._folder / key, False
        if in_place and _is_whole(stored):
            yield Slot(stored / _FILES, True, lambda: None)
            return
        scratch = self._scratch()

        def finish() -> None:
            nonlocal finished
            finished = True

        try:
            built = _is_whole(stored)
            if built:
                _copy(stored / _FILES, scratch / _FILES)
            elif stored.exists():
                self._faults.damaged(_WHAT, stored)
            try:
                yield Slot(scratch / _FILES, built, finish)
            finally:
                if finished and scratch.parent == self._folder:
                    self._keep(scratch, stored)
        except Exception as error:
            # of whatever fills the folder, such as FAISS or Chroma, which have errors of their own
            if not isinstance(error, StoreError) and (reason := why_full(error)):
                raise disk_full(scratch.parent, reason) from error
            raise
        finally:
            _remove(scratch)

    def _keep(self, scratch: Path, stored: Path) -> None:
        try:
            _store(scratch, stored)
        except OSError as error:
            self._faults.cannot_write(self._folder, error)

    def _scratch(self) -> Path:
        """A new folder of our own: in the cache, else where the system keeps temporary files."""
        scratch = self._folder / f"{TEMPORARY}{uuid.uuid4().hex}"
        try:
            scratch.mkdir(parents=True)
        except OSError as error:
            self._faults.cannot_write(self._folder, error)
            return Path(tempfile.mkdtemp(prefix="harness-"))
        return scratch


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; ``copytree`` goes on after an error, and loses its number."""
    target.mkdir()
    # a folder sorts before what is in it
    for path in sorted(source.rglob("*")):
        if path.is_dir():
            (target / path.relative_to(source)).mkdir()
        else:
            shutil.copy2(path, target / path.relative_to(source))


def _store(scratch: Path, place: Path) -> None:
    write_bytes(scratch / _SEAL, seal(place.name.encode(), digest_of(scratch / _FILES)))
    held = lock(place.parent / _LOCK, wait=True)
    assert held is not None, "waited for"
    with held:
        # what another run has stored in the meantime may be read by others by now
        if _is_whole(place):
            return
        _remove(place)
        try:
            scratch.rename(place)
        except OSError:
            # a file system without locks: another run was faster
            if held.sure or not place.exists():
                raise


def _is_whole(place: Path) -> bool:
    """Whether a stored collection passes its check."""
    try:
        sealed = (place / _SEAL).read_bytes()
        return unseal(place.name.encode(), sealed) == digest_of(place / _FILES)
    except OSError:
        return False


def digest_of(folder: Path) -> bytes:
    """A hash over the names and the content of all files, but for what Python has compiled."""
    digest = hashlib.sha256()
    files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts and path.is_file())
    for path in sorted(files):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.digest()


def _remove(folder: Path) -> None:
    """Remove a folder, as far as it can be; who has closed a file of it may need a moment to let go of it."""
    try:
        insist(shutil.rmtree, folder)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
