"""Score rankings of chunks against graded spans, vectorised over queries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from harness.measures.measure import Measure, arguments
from harness.measures.projection import ChunkGrades, ChunkTable, Projection, project
from harness.measures.qrels import SpanQrels
from harness.measures.ragged import (
    AnyArray,
    Bools,
    Floats,
    Ints,
    Lists,
    offsets_of,
    owners,
    positions,
    repeated,
    slices,
    sorted_descending,
)
from harness.measures.ranked import Graded, Hits
from harness.measures.table import FAMILIES, parse_measure
from harness.measures.text_ndcg import RankedTokens
from harness.measures.trail import Characters, Ideals, TokenBoundaries, Tokens, Trail, Unit, read
from harness.values import Chunk, HarnessError, Judgment, Query, Ranking

Unanswerable = Literal["nan", "zero"]
UNJUDGED = -1


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The value of every measure for every query: ``values`` [Q, M], NaN if a measure is undefined.

    ``has_relevant`` [Q] says whether a query is answerable and has relevant text (a span of grade 1 or more),
    ``ranked`` [Q] whether it got a ranking; ``items`` are all ranked chunks with their grades.
    """

    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    has_relevant: Bools
    ranked: Bools
    items: RankedItems

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over the queries that have a value, None where none has."""
        (at,) = (at for at, own in enumerate(self.measures) if own.name == measure)
        values = self.values[:, at]
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else None


class Scorer:
    """Scores rankings of the chunks of one chunking, as often as asked.

    What does not depend on a ranking is worked out once: ``spans``, the graded spans of ``queries`` in their
    order; ``chunks``, *all* chunks of the chunking, ranked or not, since the ideal ranking is drawn from
    them; and ``grades``, the spans projected onto the chunks. Judgments of other queries are ignored.
    ``token_boundaries`` is asked for every document where a measure counts tokens of text, ``chunk_tokens``
    [C] is the length of every chunk where it counts those of chunks.

    Raises ValueError for chunks and spans that cannot be (see ``ChunkTable``, ``SpanQrels``) and for a query
    listed twice.
    """

    def __init__(
        self,
        queries: Sequence[Query],
        spans: SpanQrels | Iterable[Judgment],
        chunks: ChunkTable | Iterable[Chunk],
        *,
        projection: Projection | None = None,
        unanswerable: Unanswerable = "nan",
        token_boundaries: TokenBoundaries | None = None,
        chunk_tokens: AnyArray | None = None,
    ) -> None:
        self.queries = tuple(queries)
        self.query_ids = tuple(query.query_id for query in queries)
        if len(set(self.query_ids)) != len(self.query_ids):
            raise ValueError(f"query {repeated(self.query_ids)} is listed more than once")
        qrels = spans if isinstance(spans, SpanQrels) else SpanQrels.from_judgments(spans)
        self.spans = qrels.for_queries(self.query_ids)
        self.chunks = ChunkTable.of(chunks)
        self._answerable = np.array([query.answerable for query in queries], dtype=np.bool_)
        self._projection = projection
        self._unanswerable = unanswerable
        self._tokens = None if token_boundaries is None else Tokens(token_boundaries)
        self._chunk_tokens = chunk_tokens
        self._known: dict[tuple[bytes, Measure], Floats] = {}
        self._known_ideals: dict[str, Ideals] = {}

    def against(self, spans: SpanQrels) -> Scorer:
        """The same queries and chunks with other spans; itself with its own, which it has scored."""
        if spans is self.spans:
            return self
        other = copy(self)
        for name in ("grades", "_best_grades"):
            other.__dict__.pop(name, None)
        other._known, other._known_ideals = {}, {}
        other.spans = spans.for_queries(self.query_ids)
        return other

    @cached_property
    def grades(self) -> ChunkGrades:
        """The grade of every judged chunk for every query; queries are numbered in their order."""
        return project(self.spans, self.chunks, self._projection)

    @cached_property
    def _best_grades(self) -> tuple[Lists, Lists, Lists]:
        """The grades of best rankings: of chunks, of those judged whole, and of what there is to find.

        The last has every evidence, whether or not any chunk stands for it; the others have it once, at the
        best grade of a chunk that stands for it.
        """
        spans, grades = self.spans, self.grades
        owner, there = spans.evidence_grades()

        def falling(best: Ints) -> Lists:
            return sorted_descending(best[best > 0], owner[best > 0], len(self.query_ids))

        def of_chunks(rows: Bools | slice) -> Lists:
            best = np.zeros(spans.n_evidence, dtype=np.int64)
            np.maximum.at(best, grades.evidence[rows], grades.grade[rows])
            return falling(best)

        return of_chunks(slice(None)), of_chunks(~grades.partly), falling(there)

    def score(self, rankings: Sequence[Ranking], measures: Sequence[Measure | str]) -> ScoreTable:
        """Score every query under every measure.

        A query without a ranking scores 0; one that is not answerable or has no relevant text (for a measure
        with ``rel``, no evidence of that grade) has no value: NaN, or 0 if ``unanswerable`` is ``zero``.
        Raises ValueError for an unknown measure, and for a ranking of an unknown query or chunk.
        """
        wanted = tuple(parse_measure(m) if isinstance(m, str) else m for m in measures)
        chunk, offsets = lay_out(rankings, self.query_ids, self.chunks.rows())
        graded, items = _grade(chunk, offsets, self.spans, self.grades, self._best_grades)
        return ScoreTable(
            self.query_ids,
            wanted,
            self._values(wanted, graded, chunk, offsets),
            (graded.n_relevant() > 0) & self._answerable,
            np.isin(self.query_ids, [ranking.query_id for ranking in rankings]),
            items,
        )

    def _values(self, wanted: Sequence[Measure], graded: Graded, chunk: Ints, offsets: Ints) -> Floats:
        """Every measure [Q, M]. Routes of a fusion rank as other settings do: a ranking is scored once."""
        ranked = hashlib.sha256(chunk.tobytes() + offsets.tobytes()).digest()
        missing = [measure for measure in dict.fromkeys(wanted) if (ranked, measure) not in self._known]
        read_as: dict[str, Trail | RankedTokens] = {}
        for measure in missing:
            how = FAMILIES[measure.family].reads
            if how in ("characters", "tokens") and how not in read_as:
                read_as[how] = self._read(chunk, offsets, measure)
        if self._chunk_tokens is not None:
            read_as["lengths"] = RankedTokens(self._chunk_tokens[chunk].astype(np.int64), offsets)
        new = compute(graded, missing, self._unanswerable, read_as, self._answerable)
        self._known |= {(ranked, measure): values for measure, values in zip(missing, new.T, strict=True)}
        columns = [self._known[ranked, measure] for measure in wanted]
        return np.stack(columns, axis=1) if columns else new

    def unread(self, measure: Measure) -> Trail:
        """The relevant text of every query with nothing read of it, in the unit of a measure."""
        nothing = np.zeros(0, dtype=np.int64)
        offsets = np.zeros(len(self.queries) + 1, dtype=np.int64)
        return self._read(nothing, offsets, measure)

    def _read(self, chunk: Ints, offsets: Ints, measure: Measure) -> Trail:
        ideals = self._known_ideals.setdefault(FAMILIES[measure.family].reads, {})
        return read(chunk, offsets, self.spans, self.chunks, self.unit_of(measure), ideals)

    def unit_of(self, measure: Measure) -> Unit:
        """What a measure counts text in; raises ValueError for tokens without a tokenizer."""
        if FAMILIES[measure.family].reads != "tokens":
            return Characters()
        if self._tokens is None:
            raise ValueError(f"{measure} counts tokens, and no tokenizer is given (token_boundaries)")
        return self._tokens


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
    text, whatever is on its topic. Raises HarnessError where a measure gives anything but a number a query.
    """
    values = np.empty((graded.n_queries, len(measures)))
    for column, measure in enumerate(measures):
        family = FAMILIES[measure.family]
        params = arguments(measure, family)
        data = graded if family.reads == "ranks" else (read_as or {}).get(family.reads)
        if data is None:
            raise ValueError(f"{measure} reads the text of chunks, and here are only graded ranks")
        result = np.asarray(family.compute(data, measure.cutoff, **params))
        if result.shape != (graded.n_queries,) or result.dtype.kind not in "biuf" or np.isinf(result).any():
            raise HarnessError(
                f"{measure} did not give each of the {graded.n_queries} queries a finite number or NaN. Mend "
                "the package that adds it."
            )
        if family.needs_relevant:
            undefined = graded.n_relevant(params.get("rel", 1)) == 0
            if family.unjudged_counts and unanswerable == "zero":
                undefined[:] = False
            if answerable is not None:
                undefined = undefined | ~answerable
            result = np.where(undefined, np.nan if unanswerable == "nan" else 0.0, result)
        values[:, column] = result
    return values


@dataclass(frozen=True, slots=True)
class RankedItems:
    """Every ranked chunk of every query, in the order of queries and ranks.

    ``query`` [N] indexes the queries scored, ``rank`` is 1-based, ``chunk`` a row of the chunk table,
    ``grade`` the chunk's grade or -1 if it is unjudged, ``earned`` what the item adds at its rank: its
    grade, or 0 if it is unjudged or its evidence was earned above it.
    """

    query: Ints
    rank: Ints
    chunk: Ints
    grade: Ints
    earned: Ints


def lay_out(
    rankings: Sequence[Ranking], query_ids: Sequence[str], chunk_rows: Mapping[str, int]
) -> tuple[Ints, Ints]:
    """The chunk rows of all rankings in the order of ``query_ids``, end to end, and their offsets.

    A query with no ranking gets an empty list. Raises ValueError for a ranking of an unknown query or chunk,
    and for a query ranked twice.
    """
    by_query = {ranking.query_id: ranking for ranking in rankings}
    if len(by_query) != len(rankings):
        raise ValueError(f"query {repeated([r.query_id for r in rankings])} has more than one ranking")
    unknown = by_query.keys() - set(query_ids)
    if unknown:
        raise ValueError(
            f"{len(unknown)} rankings are of queries that are not scored, such as {min(unknown)}"
        )
    lists = [by_query[name].chunk_ids if name in by_query else () for name in query_ids]
    offsets = offsets_of(np.array([len(ids) for ids in lists], dtype=np.int64))
    try:
        rows = [chunk_rows[chunk_id] for ids in lists for chunk_id in ids]
    except KeyError as missing:
        raise ValueError(
            f"a ranking holds the chunk {missing.args[0]}, which is not among the chunks"
        ) from None
    return np.array(rows, dtype=np.int64), offsets


def _grade(
    chunk: Ints, offsets: Ints, spans: SpanQrels, grades: ChunkGrades, ideals: tuple[Lists, Lists, Lists]
) -> tuple[Graded, RankedItems]:
    """Join the ranked chunks with their grades."""
    query = owners(offsets)
    row = grades.rows_of(query, chunk)
    judged = row >= 0
    grade, earned = np.full(len(chunk), UNJUDGED, dtype=np.int64), np.zeros(len(chunk), dtype=np.int64)
    grade[judged] = grades.grade[row[judged]]
    # the first of each evidence earns; an item of grade 0 shows nothing and uses nothing up
    relevant = np.flatnonzero(grade > 0)
    first = relevant[np.unique(grades.evidence[row[relevant]], return_index=True)[1]]
    earned[first] = grade[first]
    not_whole = ~judged
    not_whole[judged] = grades.partly[row[judged]]
    hits = _hits(positions(offsets), row, spans, grades)
    graded = Graded(offsets, judged, not_whole, earned, *ideals, hits)
    return graded, RankedItems(query, positions(offsets) + 1, chunk, grade, earned)


def _hits(position: Ints, row: Ints, spans: SpanQrels, grades: ChunkGrades) -> Hits:
    """Every (ranked item, span it covers)."""
    judged = np.flatnonzero(row >= 0)
    counts = np.diff(grades.cover_offsets)[row[judged]]
    span = grades.cover_span[slices(grades.cover_offsets[row[judged]], counts)]
    owner = spans.evidence_grades()[0]
    return Hits(np.repeat(position[judged], counts), spans.evidence[span], spans.grade[span], owner)
