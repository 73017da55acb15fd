"""Find pairs of a query and a document: ranked ones among the judged, and those that stand twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from harness.trec.ids import Bools, DocIds, Ids, Ints, Prints, pair_prints


def judged_rows(
    query: Ints, docs: DocIds, rows: Ints, judged_query: npt.NDArray[Any], judged_docs: DocIds
) -> Ints:
    """For every ranked pair the row in which it is judged, -1 where it is not.

    ``query`` [N] numbers the queries of the ranked ``rows`` [N] as ``judged_query`` does. No pair may stand
    twice on either side.
    """
    ranked, judged = pair_prints(query, docs.prints(rows)), pair_prints(judged_query, judged_docs.prints())
    row = _places(ranked, judged)
    if row is None:
        return _exactly(query, docs, rows, judged_query, judged_docs)
    found = np.flatnonzero(row >= 0)
    same = (query[found] == judged_query[row[found]]) & _equal(
        docs.take(rows[found]), judged_docs.take(row[found])
    )
    return row if same.all() else _exactly(query, docs, rows, judged_query, judged_docs)


def repeated_row(query: npt.NDArray[Any], docs: DocIds, rows: Ints | None = None) -> int | None:
    """The first place where a (query, document) stands that stood before; None where all differ."""
    prints = pair_prints(query, docs.prints(rows))
    ordered = np.sort(prints)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return None
    suspects = np.flatnonzero(np.isin(prints, twice))
    ids = Ids.of(docs.take(suspects if rows is None else rows[suspects]), "documents")
    keys = query[suspects].astype(np.int64) * len(ids.names) + ids.code
    seen = np.argsort(keys, kind="stable")
    again = seen[1:][keys[seen[1:]] == keys[seen[:-1]]]
    return int(suspects[again.min()]) if len(again) else None


def _places(wanted: Prints, among: Prints) -> Ints | None:
    """Where each of ``wanted`` stands in ``among``, -1 for nowhere; None where two of ``among`` are one.

    The smaller side becomes a hash table. Where that is ``among``, its first of several equals is found, so
    that a pair that belongs to another of them does not match on the ids.
    """
    if len(among) <= len(wanted):
        return _index_in(wanted, among)
    place = _index_in(among, wanted)
    found = np.flatnonzero(place >= 0)
    row = np.full(len(wanted), -1, dtype=np.int64)
    row[place[found]] = found
    return row if np.count_nonzero(row >= 0) == len(found) else None


def _index_in(values: Prints, table: Prints) -> Ints:
    found = pc.fill_null(pc.index_in(pa.array(values), value_set=pa.array(table)), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _equal(ones: Any, others: Any) -> Bools:
    return np.asarray(pc.equal(ones, others).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _exactly(
    query: Ints, docs: DocIds, rows: Ints, judged_query: npt.NDArray[Any], judged_docs: DocIds
) -> Ints:
    """The same on numbered documents, for the rare case that two pairs share a fingerprint."""
    both = pa.chunked_array([docs.take(rows), judged_docs.take(np.arange(len(judged_docs)))])
    numbered = Ids.of(both, "documents")
    keys = np.concatenate([query, judged_query]).astype(np.int64) * len(numbered.names) + numbered.code
    return _index_in(keys[: len(rows)].astype(np.uint64), keys[len(rows) :].astype(np.uint64))
