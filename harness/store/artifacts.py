"""The content-addressed cache of stage outputs: compressed JSON, named by a hash of all that made it."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from harness.store.atomic import write_bytes


def key_of(*parts: Any) -> str:
    """A hash of JSON-able parts: the same parts give the same key on every machine and run."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class Artifacts:
    """Get and put JSON-able values below ``folder``; a damaged file counts as absent and is made anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, kind: str, key: str) -> Path:
        """Where the artifact of this kind and key lies, or would lie."""
        return self._folder / kind / f"{key}.json.gz"

    def get(self, kind: str, key: str) -> Any | None:
        """The stored value, or None."""
        try:
            return json.loads(gzip.decompress(self.path(kind, key).read_bytes()))
        except (FileNotFoundError, EOFError, gzip.BadGzipFile, json.JSONDecodeError):
            return None

    def put(self, kind: str, key: str, value: Any) -> None:
        """Store a value whole or not at all."""
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        write_bytes(self.path(kind, key), gzip.compress(text.encode("ascii"), compresslevel=3, mtime=0))
