"""Runs and judgments of documents as columns, and pairs of a query and a document among their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from harness.data.trec.column_names import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    find_column,
)
from harness.data.trec.ids import (
    DocIds,
    Ids,
    Ints,
    Prints,
    Rows,
    column_of,
    first_empty,
    pair_prints,
    places_in,
)
from harness.data.trec.table_faults import TrecError

_SIEVE_BITS = 26


@dataclass(frozen=True, slots=True)
class PairRows:
    """Some rows of a table, of which each is a query [N], by number, and a document.

    ``rows`` [N] says which rows of ``docs``, None for all of them. ``prints`` are fingerprints of the pairs.
    """

    query: npt.NDArray[Any]
    docs: DocIds
    rows: Rows
    prints: Prints

    @classmethod
    def of(cls, query: npt.NDArray[Any], docs: DocIds, rows: Rows = None) -> PairRows:
        """Pairs with their fingerprints."""
        return cls(query, docs, rows, pair_prints(query, docs.prints(rows)))

    def __len__(self) -> int:
        return len(self.query)

    def documents(self, chosen: Ints) -> Any:
        """The document ids of some pairs, one array of large strings."""
        return self.docs.take(chosen if self.rows is None else self.rows[chosen])


def judged_rows(ranked: PairRows, judged: PairRows) -> Ints:
    """For every ranked pair the place of the same judged pair, -1 if it is not judged.

    Both number the queries alike. No pair may be twice on either side.
    """
    row = _places(ranked.prints, judged.prints)
    if row is None:
        return _exactly(ranked, judged)
    matched = np.flatnonzero(row >= 0)
    same = np.array_equal(ranked.query[matched], judged.query[row[matched]])
    same = same and ranked.documents(matched).equals(judged.documents(row[matched]))
    return row if same else _exactly(ranked, judged)


def repeated_row(pairs: PairRows) -> int | None:
    """The first place of a pair that occurred before; None if all differ."""
    ordered = np.sort(pairs.prints)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return None
    # numpy 2.0 cannot count numbers as large as these
    suspects = np.flatnonzero(np.isin(pairs.prints, twice, kind="sort"))
    ids = Ids.of(pairs.documents(suspects), "documents")
    keys = pairs.query[suspects].astype(np.int64) * len(ids.names) + ids.code
    seen = np.argsort(keys, kind="stable")
    again = seen[1:][keys[seen[1:]] == keys[seen[:-1]]]
    return int(suspects[again.min()]) if len(again) else None


def _places(wanted: Prints, among: Prints) -> Ints | None:
    """Where each of ``wanted`` is in ``among``, -1 for nowhere; None if two of ``among`` are one.

    The smaller side becomes a hash table. Where that is ``among``, its first of several equals is found, so
    that a pair that belongs to another of them does not match on the ids.
    """
    if len(among) <= len(wanted):
        return _index_in(wanted, among)
    candidates = _sieved(wanted, among)
    place = _index_in(among[candidates], wanted)
    matched = np.flatnonzero(place >= 0)
    row = np.full(len(wanted), -1, dtype=np.int64)
    row[place[matched]] = candidates[matched]
    return row if np.count_nonzero(row >= 0) == len(matched) else None


def _sieved(wanted: Prints, among: Prints) -> Ints:
    """Places in ``among`` that may match one of ``wanted``: those that share its last bits.

    A table of bits is asked much faster than one of numbers, and leaves few to ask that for.
    """
    bits = min(_SIEVE_BITS, len(wanted).bit_length() + 3)
    mask = np.uint64((1 << bits) - 1)
    sieve = np.zeros(1 << bits, dtype=np.bool_)
    sieve[(wanted & mask).view(np.int64)] = True
    return np.flatnonzero(sieve[(among & mask).view(np.int64)])


def _index_in(values: Prints, table: Prints) -> Ints:
    return places_in(column_of(values), column_of(table)).astype(np.int64)


def _exactly(ranked: PairRows, judged: PairRows) -> Ints:
    """The same on numbered documents, for the rare case that two pairs share a fingerprint."""
    both = [pairs.documents(np.arange(len(pairs))) for pairs in (ranked, judged)]
    numbered = Ids.of(pa.chunked_array(both), "documents")
    query = np.concatenate([ranked.query, judged.query]).astype(np.int64)
    keys = query * len(numbered.names) + numbered.code
    return _index_in(keys[: len(ranked)].astype(np.uint64), keys[len(ranked) :].astype(np.uint64))


_NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
# text may hold numbers; a column without rows, of a CSV file, has the type null
_READ_AS_NUMBERS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_decimal,
    pa.types.is_null,
)

Floats = npt.NDArray[np.float64]
AnyIds = TypeVar("AnyIds", Ids, DocIds)


@dataclass(frozen=True, slots=True)
class Run:
    """Ranked documents, one row each, in the order of the source; ``rank`` is None if it has no ranks."""

    query: Ids
    doc: DocIds
    score: Floats
    rank: Ints | None = None
    source: str = "run"

    @property
    def query_ids(self) -> list[str]:
        """The queries that are ranked."""
        return list(self.query.names.to_pylist())

    @property
    def depth(self) -> int:
        """The most documents that are ranked for a query."""
        return int(np.bincount(self.query.code).max(initial=0))

    def __post_init__(self) -> None:
        """Refuse scores that cannot be ordered."""
        bad = np.flatnonzero(np.isnan(self.score))
        if len(bad):
            row = int(bad[0])
            raise TrecError(
                f"{self.source}, row {row + 1}: query {self.query.name(row)}, document {self.doc.name(row)}: "
                "the score is not a number, so it has no rank"
            )


@dataclass(frozen=True, slots=True)
class Qrels:
    """Judged documents, one row each."""

    query: Ids
    doc: DocIds
    grade: Ints
    source: str = "qrels"
    pairs: PairRows = field(init=False, repr=False, compare=False)
    """The rows as pairs that can be looked up."""

    @property
    def query_ids(self) -> list[str]:
        """The queries that are judged."""
        return list(self.query.names.to_pylist())

    @property
    def useful(self) -> set[str]:
        """The queries for which a document has a grade above 0."""
        names = self.query_ids
        return {names[code] for code in set(self.query.code[self.grade > 0].tolist())}

    def __post_init__(self) -> None:
        """Refuse a document that is judged twice for one query."""
        object.__setattr__(self, "pairs", PairRows.of(self.query.code, self.doc))
        refuse_repeats(self.source, self.query, self.pairs, "judged")


def refuse_repeats(source: str, query: Ids, pairs: PairRows, verb: str) -> None:
    """Raise TrecError that names the first row whose document is twice in its query.

    ``verb`` is the word for being in it: `ranked` or `judged`.
    """
    place = repeated_row(pairs)
    if place is not None:
        row = place if pairs.rows is None else int(pairs.rows[place])
        raise TrecError(
            f"{source}, row {row + 1}: document {pairs.docs.name(row)} is {verb} twice for query "
            f"{query.name(row)}; keep one"
        )


def run_of(table: pa.Table, source: str) -> Run:
    """A run from a table with columns for query, document and score, and possibly rank."""
    rank = find_column(table.column_names, RANK_NAMES)
    return Run(
        _without_empty(Ids.of(_column(table, QUERY_NAMES, source), source), source),
        _without_empty(DocIds.of(_column(table, DOC_NAMES, source), source), source),
        numbers(_column(table, SCORE_NAMES, source), source, "score").astype(np.float64, copy=False),
        None if rank is None else whole_numbers(table.column(rank), source, "rank"),
        source,
    )


def qrels_of(table: pa.Table, source: str) -> Qrels:
    """Judgments from a table with columns for query, document and grade."""
    return Qrels(
        _without_empty(Ids.of(_column(table, QUERY_NAMES, source), source), source),
        _without_empty(DocIds.of(_column(table, DOC_NAMES, source), source), source),
        whole_numbers(_column(table, GRADE_NAMES, source), source, "grade"),
        source,
    )


def _without_empty(ids: AnyIds, source: str) -> AnyIds:
    """The ids as they are; raises TrecError that names the first row with an empty one."""
    row = first_empty(ids.names if isinstance(ids, Ids) else ids.values, ids.code)
    if row is not None:
        raise TrecError(f"{source}, row {row + 1}: the id is empty; every row needs one")
    return ids


def _column(table: pa.Table, accepted: Sequence[str], source: str) -> Any:
    name = find_column(table.column_names, accepted)
    if name is not None and table.column_names.count(name) > 1:
        raise TrecError(f"{source}: there are several columns named {name}; keep one")
    if name is None:
        wanted, there = " or ".join(accepted[:3]), ", ".join(table.column_names)
        raise TrecError(f"{source}: no column named {wanted}; it has {there}; add or rename one")
    return table.column(name)


def numbers(column: Any, source: str, what: str) -> npt.NDArray[Any]:
    """A column as numbers; raises TrecError that names the first row that holds none."""
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise TrecError(f"{source}, row {row + 1}: there is no {what}; fill it")
    if any(is_type(column.type) for is_type in _NUMERIC):
        return np.asarray(column.to_numpy())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(is_type(column.type) for is_type in (*_NUMERIC, *_READ_AS_NUMBERS)):
        # before arrow is asked, which makes numbers of some types that are none
        raise TrecError(f"{source}: a {what} is a number; the column holds {column.type}")
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid as error:
        row, text = next((i, value.as_py()) for i, value in enumerate(column) if not _is_number(value))
        where = f"{source}, row {row + 1}"
        raise TrecError(f"{where}: the {what} {text!r} is not a number; correct it") from error


def _is_number(text: pa.Scalar) -> bool:
    try:
        text.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def whole_numbers(column: Any, source: str, what: str) -> Ints:
    """A column as integers; raises TrecError that names the first row that holds a fraction or NaN."""
    values = numbers(column, source, what)
    if values.dtype.kind not in "iub":
        bad = np.flatnonzero(~(values == np.floor(values)) | ~np.isfinite(values))
        if len(bad):
            where = f"{source}, row {bad[0] + 1}"
            raise TrecError(f"{where}: the {what} {values[bad[0]]} is not a whole number; correct it")
    if values.dtype.kind in "uf" and values.max(initial=0) >= 2**63:
        row = int(values.argmax())
        raise TrecError(f"{source}, row {row + 1}: the {what} {values[row]} is too large")
    return values.astype(np.int64, copy=False)
