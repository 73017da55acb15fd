"""Rankings of chunks meet the grades of the chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures.graded import Graded, Hits
from harness.measures.projection import ChunkGrades
from harness.measures.qrels import SpanQrels
from harness.measures.ragged import Bools, Ints, offsets_of, owners, positions, slices, sorted_descending
from harness.types import Query, Ranking

UNJUDGED = -1


@dataclass(frozen=True, slots=True)
class RankedItems:
    """Every ranked chunk of every query, in the order of queries and ranks.

    ``query`` [N] indexes the queries scored, ``rank`` is 1-based, ``chunk`` a row of the chunk table,
    ``grade`` the chunk's grade or -1 where it is unjudged, ``earned`` what the item adds at its rank: its
    grade, or 0 where it is unjudged or its evidence was earned above it.
    """

    offsets: Ints
    query: Ints
    rank: Ints
    chunk: Ints
    grade: Ints
    earned: Ints


def lay_out(
    rankings: Sequence[Ranking], queries: Sequence[Query], chunk_rows: Mapping[str, int]
) -> tuple[Ints, Ints]:
    """The chunk rows of all rankings in the order of ``queries``, end to end, and their offsets.

    A query with no ranking gets an empty list. Raises ValueError for a ranking of an unknown query or chunk,
    and for a query ranked or listed twice.
    """
    by_query = {ranking.query_id: ranking for ranking in rankings}
    if len(by_query) != len(rankings):
        raise ValueError(f"query {_repeated([r.query_id for r in rankings])} has more than one ranking")
    names = [query.query_id for query in queries]
    if len(set(names)) != len(names):
        raise ValueError(f"query {_repeated(names)} is listed more than once")
    strangers = by_query.keys() - set(names)
    if strangers:
        raise ValueError(
            f"{len(strangers)} rankings are of queries that are not scored, such as {min(strangers)}"
        )
    lists = [by_query[name].chunk_ids if name in by_query else () for name in names]
    offsets = offsets_of(np.array([len(ids) for ids in lists], dtype=np.int64))
    try:
        rows = [chunk_rows[chunk_id] for ids in lists for chunk_id in ids]
    except KeyError as missing:
        raise ValueError(
            f"a ranking holds the chunk {missing.args[0]}, which is not among the chunks"
        ) from None
    return np.array(rows, dtype=np.int64), offsets


def grade_rankings(
    chunk: Ints, offsets: Ints, query_in_spans: Ints, spans: SpanQrels, grades: ChunkGrades
) -> tuple[Graded, RankedItems]:
    """Join the ranked chunks with their grades; ``query_in_spans`` [Q] is -1 where nothing is judged."""
    query = owners(offsets)
    row = grades.rows_of(query_in_spans[query], chunk)
    judged = row >= 0
    known = row[judged]
    grade = np.full(len(chunk), UNJUDGED, dtype=np.int64)
    grade[judged] = grades.grade[known]
    earned = np.zeros(len(chunk), dtype=np.int64)
    earned[judged] = np.where(
        _first_of_evidence(grades.evidence[known], grades.grade[known]), grades.grade[known], 0
    )
    ideal, ideal_offsets = _ideal(query_in_spans, spans, grades)
    certain, certain_offsets = _ideal(query_in_spans, spans, grades, ~grades.partly)
    partly = np.zeros(len(chunk), dtype=np.bool_)
    partly[judged] = grades.partly[known]
    evidence, evidence_offsets = _to_find(query_in_spans, spans)
    graded = Graded(
        offsets,
        judged,
        earned,
        ideal_offsets,
        ideal,
        evidence_offsets,
        evidence,
        _hits(positions(offsets), row, query_in_spans, spans, grades),
        partly=partly,
        certain_offsets=certain_offsets,
        certain=certain,
    )
    return graded, RankedItems(offsets, query, positions(offsets) + 1, chunk, grade, earned)


def _repeated(names: Sequence[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("no name is repeated")


def _first_of_evidence(evidence: Ints, grade: Ints) -> Bools:
    """Which items earn: the first of each evidence; a grade 0 item shows nothing and uses nothing up."""
    relevant = np.flatnonzero(grade > 0)
    first = np.zeros(len(evidence), dtype=np.bool_)
    first[relevant[np.unique(evidence[relevant], return_index=True)[1]]] = True
    return first


def _positions_in_queries(query_in_spans: Ints, n_in_spans: int) -> Ints:
    """The inverse of ``query_in_spans``: which scored query each judged one is, -1 for none."""
    inverse = np.full(n_in_spans, -1, dtype=np.int64)
    known = query_in_spans >= 0
    inverse[query_in_spans[known]] = np.flatnonzero(known)
    return inverse


def _ideal(
    query_in_spans: Ints, spans: SpanQrels, grades: ChunkGrades, rows: Bools | slice = slice(None)
) -> tuple[Ints, Ints]:
    """Per scored query the best grade of a chunk for each evidence that a chunk stands for, highest first."""
    best = np.zeros(spans.n_evidence, dtype=np.int64)
    np.maximum.at(best, grades.evidence[rows], grades.grade[rows])
    return _per_query(best, query_in_spans, spans)


def _to_find(query_in_spans: Ints, spans: SpanQrels) -> tuple[Ints, Ints]:
    """Per scored query the best grade of each evidence, whether or not any chunk stands for it."""
    return _per_query(spans.evidence_grades()[1], query_in_spans, spans)


def _per_query(best: Ints, query_in_spans: Ints, spans: SpanQrels) -> tuple[Ints, Ints]:
    owner = _positions_in_queries(query_in_spans, len(spans.query_ids))[spans.evidence_grades()[0]]
    kept = (best > 0) & (owner >= 0)
    return sorted_descending(best[kept], owner[kept], len(query_in_spans))


def _hits(position: Ints, row: Ints, query_in_spans: Ints, spans: SpanQrels, grades: ChunkGrades) -> Hits:
    """Every (ranked item, span it covers)."""
    judged = np.flatnonzero(row >= 0)
    counts = np.diff(grades.cover_offsets)[row[judged]]
    span = grades.cover_span[slices(grades.cover_offsets[row[judged]], counts)]
    owner = _positions_in_queries(query_in_spans, len(spans.query_ids))[spans.evidence_grades()[0]]
    return Hits(np.repeat(position[judged], counts), spans.evidence[span], spans.grade[span], owner)
