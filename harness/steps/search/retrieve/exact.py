"""The true nearest neighbours by a full scan: the reference for every approximate index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from harness.steps.search.dense import DenseConfig, DenseRetriever, Floats, Search
from harness.steps.search.depth import SearchDepth, ranked
from harness.steps.search.retrieve.scan import exact_share, scan, similarities
from harness.steps.search.step import Identity, Passages, RetrievalResult
from harness.steps.search.tools import Tools
from harness.values import Query

# Raised when the same vectors are ranked differently.
_VERSION = 1


class ExactConfig(DenseConfig):
    """A full scan of all vectors: no index, nothing approximated."""

    kind: Literal["exact"] = "exact"


class ExactRetriever(DenseRetriever[ExactConfig]):
    """Scores all chunks a block of queries at a time, so that memory does not grow with the queries.

    What reaches the cut within the error of single precision is scored again in double precision, so that
    neither the blocks nor the threads of the library decide an order.
    """

    def store_facts(self) -> Identity:
        """The version of the scan."""
        return [_VERSION]

    @contextmanager
    def opened(
        self, passages: Passages, vectors: Floats, tools: Tools, *, checked: bool = True
    ) -> Iterator[Search]:
        """The scan, the lengths of the vectors known beforehand."""
        distance, depth = self.config.distance, SearchDepth.of(self.config, passages)
        norms: Floats = np.linalg.norm(vectors, axis=1)

        def search(queries: Sequence[Query], asked: Floats) -> RetrievalResult:
            nearest = list(scan(asked, vectors, distance, depth, norms))
            scores = [
                similarities(one, vectors[true.rows], distance)
                for one, true in zip(asked, nearest, strict=True)
            ]
            rankings = [
                ranked(query.query_id, true.rows, own, true.k, passages.ids)
                for query, true, own in zip(queries, nearest, scores, strict=True)
            ]
            return RetrievalResult(rankings, exact_share(rankings, nearest))

        yield search
