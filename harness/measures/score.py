"""Score rankings of chunks against graded spans, all queries at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.measures.chunks import ChunkTable
from harness.measures.graded import Graded, Hits
from harness.measures.measure import Measure, arguments
from harness.measures.projection import ChunkGrades, Projection, project
from harness.measures.qrels import SpanQrels
from harness.measures.ragged import (
    AnyArray,
    Bools,
    Floats,
    Ints,
    offsets_of,
    owners,
    positions,
    slices,
    sorted_descending,
)
from harness.measures.table import FAMILIES, parse_measure
from harness.measures.tokens_read import RankedTokens
from harness.measures.trail import Trail, read
from harness.measures.units import Characters, TokenBoundaries, Tokens, Unit
from harness.types import Chunk, Judgment, Query, Ranking

Unanswerable = Literal["nan", "zero"]
UNJUDGED = -1


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The value of every measure for every query: ``values`` [Q, M], NaN where a measure is undefined.

    ``has_relevant`` [Q] says whether a query is answerable and has relevant text (a span of grade 1 or more),
    ``ranked`` [Q] whether it got a ranking; ``items`` are all ranked chunks with their grades.
    """

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    has_relevant: Bools
    ranked: Bools
    items: RankedItems

    def column(self, measure: Measure | str) -> Floats:
        """The values of one measure, [Q]; raises KeyError where it was not asked for."""
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        if wanted not in self.measures:
            raise KeyError(f"{wanted} was not scored; there are {', '.join(map(str, self.measures))}")
        return self.values[:, self.measures.index(wanted)]


def score(
    rankings: Sequence[Ranking],
    queries: Sequence[Query],
    spans: SpanQrels | Iterable[Judgment],
    chunks: ChunkTable | Iterable[Chunk],
    measures: Sequence[Measure | str],
    *,
    projection: Projection | None = None,
    unanswerable: Unanswerable = "nan",
    token_boundaries: TokenBoundaries | None = None,
    chunk_tokens: AnyArray | None = None,
) -> ScoreTable:
    """Score every query of ``queries`` under every measure.

    ``chunks`` are *all* chunks of the chunking, ranked or not: the ideal ranking is drawn from them. A query
    without a ranking scores 0; one that is not answerable or has no relevant text (for a measure with
    ``rel``, no evidence of that grade) has no value: NaN, or 0 where ``unanswerable`` is ``zero``. Judgments
    of other queries are ignored. ``token_boundaries`` is asked for every document where a measure counts
    tokens of text, ``chunk_tokens`` [C] is the length of every chunk where it counts those of chunks. Raises
    ValueError for an unknown measure, a ranking of an unknown query or chunk, or chunks and spans that cannot
    be (see ``ChunkTable``, ``SpanQrels``).
    """
    if unanswerable not in ("nan", "zero"):
        raise ValueError(f"unanswerable must be 'nan' or 'zero', not {unanswerable!r}")
    wanted = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
    qrels = spans if isinstance(spans, SpanQrels) else SpanQrels.from_judgments(spans)
    table = chunks if isinstance(chunks, ChunkTable) else ChunkTable.of(chunks)
    number = {query_id: i for i, query_id in enumerate(qrels.query_ids)}
    query_in_spans = np.array([number.get(query.query_id, -1) for query in queries], dtype=np.int64)
    answerable = np.array([query.answerable for query in queries], dtype=np.bool_)
    chunk, offsets = lay_out(rankings, queries, table.rows())
    graded, items = grade_rankings(chunk, offsets, query_in_spans, qrels, project(qrels, table, projection))
    read_as: dict[str, Trail | RankedTokens] = {
        name: read(chunk, offsets, query_in_spans, qrels, table, unit)
        for name, unit in _units(wanted, token_boundaries)
    }
    if chunk_tokens is not None:
        read_as["lengths"] = RankedTokens(chunk_tokens[chunk].astype(np.int64), offsets)
    return ScoreTable(
        tuple(query.query_id for query in queries),
        wanted,
        compute(graded, wanted, unanswerable, read_as, answerable),
        (graded.n_relevant() > 0) & answerable,
        np.isin([query.query_id for query in queries], [ranking.query_id for ranking in rankings]),
        items,
    )


def compute(
    graded: Graded,
    measures: Sequence[Measure],
    unanswerable: Unanswerable = "nan",
    read_as: Mapping[str, Trail | RankedTokens] | None = None,
    answerable: Bools | None = None,
) -> Floats:
    """Every measure over graded rankings, and over the same rankings read as text: [Q, M].

    ``read_as`` holds the text read in ``characters`` and in ``tokens``, and the ``lengths`` of the ranked
    chunks, as far as a measure needs them. A query that is known not to be ``answerable`` [Q] has no relevant
    text, whatever is on its topic.
    """
    values = np.empty((graded.n_queries, len(measures)))
    for column, measure in enumerate(measures):
        family = FAMILIES[measure.family]
        params = arguments(measure, family)
        data = graded if family.reads == "ranks" else (read_as or {}).get(family.reads)
        if data is None:
            raise ValueError(f"{measure} reads the text of chunks, and here are only graded ranks")
        result = family.compute(data, measure.cutoff, **params)
        if family.needs_relevant:
            undefined = graded.n_relevant(params.get("rel", 1)) == 0
            if family.unjudged_counts and unanswerable == "zero":
                undefined[:] = False
            if answerable is not None:
                undefined = undefined | ~answerable
            result = np.where(undefined, np.nan if unanswerable == "nan" else 0.0, result)
        values[:, column] = result
    return values


def _units(measures: Sequence[Measure], boundaries: TokenBoundaries | None) -> list[tuple[str, Unit]]:
    """The units in which text has to be measured."""
    read = {FAMILIES[measure.family].reads for measure in measures}
    units: list[tuple[str, Unit]] = [("characters", Characters())] if "characters" in read else []
    if "tokens" in read:
        if boundaries is None:
            named = next(measure for measure in measures if FAMILIES[measure.family].reads == "tokens")
            raise ValueError(f"{named} counts tokens, and no tokenizer is given (token_boundaries)")
        units.append(("tokens", Tokens(boundaries)))
    return units


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
    unknown = by_query.keys() - set(names)
    if unknown:
        raise ValueError(
            f"{len(unknown)} rankings are of queries that are not scored, such as {min(unknown)}"
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
