"""Runs and judgments from parquet, CSV, BEIR folders, DataFrames and dictionaries."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from harness.data.trec.ids import DocIds, Ids, Ints, TrecError
from harness.data.trec.tables import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    Floats,
    Qrels,
    Run,
    find_column,
    qrels_of,
    run_of,
)
from harness.data.trec.text import open_unpacked, read_trec_qrels, read_trec_run
from harness.values import first_line, listed

if TYPE_CHECKING:
    import pandas as pd

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_TABULAR = {".parquet", *_DELIMITERS}
_FREE_ROWS = 20_000_000
_LARGEST_ROWS_PER_BYTE = 50
"""A table of equal rows, which is not a run, has a hundred and more."""


def read_run(path: Path) -> Run:
    """Read a run by its suffix: parquet, CSV or TSV with named columns, anything else as a TREC run.

    CSV, TSV and TREC files may be gzipped. Raises TrecError with the place of what cannot be read.
    """
    return run_of(_table(path), str(path)) if _suffix(path) in _TABULAR else read_trec_run(_existing(path))


def read_qrels(path: Path) -> Qrels:
    """Read judgments by suffix, as ``read_run``; a folder is taken for a BEIR one (``qrels/test.tsv``)."""
    if path.is_dir():
        folder, path = path, path / "qrels" / "test.tsv"
        if not path.exists():
            there = sorted([*folder.glob("*.tsv"), *folder.glob("*/*.tsv")])
            names = listed([str(one.relative_to(folder)) for one in there]) or "none"
            raise TrecError(f"{folder}: no qrels/test.tsv; name the file itself. Found: {names}")
    return (
        qrels_of(_table(path), str(path)) if _suffix(path) in _TABULAR else read_trec_qrels(_existing(path))
    )


def run_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> Run:
    """A run from columns such as query_id, doc_id, score and possibly rank."""
    return run_of(pa.Table.from_pandas(frame, preserve_index=False), source)


def qrels_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> Qrels:
    """Judgments from columns such as query_id, doc_id and grade (or relevance)."""
    return qrels_of(pa.Table.from_pandas(frame, preserve_index=False), source)


def run_from_dict(run: Mapping[str, Mapping[str, float]]) -> Run:
    """A run from ``{query: {document: score}}``; ties keep the order of the dictionary."""
    query, doc = _flatten(run)
    return Run(query, doc, pack_scores(list(run.values()), list(run)), source="dictionary")


def qrels_from_dict(qrels: Mapping[str, Mapping[str, int]]) -> Qrels:
    """Judgments from ``{query: {document: grade}}``."""
    query, doc = _flatten(qrels)
    return Qrels(query, doc, pack_grades(list(qrels.values()), list(qrels)), source="dictionary")


def _flatten(nested: Mapping[str, Mapping[str, Any]]) -> tuple[Ids, DocIds]:
    counts = np.fromiter(map(len, nested.values()), dtype=np.int64, count=len(nested))
    try:
        names = pa.array(list(nested), pa.large_string())
        documents = pa.array(list(chain.from_iterable(nested.values())), pa.large_string())
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise TrecError(f"ids of a dictionary that meet a table are text ({first_line(error)})") from None
    return Ids(names, np.repeat(np.arange(len(nested), dtype=np.int32), counts)), DocIds(documents)


def _suffix(path: Path) -> str:
    """The ending that says what a file is, in lower case, without the ``.gz`` of a packed one."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _table(path: Path) -> pa.Table:
    if not _existing(path).is_file():
        raise TrecError(f"{path}: a table is read more than once, which a pipe is not; write it to a file")
    try:
        if _suffix(path) == ".parquet":
            return _read_parquet(path)
        _refuse_unreadable(path)
        return _read_csv(path, use_threads=True)
    except pa.ArrowInvalid as error:
        raise TrecError(f"{path}: {_located(path, error)}") from error
    except UnicodeDecodeError as error:
        raise TrecError(f"{path}: the names of the columns are not UTF-8 text; convert the file") from error
    except (pa.ArrowException, OSError, OverflowError) as error:
        # whatever else arrow finds wrong in a damaged file
        raise TrecError(f"{path}: it cannot be read ({first_line(error)})") from error


def _located(path: Path, error: pa.ArrowInvalid) -> str:
    """The fault in a file, for CSV with the line: arrow counts them only where it reads without threads."""
    if _suffix(path) != ".parquet":
        try:
            _read_csv(path, use_threads=False)
        except pa.ArrowInvalid as again:
            error = again
    return re.sub(r"Row #(\d+)", r"line \1", str(error).rstrip(".")) + "; correct it"


def _read_parquet(path: Path) -> pa.Table:
    """The columns that count, query ids as dictionary codes where they are text.

    Document ids are read as they are: with many of them, a file holds no dictionary to profit from.
    """
    from pyarrow import parquet

    about = parquet.read_metadata(path)
    if about.num_rows > _LARGEST_ROWS_PER_BYTE * path.stat().st_size + _FREE_ROWS:
        raise TrecError(f"{path}: {about.num_rows} rows in so few bytes are damage. If not, write CSV")
    schema = about.schema.to_arrow_schema()
    query = find_column(schema.names, QUERY_NAMES)
    coded = [query] if query is not None and pa.types.is_string(schema.field(query).type) else []
    return parquet.read_table(
        path, read_dictionary=coded, columns=_kept(schema.names), page_checksum_verification=True
    )


def _kept(names: Sequence[str]) -> list[str] | None:
    """The columns of a run or of judgments; None if one is missing, as the error then lists them all."""
    wanted = (QUERY_NAMES, DOC_NAMES, SCORE_NAMES, GRADE_NAMES, RANK_NAMES)
    query, doc, *numbers = found = [find_column(names, accepted) for accepted in wanted]
    if query is None or doc is None or numbers[:2] == [None, None]:
        return None
    return list(dict.fromkeys(name for name in found if name is not None))


def _refuse_unreadable(path: Path) -> None:
    """Look through a CSV file before arrow does, whose threads are not to be stopped half-way."""
    with open_unpacked(path) as file:
        head = file.read(1 << 16)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
            raise TrecError(f"{path}: this is UTF-16 or no text; save it as UTF-8")
        if path.name.lower().endswith(".gz"):
            while file.read(1 << 20):
                pass


def _read_csv(path: Path, use_threads: bool) -> pa.Table:
    parse = csv.ParseOptions(delimiter=_DELIMITERS[_suffix(path)])
    read = csv.ReadOptions(use_threads=use_threads)
    header = csv.open_csv(path, read, parse).schema.names
    ids = [find_column(header, names) for names in (QUERY_NAMES, DOC_NAMES)]
    if ids == [None, None]:
        raise TrecError(
            f"{path}, line 1: neither {header[0]!r} nor another name is that of a column of ids. "
            f"A {_suffix(path)} file begins with the names of its columns; give TREC text another ending, "
            "such as .txt"
        )
    convert = csv.ConvertOptions(
        column_types={name: pa.string() for name in ids if name},
        # an empty cell is not a value; NA and null may be ids
        null_values=[""],
        strings_can_be_null=True,
    )
    return csv.read_csv(path, read, parse, convert)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise TrecError(f"{path}: there is no such file; correct the name")
    if path.is_dir():
        raise TrecError(f"{path}: this is a folder; name the file in it")
    return path


Dicts = Sequence[Mapping[str, Any]]
_REFUSED = (struct.error, TypeError, ValueError, OverflowError)


def pack_scores(inner: Dicts, names: Sequence[str]) -> Floats:
    """The scores of all queries end to end; raises TrecError that names one that is not a number, or NaN."""
    try:
        scores = np.frombuffer(_packed(inner, "d"), np.float64)
    except _REFUSED:
        scores = np.array([np.nan])
    if np.isnan(scores.max(initial=-np.inf)):
        query, doc = _first_bad(inner, names, _is_number)
        raise TrecError(f"run: query {query}, document {doc}: the score is not a number, so it has no rank")
    return scores


def pack_grades(inner: Dicts, names: Sequence[str]) -> Ints:
    """The grades of all queries end to end; raises TrecError that names one that is not a whole number."""
    try:
        return np.frombuffer(_packed(inner, "q"), np.int64)
    except _REFUSED:
        grades = [grade for documents in inner for grade in documents.values()]
    if all(map(_is_whole, grades)):
        # such as 2.0, which a DataFrame makes of a 2 in a column with an empty cell
        return np.array([int(grade) for grade in grades], np.int64)
    query, doc = _first_bad(inner, names, _is_whole)
    raise TrecError(f"qrels: query {query}, document {doc}: the grade is not a whole number")


def _packed(inner: Dicts, code: str) -> bytes:
    # one packer for every length: a star alone makes a tuple, one beside other arguments a list first, which
    # takes twice as long from Python 3.13 on
    packers = {length: struct.Struct(f"{length}{code}").pack for length in set(map(len, inner))}
    return b"".join([packers[len(documents)](*documents.values()) for documents in inner])


def _first_bad(inner: Dicts, names: Sequence[str], is_good: Callable[[Any], bool]) -> tuple[str, str]:
    return next(
        (query, doc)
        for query, documents in zip(names, inner, strict=True)
        for doc, value in documents.items()
        if not is_good(value)
    )


def _is_number(value: Any) -> bool:
    try:
        return not isnan(struct.unpack("d", struct.pack("d", value))[0])
    except _REFUSED:
        return False


def _is_whole(value: Any) -> bool:
    try:
        return not isinstance(value, str) and int(value) == value and abs(int(value)) < 2**63
    except (TypeError, ValueError, OverflowError):
        return False
