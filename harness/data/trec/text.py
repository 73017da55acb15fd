"""TREC run and judgment files: fields between any spaces or tabs, gzip or not, in bounded memory.

The file is read in blocks of whole lines. A block goes through arrow's parser; one that it refuses is read
line by line, which either finds nothing wrong (comments, empty lines) or names the line.

A line that begins with ``#`` is a comment, unless it reads as a whole row whose query id begins so:
trec_eval 9 scores such rows, trec_eval 10 passes them over.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from harness.data.trec.ids import DocIds, Ids, numbers_of
from harness.data.trec.lines import (
    BOM,
    LONGEST_LINE,
    QRELS,
    RUN,
    Layout,
    blocks,
    columns_of,
    open_unpacked,
    single_spaced,
)
from harness.data.trec.pair_rows import PairRows, Qrels, Run, refuse_repeats

_TYPES = {
    "query": pa.dictionary(pa.int32(), pa.string()),
    "doc": pa.string(),
    "rank": pa.float64(),
    "score": pa.float64(),
    "grade": pa.int64(),
}
"""The fields that are read; the others of a line are passed over."""


def read_trec_run(path: Path) -> Run:
    """Read ``query Q0 document rank score tag`` lines; raises TrecError with the line of a bad one.

    Ranks are kept where all of them are whole numbers, and dropped otherwise.
    """
    table = _read(path, RUN)
    rank = numbers_of(table.column("rank"))
    are_whole = (np.abs(rank) < 2**53).all() and np.array_equal(rank, np.floor(rank))
    run = Run(
        Ids.of(table.column("query"), str(path)),
        DocIds.of(table.column("doc"), str(path)),
        numbers_of(table.column("score")),
        rank.astype(np.int64) if are_whole else None,
        str(path),
    )
    refuse_repeats(run.source, run.query, PairRows.of(run.query.code, run.doc), "ranked")
    return run


def read_trec_qrels(path: Path) -> Qrels:
    """Read ``query iteration document grade`` lines; raises TrecError with the line of a bad one."""
    table = _read(path, QRELS)
    query, doc = Ids.of(table.column("query"), str(path)), DocIds.of(table.column("doc"), str(path))
    return Qrels(query, doc, numbers_of(table.column("grade")), str(path))


def _read(path: Path, layout: Layout) -> pa.Table:
    # not empty_table() of the schema, which loads pandas
    tables = [pa.Table.from_batches([], _schema(layout))]
    line = 1
    with open_unpacked(path) as file:
        for block in blocks(file, path):
            tables.append(_parse(block.removeprefix(BOM) if line == 1 else block, layout, path, line))
            line += block.count(b"\n")
    return pa.concat_tables(tables)


def _parse(block: bytes, layout: Layout, path: Path, first_line: int) -> pa.Table:
    try:
        table = csv.read_csv(
            pa.BufferReader(single_spaced(block)),
            read_options=csv.ReadOptions(
                column_names=list(layout.fields), block_size=LONGEST_LINE * 4, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=True),
            convert_options=csv.ConvertOptions(
                column_types=_schema(layout),
                include_columns=list(layout.read),
                null_values=[],
                strings_can_be_null=False,
            ),
            # what one block frees, the next takes again: arrow's own pools ask the system for fresh pages
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return _parse_lines(block, layout, path, first_line)
    queries = (chunk.dictionary.to_pylist() for chunk in table.column("query").chunks)
    # no number, damage, or a comment with as many fields as a row
    odd = np.isnan(numbers_of(table.column(layout.number))).any() or b"\0" in block
    if odd or (b"#" in block and any("#" in names for names in queries)):
        return _parse_lines(block, layout, path, first_line)
    return table


def _parse_lines(block: bytes, layout: Layout, path: Path, first_line: int) -> pa.Table:
    """The same, one line at a time, so that the first bad one can be named."""
    return pa.table(columns_of(block, layout, path, first_line), _schema(layout))


def _schema(layout: Layout) -> pa.Schema:
    return pa.schema([(name, _TYPES[name]) for name in layout.read])
