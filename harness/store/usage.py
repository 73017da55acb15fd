"""How much the cache holds, and how it is emptied."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.store.layout import CacheLayout


def sizes(layout: CacheLayout) -> dict[str, int]:
    """Bytes on disk by what is kept."""
    folders = sorted(path for path in layout.base.glob("*") if path.is_dir())
    found = {path.name: sum(map(_size, path.rglob("*"))) for path in folders}
    return {**found, "judgments": sum(map(_size, layout.root.glob(f"{layout.ledger.name}*")))}


def clear(layout: CacheLayout) -> None:
    """Remove all that can be computed again, of every format; the judgments stay."""
    for path in layout.root.glob("v*"):
        shutil.rmtree(path)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
