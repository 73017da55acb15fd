"""Runs and judgments from parquet, CSV, BEIR folders, DataFrames and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from harness.data.trec.column_names import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    find_column,
)
from harness.data.trec.ids import DocIds, Ids
from harness.data.trec.lines import open_unpacked
from harness.data.trec.packing import pack_grades, pack_scores
from harness.data.trec.pair_rows import Qrels, Run, qrels_of, run_of
from harness.data.trec.places import DELIMITERS, TABULAR, existing, qrels_file, suffix_of
from harness.data.trec.table_faults import TrecError
from harness.data.trec.text import read_trec_qrels, read_trec_run
from harness.values import first_line

if TYPE_CHECKING:
    import pandas as pd

_FREE_ROWS = 20_000_000
_LARGEST_ROWS_PER_BYTE = 50
"""A table of equal rows, which is not a run, has a hundred and more."""


def read_run(path: Path) -> Run:
    """Read a run by its suffix: parquet, CSV or TSV with named columns, anything else as a TREC run.

    CSV, TSV and TREC files may be gzipped. Raises TrecError with the place of what cannot be read.
    """
    return run_of(_table(path), str(path)) if suffix_of(path) in TABULAR else read_trec_run(existing(path))


def read_qrels(path: Path) -> Qrels:
    """Read judgments by suffix, as ``read_run``; a folder is taken for a BEIR one (``qrels/test.tsv``)."""
    path = qrels_file(path)
    return (
        qrels_of(_table(path), str(path)) if suffix_of(path) in TABULAR else read_trec_qrels(existing(path))
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


def _table(path: Path) -> pa.Table:
    if not existing(path).is_file():
        raise TrecError(f"{path}: a table is read more than once, which a pipe is not; write it to a file")
    try:
        if suffix_of(path) == ".parquet":
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
    if suffix_of(path) != ".parquet":
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
    query, doc, *numbers = columns = [find_column(names, accepted) for accepted in wanted]
    if query is None or doc is None or numbers[:2] == [None, None]:
        return None
    return list(dict.fromkeys(name for name in columns if name is not None))


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
    parse = csv.ParseOptions(delimiter=DELIMITERS[suffix_of(path)])
    read = csv.ReadOptions(use_threads=use_threads)
    header = csv.open_csv(path, read, parse).schema.names
    ids = [find_column(header, names) for names in (QUERY_NAMES, DOC_NAMES)]
    if ids == [None, None]:
        raise TrecError(
            f"{path}, line 1: neither {header[0]!r} nor another name is that of a column of ids. "
            f"A {suffix_of(path)} file begins with the names of its columns; give TREC text another ending, "
            "such as .txt"
        )
    convert = csv.ConvertOptions(
        column_types={name: pa.string() for name in ids if name},
        # an empty cell is not a value; NA and null may be ids
        null_values=[""],
        strings_can_be_null=True,
    )
    return csv.read_csv(path, read, parse, convert)
