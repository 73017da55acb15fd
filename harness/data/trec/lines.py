"""The lines of TREC files, gzip or not: blocks of whole lines, and the fields of each, checked one by one."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from harness.data.trec.table_faults import TrecError

_MAGIC = b"\x1f\x8b"
_FREE_BYTES = 64 << 20
"""The size up to which any file may unpack."""
_LARGEST_RATIO = 100
"""Runs and judgments shrink to between a half and a thirtieth: no query has a document twice."""
_BLOCK_BYTES = 4 << 20
"""Small enough that the memory of one block serves the next."""
LONGEST_LINE = 32 << 20
BOM = b"\xef\xbb\xbf"
_SPACE = ord(" ")
_READ = ("query", "doc", "rank", "score", "grade")
"""The fields that are read; the others of a line are passed over."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a line, of which ``number`` must be a number."""

    what: str
    fields: tuple[str, ...]
    number: str

    @property
    def read(self) -> tuple[str, ...]:
        """The fields that are read."""
        return tuple(name for name in self.fields if name in _READ)


RUN = Layout("run", ("query", "q0", "doc", "rank", "score", "tag"), "score")
QRELS = Layout("judgment", ("query", "iteration", "doc", "grade"), "grade")


def blocks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Runs of whole lines; raises TrecError for a line that is longer than a block."""
    rest, line = b"", 1
    while data := file.read(_BLOCK_BYTES):
        cut = data.rfind(b"\n") + 1
        if not cut and len(rest) + len(data) > LONGEST_LINE:
            raise TrecError(f"{path}, line {line}: longer than {LONGEST_LINE >> 20} MB; is this TREC text?")
        if cut:
            line += data.count(b"\n")
            yield b"".join((rest, memoryview(data)[:cut]))
        rest = data[cut:] if cut else rest + data
    if rest:
        yield rest


def columns_of(block: bytes, layout: Layout, path: Path, first_line: int) -> dict[str, list[Any]]:
    """The fields that are read, by name; raises TrecError that names the first bad line."""
    columns: dict[str, list[Any]] = {name: [] for name in layout.read}
    for number, raw in enumerate(block.split(b"\n"), start=first_line):
        where = f"{path}, line {number}"
        if not _holds_row(raw, layout):
            continue
        for name, text in zip(layout.fields, _fields(raw, layout, where), strict=True):
            if name in columns:
                columns[name].append(_value(name, text, where))
    return columns


def single_spaced(block: bytes) -> bytes:
    """One space between fields, none at the ends of lines."""
    if not _has_odd_spaces(block):
        return block
    if b"\t" in block or b"\r" in block:
        block = block.translate(bytes.maketrans(b"\t\r", b"  "))
    if b"  " in block:
        block = re.sub(b" {2,}", b" ", block)
    if b" \n" in block or b"\n " in block:
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.strip(b" ")


def _has_odd_spaces(block: bytes) -> bool:
    """Whether white space may be anything but one space between fields, and one line feed after a line."""
    if not block or block[0] <= _SPACE or b"\t" in block or b"\r" in block:
        return True
    white = np.frombuffer(block, np.uint8) <= _SPACE
    return block[-1] == _SPACE or bool((white[1:] & white[:-1]).any())


def _holds_row(line: bytes, layout: Layout) -> bool:
    """Whether a line is neither empty nor a comment."""
    text = line.strip()
    if not text.startswith(b"#"):
        return bool(text)
    try:
        fields = _fields(line, layout, "")
        _value(layout.number, fields[layout.fields.index(layout.number)], "")
    except TrecError:
        return False
    return fields[0] != "#"


def _fields(line: bytes, layout: Layout, where: str) -> list[str]:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TrecError(f"{where}: not UTF-8 text ({error.reason}); convert the file") from error
    if b"\0" in line:
        raise TrecError(f"{where}: a NUL byte, which no text has; write the file again")
    line = line.strip()
    if b"\r" in line:
        raise TrecError(f"{where}: a carriage return within the line; end the lines with a line feed")
    # at spaces and tabs alone, as above: an id may hold other white space, such as a no-break space
    fields = [field.decode("utf-8") for field in single_spaced(line).split(b" ", len(layout.fields) - 1)]
    if len(fields) != len(layout.fields):
        raise TrecError(
            f"{where}: a {layout.what} line has {len(layout.fields)} fields "
            f"({' '.join(layout.fields)}), this one {len(fields)}; correct "
            f"{line.decode('utf-8')[:80]!r}"
        )
    return fields


def _value(name: str, text: str, where: str) -> str | float | int:
    if name in ("query", "doc"):
        return text
    try:
        # Python also reads 1_000 and the digits of other scripts, which no other tool does
        if "_" in text or not text.isascii():
            raise ValueError(text)
        if name == "grade":
            if abs(grade := int(text)) >= 2**63:
                raise TrecError(f"{where}: the grade {grade} is too large")
            return grade
        number = float(text)
    except ValueError:
        if name == "rank":
            return float("nan")
        kind = "a whole number" if name == "grade" else "a number"
        raise TrecError(f"{where}: the {name} must be {kind}, not {text!r}") from None
    if name == "score" and number != number:
        raise TrecError(f"{where}: the score is NaN, so the document has no rank; remove it")
    return number


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
