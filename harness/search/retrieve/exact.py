"""The true nearest neighbours by a full scan: the reference for every approximate index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from harness.search.dense import DenseConfig, DenseRetriever
from harness.search.retrieve.ranked import ranked
from harness.search.retrieve.scan import Floats, Nearest, exact_share, scan, similarities
from harness.search.step import Found, Identity, Passages
from harness.search.tools import Tools
from harness.types import Query, Ranking

# Raised when the same vectors are ranked otherwise than before.
_VERSION = 1


class ExactConfig(DenseConfig):
    """A full scan of all vectors: no index, nothing approximated."""

    kind: Literal["exact"] = "exact"


class ExactRetriever(DenseRetriever[ExactConfig]):
    """Scores all chunks a block of queries at a time, so that memory does not grow with the queries.

    What reaches the cut within the error of single precision is scored anew in double precision, so that
    neither the blocks nor the threads of the library decide an order.
    """

    def store_facts(self) -> Identity:
        """The version of the scan."""
        return [_VERSION]

    def nearest(
        self,
        queries: Sequence[Query],
        asked: Floats,
        passages: Passages,
        vectors: Floats,
        tools: Tools,
    ) -> Found:
        """The nearest chunks, equal scores in the order of the chunks."""
        nearest, rankings = self._search(queries, asked, passages, vectors)
        return Found(rankings, exact_share(rankings, nearest))

    @contextmanager
    def opened(
        self, passages: Passages, vectors: Floats, tools: Tools
    ) -> Iterator[Callable[[Query, Floats], Ranking]]:
        """The same scan, the lengths of the vectors known beforehand."""
        norms = np.linalg.norm(vectors, axis=1)
        yield lambda query, asked: self._search([query], asked, passages, vectors, norms)[1][0]

    def _search(
        self,
        queries: Sequence[Query],
        asked: Floats,
        passages: Passages,
        vectors: Floats,
        norms: Floats | None = None,
    ) -> tuple[list[Nearest], list[Ranking]]:
        distance = self.config.distance
        nearest = list(scan(asked, vectors, distance, self.depth(passages), norms))
        return nearest, [
            ranked(
                query.query_id,
                true.rows,
                similarities(vector, vectors[true.rows], distance),
                true.k,
                passages.ids,
            )
            for query, vector, true in zip(queries, asked, nearest, strict=True)
        ]
