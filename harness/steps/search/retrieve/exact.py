"""The true nearest neighbours by a full scan: the reference for every approximate index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from harness.steps.search.dense import DenseConfig, DenseRetriever, Floats
from harness.steps.search.depth import SearchDepth, ranked
from harness.steps.search.needs import Built, Cluster
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.scan import exact_share, scan, similarities
from harness.steps.search.step import Identity, RetrievalResult
from harness.steps.search.tools import VectorRows
from harness.values import Query, Ranking, Run

# Raised when the same vectors are ranked differently.
_VERSION = 1
# vectors read at once to be scored again
_ROWS = 10_000


class ExactConfig(DenseConfig):
    """A full scan of all vectors: no index, nothing approximated."""

    kind: Literal["exact"] = "exact"


class ExactRetriever(DenseRetriever[ExactConfig]):
    """Scores all queries against a block of chunks at a time, so that memory does not grow with the chunks.

    What reaches the cut within the error of single precision is scored again in double precision, so that
    neither the blocks nor the threads of the library decide an order.
    """

    def store_facts(self) -> Identity:
        """The version of the scan."""
        return [_VERSION]

    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], query_vectors: Floats
    ) -> Run[RetrievalResult]:
        """The scan; where the vectors are in memory, their lengths are known beforehand."""
        distance, depth = self.config.distance, SearchDepth.of(self.config, passages.lengths)
        spread = yield Cluster()
        norms = yield Built(lambda: _norms(vectors), ("norms", passages.key))
        nearest = scan(query_vectors, vectors, distance, depth, norms, spread)
        rankings: list[Ranking] = []
        step = max(1, _ROWS // max(1, *(len(true.rows) for true in nearest)))
        for begin in range(0, len(queries), step):
            part = slice(begin, begin + step)
            rows = np.unique(np.concatenate([true.rows for true in nearest[part]]))
            block = np.asarray(vectors[rows])
            for query, vector, true in zip(queries[part], query_vectors[part], nearest[part], strict=True):
                scores = similarities(vector, block[np.searchsorted(rows, true.rows)], distance)
                rankings.append(ranked(query.query_id, true.rows, scores, depth, passages.ids))
        return RetrievalResult(rankings, exact_share(rankings, nearest))


def _norms(vectors: VectorRows) -> Floats | None:
    return np.linalg.norm(vectors, axis=1) if isinstance(vectors, np.ndarray) else None
