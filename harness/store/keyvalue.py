"""Many small binary values in one SQLite file that survives a kill and is shared by concurrent runs."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, TypeVar

from harness.store.artifacts import Faults
from harness.store.atomic import seal, unseal
from harness.store.disk import disk_full, sqlite_kind, why_full
from harness.store.sqlite import Schema, opened, transaction
from harness.values import StoreError

_ASK_AT_ONCE = 500
# bytes; a write-ahead log takes more
_LEAST_ROOM = 1 << 16
_CONDEMNED = ".damaged"
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
# beside the database of a cache; SQLite itself would take thrice the size of a vector
_VALUES = "-values"
# a longer value, with its checksum, lies in the file beside
_LONGEST_INSIDE = 64
# where such a value begins, and its bytes
_PLACE = struct.Struct(">QI")
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_READ_ONLY = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_SCHEMA = Schema(None, "CREATE TABLE item (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;")

T = TypeVar("T")


class KeyValue:
    """A table from key to value, both bytes; a value once written is never changed.

    Long values lie in a file beside the table, which has their places (``ValueFile``), unless they are
    ``durable``. Every value carries a checksum. One that fails it counts as absent and may be written again.
    A file whose structure is damaged is condemned, which every process that uses it finds out by itself, and
    a new one is begun next to it: other processes have it open, so it can be neither renamed nor removed. A
    file that cannot be written is only read. ``faults`` counts all of it.
    """

    def __init__(
        self, path: Path, faults: Faults | None = None, what: str = "values", *, durable: bool = False
    ) -> None:
        """``durable``: values survive a loss of power once ``put`` has returned."""
        self._asked_for = path
        self._durable = durable
        self._faults = Faults() if faults is None else faults
        self._what = what
        # keys whose values were asked for, failed their checksum and are not written again yet
        self.damaged: set[bytes] = set()
        self._open()

    def __enter__(self) -> KeyValue:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        """All keys."""
        return (key for (key,) in self._guarded(lambda: self._db.execute("SELECT key FROM item").fetchall()))

    def items(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Those keys whose values are present and whole, with them; holds few values at a time."""
        pending = iter(keys)
        while part := list(islice(pending, _ASK_AT_ONCE)):
            for key, sealed in self._guarded(partial(self._stored, part)):
                value = unseal(key, sealed)
                if value is None:
                    self.damaged.add(key)
                    self._faults.damaged(self._what, self._path)
                else:
                    yield key, value

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are present and whole."""
        return dict(self.items(keys))

    def present(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those keys whose values are present and whole."""
        return {key for key, _ in self.items(keys)}

    def any(self) -> bytes | None:
        """Some value that is whole; None if there is none."""
        rows = self._guarded(lambda: self._db.execute("SELECT key FROM item LIMIT 10").fetchall())
        return next((value for _, value in self.items(key for (key,) in rows)), None)

    @property
    def lasting(self) -> bool:
        """Whether values outlive this object; not if no file could be made."""
        return bool(self._db.execute("PRAGMA database_list").fetchone()[2])

    def put(self, items: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]]) -> bool:
        """Write all items or, when killed, none of them; raises StoreError if the disk is full.

        False if they do not outlive this object, since the file cannot be written.
        """
        rows = dict(items)
        try:
            self._guarded(lambda: self._write(rows))
        except _UnwritableError as error:
            self._faults.not_kept(self._path, error)
            return False
        self.damaged -= rows.keys()
        return self.lasting

    def close(self) -> None:
        """Close the file."""
        self._db.close()
        self._beside.close()

    def _stored(self, keys: list[bytes]) -> list[tuple[bytes, bytes]]:
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(f"SELECT key, value FROM item WHERE key IN ({marks})", keys)
        return [(key, self._sealed(value)) for key, value in rows]

    def _sealed(self, value: object) -> bytes:
        # in a damaged page anything may be, a number for example
        if not isinstance(value, bytes):
            return b""
        # a sealed value is longer than a place
        return self._beside.read(value) if len(value) == _PLACE.size else value

    def _write(self, rows: Mapping[bytes, bytes]) -> None:
        with transaction(self._db):
            damaged = [(key,) for key in rows if key in self.damaged]
            self._db.executemany("DELETE FROM item WHERE key = ?", damaged)
            sealed = {key: seal(key, value) for key, value in rows.items()}
            if self.lasting and not self._durable:
                sealed |= self._laid_beside(sealed)
            self._db.executemany("INSERT OR IGNORE INTO item VALUES (?, ?)", sealed.items())

    def _laid_beside(self, sealed: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """The places of the long ones of these values, once they are written to the file beside."""
        stored = "SELECT 1 FROM item WHERE key = ?"
        long = {
            key: value
            for key, value in sealed.items()
            # not where another run was faster
            if len(value) > _LONGEST_INSIDE and not self._db.execute(stored, (key,)).fetchone()
        }
        try:
            return dict(zip(long, self._beside.append(long.values()) if long else (), strict=True))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise _UnwritableError(str(error)) from error
            self._faults.cannot_write(self._beside.path, error)
            raise

    def _guarded(self, work: Callable[[], T]) -> T:
        """Run ``work`` on the database; where its file proves damaged, once more on a new one."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if sqlite_kind(error) not in _DAMAGE:
                raise _translated(error, self._path) from error
            self.close()
            self._condemn(self._path)
            self._open()
        try:
            return work()
        except sqlite3.DatabaseError as error:
            raise _translated(error, self._path) from error

    def _open(self) -> None:
        """Open the first file that is not damaged, and the one beside it."""
        self._path, self._db = self._first_whole()
        self._beside = ValueFile(self._path.with_name(self._path.name + _VALUES))

    def _first_whole(self) -> tuple[Path, sqlite3.Connection]:
        for path in _generations(self._asked_for):
            if _mark(path).exists():
                continue
            try:
                db = self._connect(path)
                # what is damaged may say that it is text, and be none
                db.text_factory = bytes
                return path, db
            except sqlite3.DatabaseError as error:
                if sqlite_kind(error) not in _DAMAGE:
                    # the file is not ours yet, so it is named as it was tried
                    raise _translated(error, path) from error
                if not self._condemn(path):
                    break
        return self._asked_for, opened(":memory:", _SCHEMA)

    def _connect(self, path: Path) -> sqlite3.Connection:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._faults.cannot_write(path.parent, error)
        try:
            return opened(path, _SCHEMA, durable=self._durable)
        except sqlite3.DatabaseError as error:
            if sqlite_kind(error) not in _READ_ONLY:
                raise
            if not path.is_file():
                self._faults.not_kept(path, error)
                return opened(":memory:", _SCHEMA)
        # the file is read-only, so nothing changes while we read
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
        )
        try:
            db.execute("SELECT 1 FROM item LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _condemn(self, path: Path) -> bool:
        """Note that a file is damaged; False if that cannot be written down."""
        self._faults.damaged(self._what, path)
        try:
            _mark(path).touch()
        except OSError as error:
            self._faults.cannot_write(path, error)
            return False
        return True


class _UnwritableError(Exception):
    """The file can be read, and not written."""


def _translated(error: sqlite3.DatabaseError, path: Path) -> Exception:
    if why_full(error) or (sqlite_kind(error) == sqlite3.SQLITE_IOERR and _has_no_room(path)):
        return disk_full(path, error)
    if sqlite_kind(error) in _READ_ONLY:
        return _UnwritableError(str(error))
    if sqlite_kind(error) in _DAMAGE:
        return StoreError(f"{path} is damaged ({error}). Remove it: it only caches.")
    return StoreError(
        f"{path} cannot be used ({error}). Check the disk and the rights to the folder, or name another one "
        "as cache."
    )


def _has_no_room(path: Path) -> bool:
    """Whether the disk is full: SQLite calls it an error of reading and writing where its log has no room."""
    try:
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False


def remove_condemned(folder: Path) -> int:
    """Remove the files below ``folder`` that were found damaged; returns how many.

    The file that took the place of a damaged one takes its name too. Not while a run is going on.
    """
    marks = sorted(folder.rglob(f"*.sqlite{_CONDEMNED}"))
    asked_for = dict.fromkeys(mark.with_name(f"{mark.name.split('.')[0]}.sqlite") for mark in marks)
    for mark in marks:
        for part in _parts(mark.with_name(mark.name.removesuffix(_CONDEMNED))):
            part.unlink()
        mark.unlink()
    for first in asked_for:
        for later in first.parent.glob(f"{first.stem}.*.sqlite"):
            for part in [] if first.exists() else _parts(later):
                part.rename(first.with_name(first.name + part.name.removeprefix(later.name)))
    return len(marks)


def _generations(path: Path) -> Iterator[Path]:
    """The file asked for, and those that may be in its place should it be damaged."""
    yield path
    for number in range(1, 1000):
        yield path.with_name(f"{path.stem}.{number}{path.suffix}")


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}{_CONDEMNED}")


def _parts(path: Path) -> list[Path]:
    """A database and the files beside it, as far as they are there; the database comes last."""
    parts = (path.with_name(path.name + suffix) for suffix in (_VALUES, *reversed(SQLITE_SUFFIXES)))
    return [part for part in parts if part.exists()]


class ValueFile:
    """Values beside a table, which keeps their places and sees to it that one process writes at a time.

    A process that is killed while it writes leaves bytes that no place names. Values carry their checksums
    themselves: a place that is wrong, or a file that was cut short, gives bytes that fail them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def append(self, values: Iterable[bytes]) -> list[bytes]:
        """Write values at the end and return their places; raises OSError."""
        parts = list(values)
        with self.path.open("ab") as file:
            end = file.seek(0, os.SEEK_END)
            file.writelines(parts)
        starts = accumulate(map(len, parts), initial=end)
        return [_PLACE.pack(start, len(part)) for start, part in zip(starts, parts, strict=False)]

    def read(self, place: bytes) -> bytes:
        """The bytes at a place; empty or fewer where the file has not so many."""
        start, size = _PLACE.unpack(place)
        try:
            if self._file is None:
                self._file = self.path.open("rb", buffering=0)
            self._file.seek(start)
            content: bytes = self._file.read(min(size, os.fstat(self._file.fileno()).st_size))
            return content
        except (OSError, OverflowError, ValueError):
            # there is no such file, no such place, or a bad sector
            return b""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
