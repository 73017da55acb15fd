"""Read files, unpacking gzip up to the size that a run or judgments can have."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from harness.data.trec.ids import TrecError

_MAGIC = b"\x1f\x8b"
_FREE_BYTES = 64 << 20
"""The size up to which any file may unpack."""
_LARGEST_RATIO = 100
"""Runs and judgments shrink to between a half and a thirtieth: no query has a document twice."""


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it begins like a gzip file.

    It is opened once: what was read of a pipe does not come again. Raises TrecError, while it is read, for a
    gzip file that is damaged, or unpacks to more than a hundred times its size.
    """
    with path.open("rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
            raise TrecError(f"{path}: is a device, not a file. Write the content to a file and name that.")
        if file.peek(2)[:2] != _MAGIC:
            yield file
            return
        packed = _Counted(file)
        try:
            with gzip.GzipFile(fileobj=packed) as unpacked:  # type: ignore[call-overload]
                yield io.BufferedReader(cast(Any, _Bounded(unpacked, packed, path)), 1 << 20)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TrecError(f"{path}: the gzip file is damaged or cut short ({error})") from error


class _Counted:
    """Passes bytes on and counts them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class _Bounded(io.RawIOBase):
    """Passes unpacked bytes on until they are too many for the packed ones."""

    def __init__(self, unpacked: gzip.GzipFile, packed: _Counted, path: Path) -> None:
        self._unpacked = unpacked
        self._packed = packed
        self._path = path
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._unpacked.read(len(buffer))
        self._count += len(data)
        if self._count > max(_FREE_BYTES, _LARGEST_RATIO * self._packed.count):
            raise TrecError(
                f"{self._path}: the gzip file unpacks to more than {_LARGEST_RATIO} times its size, which no "
                "run or judgments do. If it is in order, unpack it with gunzip and name the unpacked file."
            )
        buffer[: len(data)] = data
        return len(data)
