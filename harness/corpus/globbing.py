"""Globs whose ``**`` enters every folder once, so that links to a folder above end and do not multiply."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path, PurePath


def expand(pattern: str, base: Path) -> list[Path]:
    """What ``pattern`` matches below ``base``: as ``glob.glob`` without hidden files; ``**`` is any folders.

    Unlike there, ``**`` enters no folder a second time, whatever links lead to it; two links to ``.`` are
    2^40 paths to ``glob``.
    """
    parts = PurePath(pattern).parts
    if "**" not in parts:
        # Path.glob refuses absolute patterns and takes hidden files along.
        return [base / name for name in glob(pattern, root_dir=base)]  # noqa: PTH207
    at = parts.index("**")
    rest = parts[at:]
    while rest and rest[0] == "**":
        rest = rest[1:]
    starts = expand(str(PurePath(*parts[:at])), base) if at else [base]
    return [
        found
        for folder in _folders(starts)
        for found in expand(str(PurePath(*rest)) if rest else "*", folder)
    ]


def _folders(starts: list[Path]) -> Iterator[Path]:
    """The folders ``starts`` and all below them that are not hidden, each once; links after all real ones."""
    seen: set[tuple[int, int]] = set()
    real, links = deque(starts), deque[Path]()
    while real or links:
        folder = real.popleft() if real else links.popleft()
        try:
            status = folder.stat()
            with os.scandir(folder) as entries:
                below = sorted(entries, key=lambda entry: entry.name)
        except OSError:  # no folder, or not for us: glob passes it over as well
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        yield folder
        for entry in below:
            if entry.name.startswith("."):
                continue
            with suppress(OSError):  # a link to itself
                if entry.is_dir():
                    (links if entry.is_symlink() else real).append(folder / entry.name)
