"""Shared by approximate vector indexes: the vectors that go in, and the recall."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from harness.steps.search.dense import Dense, DenseRetriever, Floats
from harness.steps.search.depth import Doubles, Ints, SearchDepth, ranked
from harness.steps.search.needs import Built, CheckOnly, Fingerprints, Index, PriceOfIndex
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.scan import Nearest, exact_share, found_share, scan
from harness.steps.search.step import Identity, IndexPrice, RetrievalResult
from harness.steps.search.tools import VectorRows
from harness.values import Query, Run, Slot, by_key

Hits = tuple[Ints, Doubles]
"""Rows that an index has found, and their scores."""
# Asked for beyond top_k, so that equal scores at the cut are ordered by us and not by the index.
MARGIN = 16


@dataclass(frozen=True, slots=True)
class DistinctVectors:
    """Equal vectors go into an index once: copies fill a graph's edges until parts are out of reach.

    ``first`` [D] is the first row of each distinct vector; ``members[d]`` are all rows that hold it.
    """

    first: Ints
    members: tuple[Ints, ...]

    @classmethod
    def of(cls, vectors: Floats) -> DistinctVectors:
        """Group the rows [N, d] that are equal bit by bit; groups are in the order of their first rows."""
        groups = by_key((row.tobytes(), i) for i, row in enumerate(np.ascontiguousarray(vectors)))
        members = tuple(np.array(group, dtype=np.int64) for group in groups.values())
        return cls(np.array([group[0] for group in members], dtype=np.int64), members)

    def expand(self, rows: Ints, scores: Doubles) -> Hits:
        """All rows of the distinct vectors ``found``, each with its vector's score."""
        groups = [self.members[i] for i in rows]
        return (
            np.concatenate(groups) if groups else rows,
            np.repeat(scores, [len(group) for group in groups]),
        )


class ApproximateRetriever(DenseRetriever[Dense]):
    """Builds an index once per content, and says by a full scan what share of the nearest it finds.

    ``estimates``: its scores may be estimates, which are not compared with true ones.
    """

    estimates: ClassVar[bool] = False

    @abstractmethod
    def built_by(self) -> Identity:
        """Everything besides the vectors that decides the index."""

    @abstractmethod
    def effort(self) -> Identity:
        """How hard the index is searched."""

    def store_facts(self) -> Identity:
        """The index, and how hard it is searched."""
        return [*self.built_by(), *self.effort()]

    @abstractmethod
    def opened(self, place: Slot, vectors: Floats) -> AbstractContextManager[Any]:
        """The open index of distinct vectors [D, d] at its place on disk, built where there is none."""

    @abstractmethod
    def hits(self, index: Any, query_vectors: Floats, wanted: int) -> Iterable[Hits]:
        """The hits of the index for each row of ``asked`` [Q, d]: ``wanted`` distinct vectors."""

    def found(
        self,
        index: Any,
        query_vectors: Floats,
        wanted: int,
        distinct: DistinctVectors,
        nearest: Sequence[Nearest],
    ) -> list[Hits]:
        """The hits of every query, as rows of passages; ``nearest`` are the true ones."""
        return [distinct.expand(*hit) for hit in self.hits(index, query_vectors, wanted)]

    def scaled(self, vectors: Floats) -> Floats:
        """The vectors as the index holds them."""
        return vectors

    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], query_vectors: Floats
    ) -> Run[RetrievalResult]:
        """A search of the index; without the check, one as in a deployment."""
        c = self.config
        depth = SearchDepth.of(c, passages.lengths)
        built, stored, distinct = yield Built(lambda: self._prepared(vectors), ("vectors", passages.key))
        fingerprint = yield Fingerprints()
        facts = [passages.key, fingerprint(c.embed), c.passage_prefix, *self.built_by()]
        index = yield Index(facts, lambda place: self.opened(place, stored[distinct.first]))
        price: IndexPrice | None = yield PriceOfIndex(facts)
        indexes = () if price is None else (price,)
        nearest: list[Nearest] | None = yield CheckOnly(lambda: scan(query_vectors, built, c.distance, depth))
        checked = nearest is not None
        nearest = nearest or []
        depths = [true.k for true in nearest] or [depth.usual] * len(queries)
        wanted = min(max(depths) + (MARGIN if checked else 0), len(distinct.first))
        hits = self.found(index, query_vectors, wanted, distinct, nearest)
        rankings = [
            ranked(query.query_id, *rows, SearchDepth(k, None, depth.lengths), passages.ids)
            for query, rows, k in zip(queries, hits, depths, strict=True)
        ]
        if not checked:
            return RetrievalResult(rankings)
        if self.estimates:
            share = found_share(rankings, passages.ids, nearest)
        else:
            share = exact_share(rankings, nearest)
        return RetrievalResult(rankings, share, indexes=indexes)

    def _prepared(self, vectors: VectorRows) -> tuple[Floats, Floats, DistinctVectors]:
        """The vectors, as they are and as the index holds them, and which of the latter are distinct."""
        array: Floats = np.asarray(vectors)
        stored = self.scaled(array)
        return array, stored, DistinctVectors.of(stored)
