"""The size of the cache, and how it is cleaned up and emptied."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.store.atomic import TEMPORARY
from harness.store.keyvalue import SQLITE_SUFFIXES, remove_condemned
from harness.store.layout import FOLDER, CacheLayout, is_marked
from harness.store.locking import alone


def sizes(layout: CacheLayout) -> dict[str, int]:
    """Bytes on disk by kind of content."""
    folders = sorted(path for path in layout.base.glob("*") if path.is_dir())
    found = {path.name: sum(map(_size, path.rglob("*"))) for path in folders}
    for older in _ours(layout):
        if older != layout.base:
            found[f"{older.name} (older format)"] = sum(map(_size, older.rglob("*")))
    ledger = (layout.ledger.with_name(layout.ledger.name + suffix) for suffix in SQLITE_SUFFIXES)
    paid = {"paid": sum(map(_size, layout.paid.rglob("*")))} if layout.paid.is_dir() else {}
    return {**found, **paid, "judgments": sum(map(_size, ledger))}


def tidy(layout: CacheLayout) -> int:
    """Remove leftovers of killed runs, and damaged files; returns how many.

    Raises StoreError while a benchmark uses the cache.
    """
    if not is_marked(layout.base):
        return 0
    with alone(layout.users):
        left = [path for path in layout.base.rglob(f"{TEMPORARY}*") if path.exists()]
        for path in left:
            _remove(path)
        return len(left) + remove_condemned(layout.base)


def clear(layout: CacheLayout) -> tuple[Path, ...]:
    """Remove all that can be computed again, of every format; paid results and foreign files stay.

    Returns the folders removed. Raises StoreError while a benchmark uses the cache.
    """
    ours = _ours(layout)
    if ours:
        with alone(layout.users):
            for path in ours:
                shutil.rmtree(path)
            # fails on Windows, where it is open
            shutil.rmtree(layout.users, ignore_errors=True)
    return tuple(ours)


def _ours(layout: CacheLayout) -> list[Path]:
    """The folders of all formats below the root that are ours for sure."""
    found = sorted(layout.root.glob(f"{FOLDER}*"))
    return [path for path in found if path.is_dir() and not path.is_symlink() and is_marked(path)]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() and not path.is_symlink() else 0
