"""Score rankings of chunks against graded spans, all queries at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.measures.chunks import ChunkTable
from harness.measures.graded import Graded
from harness.measures.grading import RankedItems, grade_rankings, lay_out
from harness.measures.measure import Measure, arguments
from harness.measures.projection import Projection, project
from harness.measures.qrels import SpanQrels
from harness.measures.ragged import AnyArray, Bools, Floats
from harness.measures.table import FAMILIES, parse_measure
from harness.measures.tokens_read import RankedTokens
from harness.measures.trail import Trail, read
from harness.measures.units import Characters, TokenBoundaries, Tokens, Unit
from harness.types import Chunk, Judgment, Query, Ranking

Unanswerable = Literal["nan", "zero"]


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
