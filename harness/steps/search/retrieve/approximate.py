"""Shared by approximate vector indexes: the vectors that go in, and the recall."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from harness.steps.search.dense import Dense, DenseRetriever, Floats, Search
from harness.steps.search.depth import Doubles, Ints, SearchDepth, ranked
from harness.steps.search.retrieve.scan import Nearest, exact_share, found_share, scan
from harness.steps.search.step import Identity, Passages, RetrievalResult
from harness.steps.search.tools import Tools, VectorRows
from harness.values import Query, by_key

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

    def expand(self, found: Ints, scores: Doubles) -> Hits:
        """All rows of the distinct vectors ``found``, each with its vector's score."""
        groups = [self.members[i] for i in found]
        return (
            np.concatenate(groups) if groups else found,
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
    def index(self, key: str, vectors: Floats, tools: Tools) -> AbstractContextManager[Any]:
        """The open index of distinct vectors [D, d] with this key, built where there is none."""

    @abstractmethod
    def hits(self, index: Any, asked: Floats, wanted: int) -> Iterable[Hits]:
        """The hits of the index for each row of ``asked`` [Q, d]: ``wanted`` distinct vectors."""

    def search(
        self, index: Any, asked: Floats, wanted: int, distinct: DistinctVectors, nearest: Sequence[Nearest]
    ) -> list[Hits]:
        """The hits of every query, as rows of passages; ``nearest`` are the true ones."""
        return [distinct.expand(*found) for found in self.hits(index, asked, wanted)]

    def scaled(self, vectors: Floats) -> Floats:
        """The vectors as the index holds them."""
        return vectors

    @contextmanager
    def opened(
        self, passages: Passages, vectors: VectorRows, tools: Tools, *, checked: bool = True
    ) -> Iterator[Search]:
        """A search of the index; without the check, one as in a deployment."""
        c = self.config
        depth = SearchDepth.of(c, passages.lengths)
        known: Floats = np.asarray(vectors)
        stored = self.scaled(known)
        distinct = DistinctVectors.of(stored)
        fingerprint = tools.fingerprint(c.embed)
        key = tools.key(passages.key, fingerprint, c.passage_prefix, *self.built_by())

        def search(queries: Sequence[Query], asked: Floats) -> RetrievalResult:
            nearest = scan(asked, known, c.distance, depth) if checked else []
            depths = [true.k for true in nearest] or [depth.usual] * len(queries)
            wanted = min(max(depths) + (MARGIN if checked else 0), len(distinct.first))
            hits = self.search(index, asked, wanted, distinct, nearest)
            rankings = [
                ranked(query.query_id, *found, SearchDepth(k, None, depth.lengths), passages.ids)
                for query, found, k in zip(queries, hits, depths, strict=True)
            ]
            if not checked:
                return RetrievalResult(rankings)
            if self.estimates:
                return RetrievalResult(rankings, found_share(rankings, passages.ids, nearest))
            return RetrievalResult(rankings, exact_share(rankings, nearest))

        with self.index(key, stored[distinct.first], tools) as index:
            yield search
