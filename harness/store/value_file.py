"""Large values one after the other in a file that only grows, each found by its place."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# the first byte of a value, and how many
_PLACE = struct.Struct(">QI")
PLACE_SIZE = _PLACE.size


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
        places, parts = [], list(values)
        with self.path.open("ab") as file:
            at = file.seek(0, os.SEEK_END)
            file.writelines(parts)
        for part in parts:
            places.append(_PLACE.pack(at, len(part)))
            at += len(part)
        return places

    def read(self, place: bytes) -> bytes:
        """The bytes at a place; empty or fewer where the file has not so many."""
        start, size = _PLACE.unpack(place)
        try:
            if self._file is None:
                self._file = self.path.open("rb", buffering=0)
            self._file.seek(start)
            found: bytes = self._file.read(min(size, os.fstat(self._file.fileno()).st_size))
            return found
        except (OSError, OverflowError, ValueError):
            # there is no such file, no such place, or a bad sector
            return b""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
