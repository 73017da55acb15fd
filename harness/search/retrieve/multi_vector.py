"""Late interaction as the first stage: every token of a query against every token of every chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np
from pydantic import Field

from harness.models.computing import ComputingConfig
from harness.models.token_encoder import TokenConfig, unpack
from harness.search.depth import Depth
from harness.search.retrieve.paired import PairedConfig, PairedRetriever
from harness.search.retrieve.ranked import Doubles, Ints, ranked_to
from harness.search.retrieve.scan import Floats
from harness.search.step import Found, Passages, SearchOne
from harness.search.tools import Tools
from harness.types import Query, Ranking

# numbers held at once: of a block of chunks, of its similarities, of the scores of a block of queries
_BLOCK = 16_000_000
_CELLS = 16_000_000
_SCORES = 16_000_000
# A text without tokens matches nothing; similarities end at -1.
_NOTHING = -1.0


class MultiVectorConfig(PairedConfig):
    """Late interaction over all token vectors of all chunks (ColBERT's MaxSim), searched in full."""

    kind: Literal["multi_vector"] = "multi_vector"
    model: str = Field(
        "embedded:maxsim",
        description="`embedded:maxsim` (needs no network), or a hub id or local folder: a ColBERT model of "
        "sentence-transformers, PyLate or Stanford with its projection, or a bi-encoder, whose token "
        "embeddings are compared without a projection.",
    )

    @property
    def embed(self) -> TokenConfig:
        """The encoder of passages."""
        return TokenConfig(
            model=self.model,
            role="passage",
            **{name: getattr(self, name) for name in ComputingConfig.model_fields},
        )


class MultiVectorRetriever(PairedRetriever[MultiVectorConfig]):
    """Khattab and Zaharia, ColBERT, SIGIR 2020, without its candidate generation: nothing is approximated.

    The score is the mean over the query's tokens of the highest dot product with a token of the chunk. Token
    vectors lie in the cache in half precision and are read a block of chunks at a time, so that memory grows
    neither with the chunks nor with the queries. Every chunk is a hit.
    """

    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> Found:
        """Rank all chunks, equal scores in the order of the chunks."""
        c = self.config
        if not passages.ids or not queries:
            return Found([Ranking(query.query_id, (), ()) for query in queries])
        with tools.timed("embed"):
            stored = tools.values(passages.texts, c.embed)
            asked = list(map(unpack, tools.values([query.text for query in queries], c.embed_queries)))
        with tools.timed("retrieve"):
            return Found(_search(queries, asked, stored, passages, Depth.of(c, passages)), 1.0)

    @contextmanager
    def warm(self, passages: Passages, tools: Tools) -> Iterator[SearchOne]:
        """The same search, which reads the token vectors of all chunks from the cache for each query."""
        c = self.config
        stored = tools.values(passages.texts, c.embed)
        depth = Depth.of(c, passages)

        def search(query: Query) -> Ranking:
            value = tools.embed(query.text, c.embed_queries)
            asked = unpack(value if isinstance(value, bytes) else value.tobytes())
            return _search([query], [asked], stored, passages, depth)[0]

        yield search


def _search(
    queries: Sequence[Query],
    asked: Sequence[Floats],
    stored: Iterable[bytes],
    passages: Passages,
    depth: Depth,
) -> list[Ranking]:
    """All chunks by their scores for each query; ``stored`` is read once for a block of queries."""
    rankings = []
    rows = np.arange(len(passages.ids))
    step = max(1, _SCORES // len(rows))
    for begin in range(0, len(queries), step):
        scores = max_sims(asked[begin : begin + step], map(unpack, stored), len(rows))
        for query, own in zip(queries[begin : begin + step], scores, strict=True):
            rankings.append(ranked_to(depth, query.query_id, rows, own, passages.ids))
    return rankings


def max_sims(queries: Sequence[Floats], chunks: Iterable[Floats], count: int) -> Doubles:
    """The score of every query with each of ``count`` chunks [queries, chunks]; -1 where one has no tokens.

    Texts are matrices of token vectors [tokens, d]. A block of chunks is held at a time.
    """
    scores = np.full((len(queries), count), _NOTHING)
    at = 0
    for block in _blocks(chunks):
        filled = [i for i, chunk in enumerate(block) if len(chunk)]
        if filled:
            tokens = np.concatenate([block[i] for i in filled])
            starts = np.cumsum([0, *(len(block[i]) for i in filled)])[:-1]
            columns = at + np.array(filled)
            for row, query in enumerate(queries):
                if len(query):
                    scores[row, columns] = _means(query, tokens, starts)
        at += len(block)
    return scores


def _means(query: Floats, tokens: Floats, starts: Ints) -> Doubles:
    """The mean over the query's tokens of the best dot product in each chunk, [chunks]."""
    step = max(1, _CELLS // len(tokens))
    total: Doubles = np.zeros(len(starts))
    for begin in range(0, len(query), step):
        near = query[begin : begin + step] @ tokens.T
        total += np.maximum.reduceat(near, starts, axis=1).sum(axis=0, dtype=np.float64)
    return total / len(query)


def _blocks(chunks: Iterable[Floats]) -> Iterator[list[Floats]]:
    """Chunks in groups that hold so many numbers; at least one each."""
    block: list[Floats] = []
    size = 0
    for chunk in chunks:
        if block and size + chunk.size > _BLOCK:
            yield block
            block, size = [], 0
        block.append(chunk)
        size += chunk.size
    if block:
        yield block
