"""The common pool: every (query, span) that some setting has ranked high, each once."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

from harness.judge.config import PoolConfig
from harness.judge.pair_grades import Pair
from harness.values import Chunk, Document, JudgeError, Query, Ranking, by_key, merge, passage_spans

Rankings = Mapping[str, Ranking]
# doc id, start, end
Span = tuple[str, int, int]
# the ranges that are shown before spans
Before = Mapping[Span, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Pairs(Sequence[Pair]):
    """The pairs of a pool as numbers: 16 bytes each; texts are cut from the documents when asked for.

    ``columns`` are the index of the query, the index of the document, start and end, one entry per pair.
    ``before`` has what a chunk shows before it, by document, start and end, for chunks that do.
    """

    queries: Sequence[Query]
    documents: Sequence[Document]
    columns: tuple[array[int], array[int], array[int], array[int]]
    before: Before = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, number: Any) -> Any:
        query, document, start, end = (column[number] for column in self.columns)
        of = self.documents[document]
        shown = self.before.get((of.doc_id, start, end), ())
        return Pair(self.queries[query], Chunk.of(of, start, end, shown), number)


@dataclass(frozen=True, slots=True)
class Pool:
    """The pairs to judge, and for each setting the numbers of those that it uses."""

    pairs: Pairs
    by_setting: Mapping[str, array[int]]


def pool_of(
    queries: Sequence[Query],
    settings: Mapping[str, Sequence[Rankings]],
    chunks: Mapping[str, Chunk],
    documents: Sequence[Document],
    config: PoolConfig,
) -> Pool:
    """Pool the rankings of all settings, query by query (Sparck Jones, van Rijsbergen 1975).

    ``settings`` maps a setting's name to its rankings by query id, one mapping for each of its stages;
    ``chunks`` every ranked chunk id to its chunk. Chunks come in the order of their best rank, so that a list
    prompt sees them as a ranking would show them; passages come in the order of the text. A row of a table
    that is judged as a chunk is shown with its heading, and the grade is that of the row; where settings show
    it under different headings, it is judged once, under all of them. Raises JudgeError for a ranking whose
    chunk is not in ``chunks``.
    """
    columns = (array("i"), array("i"), array("i"), array("i"))
    used = {name: array("i") for name in settings}
    place = {document.doc_id: number for number, document in enumerate(documents)}
    before = _shown_before(chunks.values())
    units = _units(documents, config, before)
    for at, query in enumerate(queries):
        ranked = {name: _retrieved(name, query, of, chunks, config.depth) for name, of in settings.items()}
        pair_of: dict[Span, int] = {}
        for span in units(_best_first(chain(*ranked.values()))):
            pair_of[span] = len(columns[0])
            for column, value in zip(columns, (at, place[span[0]], span[1], span[2]), strict=True):
                column.append(value)
        for name, ranked_spans in ranked.items():
            used[name].extend(pair_of[span] for span in units(_best_first(ranked_spans)))
    return Pool(Pairs(queries, documents, columns, before if config.unit == "chunk" else {}), used)


def _units(
    documents: Sequence[Document], config: PoolConfig, before: Before
) -> Callable[[Iterable[Span]], Iterable[Span]]:
    """Turns retrieved spans into those that are judged, each once: themselves, or the passages they touch."""
    texts = {document.doc_id: document.text for document in documents}

    @cache
    def passages(doc_id: str) -> tuple[array[int], array[int]]:
        spans = passage_spans(texts[doc_id], config.passage_chars)
        return array("i", (start for start, _ in spans)), array("i", (end for _, end in spans))

    def touched(doc_id: str, start: int, end: int) -> Iterator[Span]:
        """The passages that share a character that is not blank with a range."""
        starts, ends = passages(doc_id)
        for number in range(bisect_right(ends, start), bisect_left(starts, end)):
            first, last = starts[number], ends[number]
            if texts[doc_id][max(start, first) : min(end, last)].strip():
                yield doc_id, first, last

    def units(retrieved: Iterable[Span]) -> Iterable[Span]:
        if config.unit == "chunk":
            return retrieved
        shown = ((span[0], part) for span in retrieved for part in (*before.get(span, ()), span[1:]))
        return sorted({passage for doc_id, part in shown for passage in touched(doc_id, *part)})

    return units


def _shown_before(chunks: Iterable[Chunk]) -> Before:
    """The ranges that chunks show before each span, where any shows some; all of it where they differ."""
    shown = by_key(
        ((chunk.doc_id, chunk.start, chunk.end), part) for chunk in chunks for part in chunk.before
    )
    return {span: tuple(merge(parts)) for span, parts in shown.items()}


def _best_first(ranked: Iterable[tuple[Span, int]]) -> list[Span]:
    """The spans, each once, by their best rank, then as they come."""
    best: dict[Span, int] = {}
    for span, rank in ranked:
        best[span] = min(rank, best.get(span, rank))
    return sorted(best, key=best.__getitem__)


def _retrieved(
    name: str, query: Query, stages: Iterable[Rankings], chunks: Mapping[str, Chunk], depth: int
) -> list[tuple[Span, int]]:
    """The spans that some stage of a setting ranks within ``depth``, with their ranks, from 0."""
    spans = []
    for rankings in stages:
        ranking = rankings.get(query.query_id)
        for rank, chunk_id in enumerate(ranking.chunk_ids[:depth] if ranking else ()):
            chunk = chunks.get(chunk_id)
            if chunk is None:
                raise JudgeError(f"{name} ranks chunk {chunk_id} for query {query.query_id}; there is none.")
            if chunk.text.strip():
                spans.append(((chunk.doc_id, chunk.start, chunk.end), rank))
    return spans
