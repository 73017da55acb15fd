"""A cache that machines share on another file system, such as S3: each takes what it lacks and adds the rest.

Files there are added and never changed, so machines that use it at once do not harm each other. Artifacts
lie there as they do here; values of models and paid answers lie in packs, each of what one run has added.
Indexes are not shared: they are built again from their vectors.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from harness.store.artifacts import Faults, key_of
from harness.store.atomic import write_text
from harness.store.keyvalue import KeyValue
from harness.store.layout import CacheLayout
from harness.store.ledger import Ledger
from harness.store.remote import fetch, file_system
from harness.values import StoreError

_PACK = ".pack"
_PACK_BYTES = 1 << 26
_AT_ONCE = 500
# how long a key and its value are, before both
_SIZES = struct.Struct(">HI")

Item = tuple[bytes, bytes]


class SharedCache:
    """The cache at ``url``, of any file system that fsspec knows, and that of this machine.

    Both methods raise StoreError where the place cannot be used.
    """

    def __init__(self, url: str, layout: CacheLayout, faults: Faults) -> None:
        self._url, self._layout, self._faults = url, layout, faults
        # the packs that were read or written, with the keys in each
        self._seen = layout.base / "shared" / key_of(url)[:32]

    def pull(self) -> None:
        """Take what is there and not here."""
        with file_system(self._url, "shared_cache", StoreError) as (system, base):
            there = {name: path for name, path in _files(system, base) if ".." not in name.split("/")}
            artifacts = {path: self._layout.root / name for name, path in there.items()}
            folder = self._layout.artifacts
            fetch(system, {a: b for a, b in artifacts.items() if folder in b.parents and not b.exists()})
            for name, path in there.items():
                table, _, pack = name.rpartition("/")
                if pack.endswith(_PACK) and not (self._seen / name).exists():
                    self._take(system.cat_file(path), self._layout.root / table, name)

    def push(self) -> None:
        """Add what is here and not there."""
        with file_system(self._url, "shared_cache", StoreError) as (system, base):
            there = {name for name, _ in _files(system, base)}
            for path in self._layout.artifacts.rglob("*.json.gz"):
                name = path.relative_to(self._layout.root).as_posix()
                if name not in there:
                    _put(system, f"{base}/{name}", path.read_bytes())
            for path, items in self._tables():
                table = path.relative_to(self._layout.root).as_posix()
                noted = (seen.read_text(encoding="ascii") for seen in (self._seen / table).glob(f"*{_PACK}"))
                known = {bytes.fromhex(key) for keys in noted for key in keys.split()}
                for pack in _packs(items(known)):
                    name = f"{table}/{hashlib.sha256(pack).hexdigest()}{_PACK}"
                    _put(system, f"{base}/{name}", pack)
                    self._note(name, pack)

    def _tables(self) -> Iterator[tuple[Path, Callable[[set[bytes]], Iterator[Item]]]]:
        """The files with values or answers; for each, what gives its items without those known."""
        for path in sorted(path for folder in self._layout.values for path in folder.glob("*.sqlite")):
            yield path, partial(self._values, path)
        if self._layout.ledger.is_file():
            yield self._layout.ledger, self._answers

    def _values(self, path: Path, known: set[bytes]) -> Iterator[Item]:
        with KeyValue(path, self._faults) as values:
            new = [key for key in values if key not in known]
            for at in range(0, len(new), _AT_ONCE):
                yield from values.get(new[at : at + _AT_ONCE]).items()

    def _answers(self, known: set[bytes]) -> Iterator[Item]:
        with Ledger(self._layout.ledger) as ledger:
            for line in ledger.export_lines():
                key = hashlib.sha256(line.encode()).digest()
                if key not in known:
                    yield key, line.encode()

    def _take(self, pack: bytes, path: Path, name: str) -> None:
        """Keep the items of a pack here; one that was cut short does not fit its name and is left out."""
        if not name.endswith(f"/{hashlib.sha256(pack).hexdigest()}{_PACK}"):
            self._faults.damaged("shared packs", path)
            return
        if path == self._layout.ledger:
            with Ledger(path) as ledger:
                ledger.import_lines((value.decode() for _, value in _items(pack)), name)
        elif path.parent in self._layout.values:
            with KeyValue(path, self._faults, durable=path.parent == self._layout.paid) as values:
                values.put(_items(pack))
        self._note(name, pack)

    def _note(self, name: str, pack: bytes) -> None:
        write_text(self._seen / name, "".join(f"{key.hex()}\n" for key, _ in _items(pack)))


def _files(system: Any, base: str) -> Iterator[tuple[str, str]]:
    """All files below a path: their names from there, and their paths."""
    prefix = base.rstrip("/") + "/"
    return ((path.removeprefix(prefix), path) for path in system.find(base))


def _put(system: Any, path: str, content: bytes) -> None:
    system.makedirs(path.rpartition("/")[0], exist_ok=True)
    system.pipe_file(path, content)


def _packs(items: Iterable[Item]) -> Iterator[bytes]:
    """The items one after another, in packs that fit in memory."""
    pack = bytearray()
    for key, value in items:
        pack += _SIZES.pack(len(key), len(value)) + key + value
        if len(pack) > _PACK_BYTES:
            yield bytes(pack)
            pack.clear()
    if pack:
        yield bytes(pack)


def _items(pack: bytes) -> Iterator[Item]:
    at = 0
    while at < len(pack):
        size, length = _SIZES.unpack_from(pack, at)
        at += _SIZES.size
        yield pack[at : at + size], pack[at + size : at + size + length]
        at += size + length
