"""The folders of Chroma's collections: which one is finished, and where a new one may be built."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.store.atomic import write_text


@dataclass(frozen=True, slots=True)
class Slot:
    """The folder of one collection. Unless ``built``, whoever fills it calls ``finish`` once it is whole."""

    path: Path
    built: bool
    finish: Callable[[], None]


class CollectionFolders:
    """Collections below ``folder``, found by the key of their content.

    A collection is filled under a name of its own; a pointer file, written last, makes it the one that its
    key stands for. So a collection cut short by a kill is never used, and two runs do not share a half one.
    (Chroma also refuses a path that was deleted and reopened within one process.)
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def slot(self, key: str) -> Slot:
        """The finished collection of this key, or a fresh place for it."""
        pointer = self._folder / f"{key}.json"
        if pointer.is_file():
            path = self._folder / _target(pointer)
            if path.is_dir():
                return Slot(path, built=True, finish=_nothing)
        path = self._folder / f"{key[:16]}-{uuid.uuid4().hex[:8]}"
        return Slot(path, built=False, finish=lambda: write_text(pointer, json.dumps({"folder": path.name})))

    def remove_unfinished(self) -> int:
        """Delete what a killed run left half built; returns how many. Not while a run is going on."""
        pointed = {_target(pointer) for pointer in self._folder.glob("*.json")}
        left = [path for path in self._folder.glob("*-*") if path.is_dir() and path.name not in pointed]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        return len(left)


def _target(pointer: Path) -> str:
    return str(json.loads(pointer.read_text(encoding="utf-8"))["folder"])


def _nothing() -> None:
    """A built collection needs no finishing."""
