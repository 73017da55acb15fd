"""Runs and judgments without pyarrow: dictionaries that are read line by line, with the same values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.data.trec.column_names import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    find_column,
)
from harness.data.trec.lines import BOM, QRELS, RUN, Layout, blocks, columns_of, open_unpacked
from harness.data.trec.packing import pack_grades, pack_scores
from harness.data.trec.places import DELIMITERS, TABULAR, existing, qrels_file, suffix_of
from harness.data.trec.table_faults import TrecError
from harness.measures import Convention

if TYPE_CHECKING:
    import pandas as pd

_MOST_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class PlainRun:
    """Ranked documents ``{query: {document: score}}``; ``ranks`` likewise, None if there are none."""

    scores: Mapping[str, Mapping[str, float]]
    ranks: Mapping[str, Mapping[str, int]] | None = None
    source: str = "run"

    @property
    def query_ids(self) -> list[str]:
        """The queries that are ranked."""
        return list(self.scores)

    @property
    def depth(self) -> int:
        """The most documents that are ranked for a query."""
        return max(map(len, self.scores.values()), default=0)

    def ordered(self, rules: Convention) -> Mapping[str, Mapping[str, float]]:
        """The scores by which a convention ranks: minus the place where it goes by ranks, then by scores."""
        scores = self.scores
        if rules.order == "given" and self.ranks is not None:
            scores = {query: _by_rank(scores[query], ranks) for query, ranks in self.ranks.items()}
        if not rules.skip_same_id:
            return scores
        return {
            query: {document: score for document, score in hits.items() if document != query}
            for query, hits in scores.items()
        }


def _by_rank(scores: Mapping[str, float], ranks: Mapping[str, int]) -> dict[str, float]:
    # a rank that several documents hold, such as a column of zeros, says nothing of their order
    order = sorted(scores, key=lambda document: (ranks[document], -scores[document]))
    return {document: -float(place) for place, document in enumerate(order)}


@dataclass(frozen=True, slots=True)
class PlainQrels:
    """Judged documents ``{query: {document: grade}}``."""

    grades: Mapping[str, Mapping[str, int]]
    source: str = "qrels"

    @property
    def query_ids(self) -> list[str]:
        """The queries that are judged."""
        return list(self.grades)

    @property
    def useful(self) -> set[str]:
        """The queries for which a document has a grade above 0."""
        return {query for query, grades in self.grades.items() if max(grades.values(), default=0) > 0}


def read_run(path: Path) -> PlainRun:
    """A run in a CSV, TSV or TREC file; raises TrecError with the place of what cannot be read."""
    if suffix_of(path) in TABULAR:
        return _run_of(_csv_rows(path), str(path))
    query, doc, rank, score = _trec_columns(path, RUN)
    whole = all(abs(place) < _MOST_EXACT and place.is_integer() for place in rank)
    scores = _nested(zip(query, doc, score, strict=True), str(path), "ranked")
    ranks = _nested(zip(query, doc, map(int, rank), strict=True), str(path), "ranked") if whole else None
    return PlainRun(scores, ranks, str(path))


def read_qrels(path: Path) -> PlainQrels:
    """Judgments in a CSV, TSV or TREC file, or a folder of BEIR; raises TrecError."""
    path = qrels_file(path)
    if suffix_of(path) in TABULAR:
        return _qrels_of(_csv_rows(path), str(path))
    query, doc, grade = _trec_columns(path, QRELS)
    return PlainQrels(_nested(zip(query, doc, grade, strict=True), str(path), "judged"), str(path))


def run_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> PlainRun:
    """A run from the columns of a DataFrame."""
    return _run_of(_frame_rows(frame), source)


def qrels_from_frame(frame: pd.DataFrame, source: str = "DataFrame") -> PlainQrels:
    """Judgments from the columns of a DataFrame."""
    return _qrels_of(_frame_rows(frame), source)


def run_from_dict(run: Mapping[str, Mapping[str, float]]) -> PlainRun:
    """A run from ``{query: {document: score}}``."""
    _refuse_other_ids(run)
    pack_scores(list(run.values()), list(run))
    return PlainRun(run, source="dictionary")


def qrels_from_dict(qrels: Mapping[str, Mapping[str, int]]) -> PlainQrels:
    """Judgments from ``{query: {document: grade}}``."""
    _refuse_other_ids(qrels)
    pack_grades(list(qrels.values()), list(qrels))
    return PlainQrels(qrels, source="dictionary")


def _refuse_other_ids(nested: Mapping[Any, Mapping[Any, Any]]) -> None:
    for query, documents in nested.items():
        for name in (query, *documents):
            if not isinstance(name, str):
                raise TrecError(f"ids of a dictionary that meet a table are text (not {name!r})")


def _trec_columns(path: Path, layout: Layout) -> list[list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in layout.read}
    line = 1
    with open_unpacked(existing(path)) as file:
        for block in blocks(file, path):
            read = columns_of(block.removeprefix(BOM) if line == 1 else block, layout, path, line)
            for name, values in read.items():
                columns[name] += values
            line += block.count(b"\n")
    return list(columns.values())


def _nested(rows: Iterable[tuple[str, str, Any]], source: str, verb: str) -> dict[str, dict[str, Any]]:
    """The values by query and document; raises TrecError for a document that is twice in its query."""
    nested: dict[str, dict[str, Any]] = {}
    for row, (query, doc, value) in enumerate(rows, 1):
        documents = nested.setdefault(query, {})
        if doc in documents:
            raise TrecError(
                f"{source}, row {row}: document {doc} is {verb} twice for query {query}; keep one"
            )
        documents[doc] = value
    return nested


Table = tuple[list[str], Sequence[Sequence[Any]]]
"""The names of the columns, and the rows."""


def _csv_rows(path: Path) -> Table:
    if suffix_of(path) == ".parquet":
        raise TrecError(
            f"{path}: reading Parquet needs pyarrow: pip install 'ndcg-harness[parquet]'; or write CSV"
        )
    with open_unpacked(existing(path)) as file:
        if file.peek(1)[:2] in (b"\xff\xfe", b"\xfe\xff"):  # type: ignore[attr-defined]
            raise TrecError(f"{path}: this is UTF-16 or no text; save it as UTF-8")
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        try:
            rows = list(_delimited(csv.reader(text, delimiter=DELIMITERS[suffix_of(path)]), path))
        except (UnicodeDecodeError, csv.Error) as error:
            raise TrecError(f"{path}: it cannot be read as UTF-8 text ({error}); convert the file") from error
    if not rows:
        raise TrecError(f"{path}: the file is empty; write the names of the columns in its first line")
    header = list(map(str, rows[0]))
    if find_column(header, QUERY_NAMES) is None and find_column(header, DOC_NAMES) is None:
        raise TrecError(
            f"{path}, line 1: neither {header[0]!r} nor another name is that of a column of ids. "
            f"A {suffix_of(path)} file begins with the names of its columns; give TREC text another ending, "
            "such as .txt"
        )
    return header, rows[1:]


def _delimited(reader: Any, path: Path) -> Iterator[list[str]]:
    """The rows that are not empty; raises TrecError for one with more or fewer cells than the first."""
    width = 0
    for cells in reader:
        if not cells:
            continue
        width = width or len(cells)
        if len(cells) != width:
            raise TrecError(
                f"{path}: CSV parse error: line {reader.line_num}: Expected {width} columns, got "
                f"{len(cells)}; correct it"
            )
        yield cells


def _frame_rows(frame: pd.DataFrame) -> Table:
    return list(map(str, frame.columns)), list(frame.itertuples(index=False, name=None))


def _run_of(table: Table, source: str) -> PlainRun:
    query, doc = _ids(table, QUERY_NAMES, source), _ids(table, DOC_NAMES, source)
    score = [_number(text, source, row, "score") for row, text in _column(table, SCORE_NAMES, source)]
    for row, value in enumerate(score):
        if value != value:
            raise TrecError(
                f"{source}, row {row + 1}: query {query[row]}, document {doc[row]}: the score is not a "
                "number, so it has no rank"
            )
    scores = _nested(zip(query, doc, score, strict=True), source, "ranked")
    if find_column(table[0], RANK_NAMES) is None:
        return PlainRun(scores, None, source)
    rank = [_whole(text, source, row, "rank") for row, text in _column(table, RANK_NAMES, source)]
    return PlainRun(scores, _nested(zip(query, doc, rank, strict=True), source, "ranked"), source)


def _qrels_of(table: Table, source: str) -> PlainQrels:
    query, doc = _ids(table, QUERY_NAMES, source), _ids(table, DOC_NAMES, source)
    grade = [_whole(text, source, row, "grade") for row, text in _column(table, GRADE_NAMES, source)]
    return PlainQrels(_nested(zip(query, doc, grade, strict=True), source, "judged"), source)


def _column(table: Table, accepted: Sequence[str], source: str) -> list[tuple[int, Any]]:
    """The cells of a column, each with its row from 1 on."""
    header, rows = table
    name = find_column(header, accepted)
    if name is not None and header.count(name) > 1:
        raise TrecError(f"{source}: there are several columns named {name}; keep one")
    if name is None:
        wanted, there = " or ".join(accepted[:3]), ", ".join(header)
        raise TrecError(f"{source}: no column named {wanted}; it has {there}; add or rename one")
    place = header.index(name)
    return [(row, cells[place]) for row, cells in enumerate(rows, 1)]


def _ids(table: Table, accepted: Sequence[str], source: str) -> list[str]:
    """The ids as text; raises TrecError for a row without one."""
    ids = []
    for row, cell in _column(table, accepted, source):
        if cell is None or cell != cell or cell == "":
            raise TrecError(f"{source}, row {row}: there is no id; every row needs one")
        # a DataFrame makes 7.0 of a 7 in a column with an empty cell
        ids.append(str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell))
    return ids


def _number(cell: Any, source: str, row: int, what: str) -> float:
    if cell is None or cell == "":
        raise TrecError(f"{source}, row {row}: there is no {what}; fill it")
    try:
        # Python also reads 1_000 and the digits of other scripts, which no other tool does
        if isinstance(cell, str) and ("_" in cell or not cell.isascii()):
            raise ValueError(cell)
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise TrecError(f"{source}, row {row}: the {what} {cell!r} is not a number; correct it") from None


def _whole(cell: Any, source: str, row: int, what: str) -> int:
    try:
        # as it is: a float would round a large one
        whole = int(str(cell)) if str(cell).isascii() and "_" not in str(cell) else None
    except ValueError:
        whole = None
    if whole is None:
        value = _number(cell, source, row, what)
        if value != value or value in (float("inf"), -float("inf")) or not value.is_integer():
            raise TrecError(f"{source}, row {row}: the {what} {value} is not a whole number; correct it")
        whole = int(value)
    if abs(whole) >= 2**63:
        raise TrecError(f"{source}, row {row}: the {what} {whole} is too large")
    return whole
