"""The common pool: every (query, span) that some setting has ranked high, each once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.errors import JudgeError
from harness.judge.config import PoolConfig
from harness.judge.passages import passages_of
from harness.judge.records import Pair
from harness.types import Chunk, Document, Query, Ranking


def pool_pairs(
    queries: Iterable[Query],
    settings: Mapping[str, Mapping[str, Ranking]],
    chunks: Mapping[str, Chunk],
    documents: Mapping[str, Document],
    config: PoolConfig,
) -> Iterator[Pair]:
    """The pairs to judge, query by query: a pool over all settings (Sparck Jones, van Rijsbergen 1975).

    ``settings`` maps a setting's name to its rankings by query id, ``chunks`` every ranked chunk id to its
    chunk, ``documents`` ids to documents. Chunks come in the order of their best rank, so that a list
    prompt sees them as a ranking would show them; passages come in the order of the text. Lazy: nothing is
    held but one query's pool. Raises JudgeError for a ranking whose chunk is not in ``chunks``.
    """
    cut: dict[str, list[Chunk]] = {}
    for query in queries:
        retrieved = _retrieved(query, settings, chunks, config.depth)
        if config.unit == "chunk":
            spans = retrieved
        else:
            spans = _touched(retrieved, documents, config.passage_chars, cut)
        yield from (Pair(query, span) for span in spans)


def pairs_by_setting(
    queries: Sequence[Query],
    settings: Mapping[str, Mapping[str, Ranking]],
    chunks: Mapping[str, Chunk],
    documents: Mapping[str, Document],
    config: PoolConfig,
) -> dict[str, list[tuple[str, str]]]:
    """For each setting the (query id, span id) pairs that it puts into the pool, for ``cost_by_setting``."""
    return {
        name: [
            (pair.query.query_id, pair.passage.chunk_id)
            for pair in pool_pairs(queries, {name: rankings}, chunks, documents, config)
        ]
        for name, rankings in settings.items()
    }


def _retrieved(
    query: Query,
    settings: Mapping[str, Mapping[str, Ranking]],
    chunks: Mapping[str, Chunk],
    depth: int,
) -> list[Chunk]:
    """The chunks that some setting ranks within ``depth``, by best rank, then as the settings come."""
    best: dict[tuple[str, int, int], tuple[int, Chunk]] = {}
    for name, rankings in settings.items():
        ranking = rankings.get(query.query_id)
        for rank, chunk_id in enumerate(ranking.chunk_ids[:depth] if ranking else ()):
            chunk = chunks.get(chunk_id)
            if chunk is None:
                raise JudgeError(
                    f"Setting {name} ranks chunk {chunk_id} for query {query.query_id}; there is none."
                )
            span = (chunk.doc_id, chunk.start, chunk.end)
            if chunk.text.strip() and (span not in best or rank < best[span][0]):
                best[span] = (rank, chunk)
    return [chunk for _, chunk in sorted(best.values(), key=lambda entry: entry[0])]


def _touched(
    retrieved: Iterable[Chunk],
    documents: Mapping[str, Document],
    width: int,
    cut: dict[str, list[Chunk]],
) -> list[Chunk]:
    """The passages that share a character that is not blank with a retrieved chunk."""
    found: dict[str, Chunk] = {}
    for chunk in retrieved:
        if chunk.doc_id not in cut:
            cut[chunk.doc_id] = passages_of(documents[chunk.doc_id], width)
        passages = cut[chunk.doc_id]
        first = bisect_right(passages, chunk.start, key=lambda passage: passage.end)
        last = bisect_left(passages, chunk.end, key=lambda passage: passage.start)
        for passage in passages[first:last]:
            shared = slice(max(chunk.start, passage.start), min(chunk.end, passage.end))
            if documents[chunk.doc_id].text[shared].strip():
                found[passage.chunk_id] = passage
    return sorted(found.values(), key=lambda passage: (passage.doc_id, passage.start))
