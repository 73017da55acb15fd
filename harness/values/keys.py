"""Keys of what is kept: hashes of facts that are the same on every machine and run."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def key_of(*parts: Any) -> str:
    """A hash of JSON-able parts: the same parts give the same key on every machine and run."""
    return hashlib.sha256(canonical(parts).encode("ascii")).hexdigest()


def canonical(value: object) -> str:
    """ASCII JSON: one form for one value, and lone surrogates pass."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
