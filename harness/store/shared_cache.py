"""A cache that machines share on another file system, such as S3: each takes what it lacks and adds the rest.

Files there are added and never changed, so machines that use it at once do not harm each other. Artifacts
lie there as they do here; values of models and paid answers lie in packs, each of what one run has added.
Indexes are not shared: they are built again from their vectors.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.store.artifacts import Faults
from harness.store.atomic import write_text
from harness.store.cache_layout import CacheLayout
from harness.store.keyvalue import KeyValue
from harness.store.ledger import Ledger
from harness.store.remote import fetch, file_system
from harness.values import StoreError, key_of

_PACK = ".pack"
_PACK_BYTES = 1 << 26
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
        """Take what is there and not here; packs that do not fit their names were cut short, and stay."""
        layout = self._layout
        with file_system(self._url, "shared_cache", StoreError) as (system, base):
            there = dict(_files(system, base))
            places = {path: layout.root / name for name, path in there.items()}
            artifacts = {path: place for path, place in places.items() if layout.artifacts in place.parents}
            fetch(system, {path: place for path, place in artifacts.items() if not place.exists()})
            for name, path in there.items():
                table = places[path].parent
                ours = table == layout.ledger or table.parent in layout.values
                if not ours or not name.endswith(_PACK) or (self._seen / name).exists():
                    continue
                pack = system.cat_file(path)
                if name.endswith(f"/{hashlib.sha256(pack).hexdigest()}{_PACK}"):
                    self._take(pack, table, name)
                else:
                    self._faults.damaged("shared packs", table)

    def push(self) -> None:
        """Add what is here and not there."""
        layout = self._layout
        with file_system(self._url, "shared_cache", StoreError) as (system, base):
            remote = {name for name, _ in _files(system, base)}
            local = [path.relative_to(layout.root).as_posix() for path in layout.artifacts.rglob("*.json.gz")]
            new = {f"{base}/{name}": str(layout.root / name) for name in local if name not in remote}
            for folder in {name.rpartition("/")[0] for name in new}:
                system.makedirs(folder, exist_ok=True)
            system.put(list(new.values()), list(new))
            tables = [path for folder in layout.values for path in folder.glob("*.sqlite")]
            for path in sorted(filter(Path.is_file, [*tables, layout.ledger])):
                table = path.relative_to(layout.root).as_posix()
                noted = (seen.read_text(encoding="ascii") for seen in (self._seen / table).glob(f"*{_PACK}"))
                pushed = {bytes.fromhex(key) for keys in noted for key in keys.split()}
                for pack in _packs(self._new(path, pushed)):
                    name = f"{table}/{hashlib.sha256(pack).hexdigest()}{_PACK}"
                    system.makedirs(f"{base}/{table}", exist_ok=True)
                    system.pipe_file(f"{base}/{name}", pack)
                    self._note(name, pack)

    def _new(self, path: Path, pushed: set[bytes]) -> Iterator[Item]:
        """The values or answers in a file, without those known."""
        if path == self._layout.ledger:
            with Ledger(path) as ledger:
                for line in map(str.encode, ledger.export_lines()):
                    if (key := hashlib.sha256(line).digest()) not in pushed:
                        yield key, line
            return
        with KeyValue(path, self._faults) as values:
            yield from values.items(key for key in values if key not in pushed)

    def _take(self, pack: bytes, path: Path, name: str) -> None:
        """Keep the items of a pack in a file here."""
        if path == self._layout.ledger:
            with Ledger(path) as ledger:
                ledger.import_lines((value.decode() for _, value in _items(pack)), name)
        else:
            with KeyValue(path, self._faults, durable=path.parent == self._layout.paid) as values:
                values.put(_items(pack))
        self._note(name, pack)

    def _note(self, name: str, pack: bytes) -> None:
        write_text(self._seen / name, "".join(f"{key.hex()}\n" for key, _ in _items(pack)))


def _files(system: Any, base: str) -> Iterator[tuple[str, str]]:
    """All files below a path: their names from there, and their paths; none whose name leads elsewhere."""
    prefix = base.rstrip("/") + "/"
    named = ((path.removeprefix(prefix), path) for path in system.find(base))
    return ((name, path) for name, path in named if not {"", ".."} & set(name.split("/")))


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
