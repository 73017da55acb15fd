"""Find pairs of a query and a document: ranked ones among the judged, and repeated ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from harness.data.trec.ids import Bools, DocIds, Ids, Ints, Prints, Rows, pair_prints

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
    found = np.flatnonzero(row >= 0)
    same = (ranked.query[found] == judged.query[row[found]]) & _equal(
        ranked.documents(found), judged.documents(row[found])
    )
    return row if same.all() else _exactly(ranked, judged)


def repeated_row(pairs: PairRows) -> int | None:
    """The first place of a pair that occurred before; None if all differ."""
    ordered = np.sort(pairs.prints)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return None
    suspects = np.flatnonzero(np.isin(pairs.prints, twice))
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
    found = np.flatnonzero(place >= 0)
    row = np.full(len(wanted), -1, dtype=np.int64)
    row[place[found]] = candidates[found]
    return row if np.count_nonzero(row >= 0) == len(found) else None


def _sieved(wanted: Prints, among: Prints) -> Ints:
    """Places in ``among`` that may match one of ``wanted``: those that share its last bits.

    A table of bits is asked much faster than one of numbers, and leaves few to ask that for.
    """
    bits = min(_SIEVE_BITS, len(wanted).bit_length() + 3)
    mask = np.uint64((1 << bits) - 1)
    known = np.zeros(1 << bits, dtype=np.bool_)
    known[(wanted & mask).view(np.int64)] = True
    return np.flatnonzero(known[(among & mask).view(np.int64)])


def _index_in(values: Prints, table: Prints) -> Ints:
    found = pc.fill_null(pc.index_in(pa.array(values), value_set=pa.array(table)), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _equal(ones: Any, others: Any) -> Bools:
    return np.asarray(pc.equal(ones, others).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _exactly(ranked: PairRows, judged: PairRows) -> Ints:
    """The same on numbered documents, for the rare case that two pairs share a fingerprint."""
    both = [pairs.documents(np.arange(len(pairs))) for pairs in (ranked, judged)]
    numbered = Ids.of(pa.chunked_array(both), "documents")
    query = np.concatenate([ranked.query, judged.query]).astype(np.int64)
    keys = query * len(numbered.names) + numbered.code
    return _index_in(keys[: len(ranked)].astype(np.uint64), keys[len(ranked) :].astype(np.uint64))
