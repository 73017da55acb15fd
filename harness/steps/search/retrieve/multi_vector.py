"""Late interaction as the first stage: every token of a query against every token of every chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from harness.models import TokenConfig, unpack
from harness.steps.search.dense import Floats
from harness.steps.search.depth import Doubles, Ints
from harness.steps.search.retrieve.paired import PairedConfig, PairedRetriever

# numbers held in memory: of a block of chunks, of its similarities, of the scores of a block of queries
_BLOCK = 16_000_000
_CELLS = 16_000_000
_SCORES = 16_000_000
# A text without tokens matches nothing; similarities end at -1.
_NOTHING = -1.0


class MultiVectorConfig(PairedConfig):
    """Late interaction over all token vectors of all chunks (ColBERT's MaxSim), searched in full."""

    encoder = TokenConfig
    kind: Literal["multi_vector"] = "multi_vector"
    model: str = Field(
        "embedded:maxsim",
        description="`embedded:maxsim` (needs no network), or a hub id or local folder: a ColBERT model of "
        "sentence-transformers, PyLate or Stanford with its projection, or a bi-encoder, whose token "
        "embeddings are compared without a projection.",
    )


class MultiVectorRetriever(PairedRetriever[MultiVectorConfig]):
    """Khattab and Zaharia, ColBERT, SIGIR 2020, without its candidate generation: nothing is approximated.

    The score is the mean over the query's tokens of the highest dot product with a token of the chunk. Token
    vectors lie in the cache in half precision and are read a block of chunks at a time, so that memory grows
    neither with the chunks nor with the queries. Every chunk is a hit.
    """

    exact_share = 1.0

    def stored(self, values: Iterable[bytes]) -> Iterable[bytes]:
        """The token vectors as they lie in the cache."""
        return values

    def question(self, value: bytes) -> Floats:
        """Its token vectors [tokens, d]."""
        return unpack(value)

    def hits(
        self, query_vectors: Sequence[Floats], stored: Iterable[bytes], count: int
    ) -> Iterator[tuple[Ints, Doubles]]:
        """All chunks with their scores; they are read once for a block of queries."""
        rows = np.arange(count)
        step = max(1, _SCORES // count)
        for begin in range(0, len(query_vectors), step):
            scores = max_sims(query_vectors[begin : begin + step], map(unpack, stored), count)
            yield from ((rows, query_scores) for query_scores in scores)


def max_sims(queries: Sequence[Floats], chunks: Iterable[Floats], count: int) -> Doubles:
    """The score of every query with each of ``count`` chunks [queries, chunks]; -1 if one has no tokens.

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
    """Chunks in groups of a bounded number of values; at least one chunk each."""
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
