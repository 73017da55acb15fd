"""The content-addressed cache of stage outputs: compressed JSON, named by a hash of all its inputs."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

from harness.store.atomic import seal, unseal, write_bytes
from harness.store.faults import Faults


def key_of(*parts: Any) -> str:
    """A hash of JSON-able parts: the same parts give the same key on every machine and run."""
    return hashlib.sha256(canonical(parts).encode("ascii")).hexdigest()


def canonical(value: object) -> str:
    """ASCII JSON: one form for one value, and lone surrogates pass."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


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
