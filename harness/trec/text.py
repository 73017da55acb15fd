"""TREC run and judgment files: fields between any spaces or tabs, gzip or not, in bounded memory.

The file is read in blocks of whole lines. A block goes through arrow's parser; one that it refuses is read
line by line, which either finds nothing wrong (comments, empty lines) or names the line.
"""

from __future__ import annotations

import gzip
import io
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
from pyarrow import csv

from harness.trec.ids import DocIds, Ids, TrecError
from harness.trec.match import Pairs, repeated_row
from harness.trec.tables import Qrels, Run

_BLOCK_BYTES = 32 << 20
_ID = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a line; ``kept`` are read, with ``number`` the one that must be a number."""

    what: str
    fields: tuple[str, ...]
    kept: tuple[str, ...]
    number: str
    whole: bool


RUN = Layout(
    "run", ("query", "q0", "doc", "rank", "score", "tag"), ("query", "doc", "rank", "score"), "score", False
)
QRELS = Layout("judgment", ("query", "iteration", "doc", "grade"), ("query", "doc", "grade"), "grade", True)


def read_trec_run(path: Path) -> Run:
    """Read ``query Q0 document rank score tag`` lines; raises TrecError with the line for what cannot be one.

    Ranks are kept where all of them are whole numbers, and dropped otherwise.
    """
    table = _read(path, RUN)
    rank = table.column("rank").to_numpy()
    run = Run(
        Ids.of(table.column("query"), str(path)),
        DocIds.of(table.column("doc"), str(path)),
        table.column("score").to_numpy(),
        rank.astype(np.int64) if ((rank == np.floor(rank)) & (abs(rank) < 2**53)).all() else None,
        str(path),
    )
    _refuse_repeats(path, RUN, run.query, run.doc, "ranked")
    return run


def read_trec_qrels(path: Path) -> Qrels:
    """Read ``query iteration document grade`` lines; raises TrecError with the line of what is none."""
    table = _read(path, QRELS)
    query, doc = Ids.of(table.column("query"), str(path)), DocIds.of(table.column("doc"), str(path))
    _refuse_repeats(path, QRELS, query, doc, "judged")
    return Qrels(query, doc, table.column("grade").to_numpy(), str(path))


def _read(path: Path, layout: Layout) -> pa.Table:
    schema = pa.schema([(name, _type(name)) for name in layout.kept])
    tables = [schema.empty_table()]
    line = 1
    try:
        with _open(path) as file:
            for block in _blocks(file):
                tables.append(_parse(block, layout, path, line))
                line += block.count(b"\n")
    except (EOFError, gzip.BadGzipFile) as error:
        raise TrecError(f"{path}: the gzip file is damaged or cut short ({error})") from error
    return pa.concat_tables(tables)


def _type(name: str) -> pa.DataType:
    if name == "grade":
        return pa.int64()
    if name == "doc":
        return pa.string()
    return pa.float64() if name in ("score", "rank") else _ID


def _open(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it begins like a gzip file."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if packed else path.open("rb")  # type: ignore[return-value]


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Runs of whole lines."""
    rest = b""
    while data := file.read(_BLOCK_BYTES):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
    if rest:
        yield rest


def _parse(block: bytes, layout: Layout, path: Path, first_line: int) -> pa.Table:
    try:
        table = csv.read_csv(
            io.BytesIO(_single_spaced(block)),
            read_options=csv.ReadOptions(column_names=list(layout.fields), block_size=_BLOCK_BYTES * 4),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=True),
            convert_options=csv.ConvertOptions(
                column_types={name: _type(name) for name in layout.kept},
                include_columns=list(layout.kept),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return _parse_lines(block, layout, path, first_line)
    if not layout.whole and np.isnan(table.column(layout.number).to_numpy()).any():
        return _parse_lines(block, layout, path, first_line)
    if block.startswith(b"#") or b"\n#" in block:
        return _parse_lines(block, layout, path, first_line)
    return table


def _single_spaced(block: bytes) -> bytes:
    """One space between fields, none at the ends of lines."""
    if b"\t" in block or b"\r" in block:
        block = block.translate(bytes.maketrans(b"\t\r", b"  "))
    if b"  " in block:
        block = re.sub(b" {2,}", b" ", block)
    if b" \n" in block or b"\n " in block:
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.strip(b" ")


def _parse_lines(block: bytes, layout: Layout, path: Path, first_line: int) -> pa.Table:
    """The same, one line at a time, so that the first bad one can be named."""
    columns: dict[str, list[str | float | int]] = {name: [] for name in layout.kept}
    # arrow drops a byte order mark too
    for number, raw in enumerate(block.removeprefix(BOM_UTF8).split(b"\n"), start=first_line):
        where = f"{path}, line {number}"
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            raise TrecError(f"{where}: not UTF-8 text ({error.reason}); convert the file") from error
        if b"\r" in raw.strip():
            raise TrecError(f"{where}: a carriage return stands within the line; end lines with a line feed")
        if not line or line.startswith("#"):
            continue
        # at spaces and tabs, as above; Python's own split also takes other white space, which an id may hold
        fields = [field.decode("utf-8") for field in _single_spaced(raw).split(b" ", len(layout.fields) - 1)]
        if len(fields) != len(layout.fields):
            raise TrecError(
                f"{where}: a {layout.what} line has {len(layout.fields)} fields "
                f"({' '.join(layout.fields)}), this one {len(fields)}: {line[:80]!r}"
            )
        for name, text in zip(layout.fields, fields, strict=True):
            if name in columns:
                columns[name].append(_value(name, text, where))
    return pa.table({name: pa.array(values, _type(name)) for name, values in columns.items()})


def _value(name: str, text: str, where: str) -> str | float | int:
    if name in ("query", "doc"):
        return text
    try:
        # Python's own numbers may have an underscore
        number = int("" if "_" in text else text) if name == "grade" else float("" if "_" in text else text)
        if name == "grade" and abs(number) >= 2**63:
            raise ValueError
    except ValueError:
        if name == "rank":
            return float("nan")
        kind = "a whole number" if name == "grade" else "a number"
        raise TrecError(f"{where}: the {name} must be {kind}, not {text!r}") from None
    if name == "score" and number != number:
        raise TrecError(f"{where}: the score is NaN, so the document has no rank")
    return number


def _refuse_repeats(path: Path, layout: Layout, query: Ids, doc: DocIds, done: str) -> None:
    row = repeated_row(Pairs.of(query.code, doc))
    if row is not None:
        raise TrecError(
            f"{path}, line {_line_of_row(path, row)}: document {doc.name(row)} is {done} twice for query "
            f"{query.name(row)}; keep one"
        )


def _line_of_row(path: Path, row: int) -> int:
    """Which line holds the row: rows count neither empty lines nor comments."""
    seen = -1
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip() and not line.startswith(b"#"):
                seen += 1
                if seen == row:
                    return number
    raise AssertionError("the file has changed while it was read")
