"""Rankings of a setting: embed, retrieve, rerank, each only where the cache has no answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.config import Setting
from harness.kinds import StageConfig
from harness.models.encoder import SentenceEncoder
from harness.pipeline.chunks import Chunking
from harness.pipeline.compute import compute_new, digest, is_computed
from harness.pipeline.context import Context
from harness.search.rerank import rerank
from harness.search.retrieve import ChromaRetriever
from harness.store import key_of
from harness.types import Query, Ranking

RETRIEVE = "retrieve"
RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Searched:
    """The rankings of one setting by stage, and what was noted on the way."""

    setting: Setting
    chunking: Chunking
    rankings: dict[str, list[Ranking]]
    notes: dict[str, Any]


def search(setting: Setting, chunking: Chunking, queries: Sequence[Query], context: Context) -> Searched:
    """Rank all chunks for all queries, before and after the reranker."""
    retrieved, notes = _retrieve(setting, chunking, queries, context)
    rankings = {RETRIEVE: retrieved}
    if setting.rerank is not None:
        with context.timed(RERANK):
            rankings[RERANK] = _rerank(setting.rerank, retrieved, chunking, queries, context)
    return Searched(setting, chunking, rankings, notes)


def is_searched(setting: Setting, chunking: Chunking, queries: Sequence[Query], context: Context) -> bool:
    """Whether ``search`` would find everything in the cache and compute nothing."""
    _, ranking_key = _keys(setting, chunking, queries, context.encoder(setting.embed))
    stored = context.artifacts.get("ranking", ranking_key)
    if stored is None or setting.rerank is None:
        return stored is not None
    retrieved = [Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]]
    pairs = {digest(*pair) for pair in _pairs(setting.rerank, retrieved, chunking, queries)}
    path = context.cache.scores(context.reranker(setting.rerank).fingerprint.replace(":", "-"))
    return is_computed("pairs", pairs, path, context) == pairs


def _retrieve(
    setting: Setting, chunking: Chunking, queries: Sequence[Query], context: Context
) -> tuple[list[Ranking], dict[str, Any]]:
    encoder = context.encoder(setting.embed)
    index_key, ranking_key = _keys(setting, chunking, queries, encoder)
    stored = context.artifacts.get("ranking", ranking_key)
    if stored is None:
        with context.timed("embed"):
            embed = setting.embed
            passages = vectors([embed.passage_prefix + c.text for c in chunking.chunks], encoder, context)
            asked = vectors([embed.query_prefix + query.text for query in queries], encoder, context)
        retriever = ChromaRetriever(setting.retrieve)  # type: ignore[arg-type]
        with context.timed(RETRIEVE):
            ids = [chunk.chunk_id for chunk in chunking.chunks]
            slot = context.collections.slot
            found = retriever.retrieve(
                queries, asked, ids, passages, index_key, slot, [len(c.text) for c in chunking.chunks]
            )
        stored = {
            "rankings": [[r.query_id, r.chunk_ids, r.scores] for r in found.rankings],
            "exact_share": found.exact_share,
        }
        context.artifacts.put("ranking", ranking_key, stored)
    rows = [Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]]
    return rows, {"exact_share": stored["exact_share"]}


def _keys(
    setting: Setting, chunking: Chunking, queries: Sequence[Query], encoder: SentenceEncoder
) -> tuple[str, str]:
    """The keys of the index and of the rankings: all that decides their content."""
    retriever = ChromaRetriever(setting.retrieve)  # type: ignore[arg-type]
    index = key_of(
        chunking.key,
        encoder.fingerprint,
        setting.embed.passage_prefix,
        retriever.index_settings,
        version("chromadb"),
    )
    asked = [[query.query_id, query.text] for query in queries]
    retrieve = setting.retrieve.model_dump(mode="json")
    return index, key_of(index, asked, setting.embed.query_prefix, retrieve)


def vectors(texts: Sequence[str], encoder: SentenceEncoder, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    rows = compute_new(
        "vectors",
        [digest(text) for text in texts],
        context.cache.vectors(encoder.fingerprint),
        batches=lambda indices: encoder.batches([texts[i] for i in indices]),
        run=lambda batch: encoder.embed([texts[i] for i in batch]),
        context=context,
    )
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _rerank(
    config: StageConfig,
    retrieved: Sequence[Ranking],
    chunking: Chunking,
    queries: Sequence[Query],
    context: Context,
) -> list[Ranking]:
    scorer = context.reranker(config)
    top_n = scored_depth(config)
    pairs = _pairs(config, retrieved, chunking, queries)
    scores = [float(value[0]) for value in pair_scores(pairs, scorer, context)]
    reranked = []
    start = 0
    for ranking in retrieved:
        end = start + len(ranking.chunk_ids[:top_n])
        reranked.append(rerank(ranking, scores[start:end]))
        start = end
    return reranked


def _pairs(
    config: StageConfig, retrieved: Sequence[Ranking], chunking: Chunking, queries: Sequence[Query]
) -> list[tuple[str, str]]:
    """The (query, passage) texts that the reranker reads."""
    top_n = scored_depth(config)
    text = {chunk.chunk_id: chunk.text for chunk in chunking.chunks}
    asked = {query.query_id: query.text for query in queries}
    return [(asked[r.query_id], text[chunk_id]) for r in retrieved for chunk_id in r.chunk_ids[:top_n]]


def scored_depth(config: StageConfig) -> int | None:
    """How many chunks of each ranking a reranker scores; None: all."""
    top_n: int | None = getattr(config, "top_n")  # noqa: B009 - every reranker's config has it
    return top_n


def ranks_retrieved(setting: Setting) -> int | None:
    """How many ranks a setting retrieves; None where that depends on the lengths of the chunks."""
    config = setting.retrieve
    top_k: int | None = getattr(config, "top_k", None)
    return None if getattr(config, "top_chars", None) is not None else top_k


def estimated_ranks(setting: Setting, chunking: Chunking) -> int | None:
    """As ``ranks_retrieved``; where a length of text is retrieved, the mean length of the chunks decides."""
    top_chars: int | None = getattr(setting.retrieve, "top_chars", None)
    if top_chars is None:
        return ranks_retrieved(setting)
    length = sum(len(chunk.text) for chunk in chunking.chunks) / max(1, len(chunking.chunks))
    return math.ceil(top_chars / max(1.0, length))


def pair_scores(pairs: Sequence[tuple[str, str]], scorer: Any, context: Context) -> list[NDArray[np.float32]]:
    """The score of every (query, passage) pair, float32 [1] each; equal pairs are scored once."""
    return compute_new(
        "pairs",
        [digest(query, passage) for query, passage in pairs],
        context.cache.scores(scorer.fingerprint.replace(":", "-")),
        batches=lambda indices: scorer.batches([pairs[i] for i in indices]),
        run=lambda batch: scorer.score([pairs[i] for i in batch])[:, None],
        context=context,
    )
