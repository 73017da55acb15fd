"""Dense and sparse in one vector: a dot product that is weight × BM25 + similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from harness.steps.search.dense import DenseConfig, DenseRetriever, Floats
from harness.steps.search.depth import Doubles, SearchDepth, ranked
from harness.steps.search.needs import Built, TermsOf
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve import lexical
from harness.steps.search.step import Identity, RetrievalResult
from harness.steps.search.tools import VectorRows
from harness.values import Query, Run

# Raised when the same vectors are ranked differently.
_VERSION = 1


class ConcatenatedConfig(lexical.TermsConfig, DenseConfig):
    """BM25 and a bi-encoder in one vector, as stores for hybrid search hold them; searched in full."""

    kind: Literal["concatenated"] = "concatenated"
    distance: Literal["cosine", "ip"] = Field(
        "cosine", description="The dense part: cosine, or inner product."
    )
    weight: float = Field(
        0.05,
        ge=0,
        description="The weight of BM25; cosine goes up to 1 and BM25 to about 20. Tune it on train.",
    )
    method: lexical.Method = Field("lucene", description="BM25's formula, as for `bm25`.")
    average_length: float | None = Field(
        None,
        gt=0,
        description="BM25: terms of an average chunk. Empty: computed from these chunks. If set, the "
        "vectors of chunks stay the same when chunks are added.",
    )


class ConcatenatedRetriever(DenseRetriever[ConcatenatedConfig]):
    """The dot product of [weight × IDF, dense query] with [saturated term frequencies, dense chunk].

    It is the sum of both parts, which are computed apart. The stored vector of a chunk depends on no other
    chunk but by the average length, as the IDF is in the query. Every chunk has a similarity, so every chunk
    is a hit. A query without terms is ranked by its dense part.
    """

    def store_facts(self) -> Identity:
        """The parameters of BM25, and the weight."""
        c = self.config
        bm25 = [c.k1, c.b, c.method, c.average_length, lexical.Terms(c).identity]
        return [_VERSION, c.weight, bm25]

    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], query_vectors: Floats
    ) -> Run[RetrievalResult]:
        """The search of all chunks by their dot products, what is stored made beforehand."""
        c = self.config
        terms = yield Built(lambda: lexical.Terms(c), ("terms", passages.key))
        term_ids = yield TermsOf(terms, passages)
        postings, stored = yield Built(lambda: self._stored(term_ids, vectors), ("stored", passages.key))
        rows, depth = np.arange(len(passages.ids)), SearchDepth.of(c, passages.lengths)
        rankings = []
        for query, dense in zip(queries, self._scaled(query_vectors), strict=True):
            sparse = Counter(terms.of_query(query.text, term_ids.vocabulary))
            scores = c.weight * postings.scores(sparse, rows) + stored @ dense
            rankings.append(ranked(query.query_id, rows, scores, depth, passages.ids))
        return RetrievalResult(rankings, 1.0)

    def _stored(self, term_ids: lexical.TermIds, vectors: VectorRows) -> tuple[lexical.Postings, Doubles]:
        """The sparse part and the dense part of what is searched."""
        c = self.config
        average = c.average_length or float(term_ids.lengths.mean()) or 1.0
        postings = lexical.Postings.of(term_ids, lexical.Saturation(c.method, c.k1, c.b, average))
        return postings, self._scaled(np.asarray(vectors))

    def _scaled(self, vectors: Floats) -> Doubles:
        """Vectors whose inner products are the similarities asked for."""
        rows = vectors.astype(np.float64)
        if self.config.distance == "cosine":
            rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-30)
        return rows
