"""A collection of Qdrant as it is read: its points, dense and sparse vectors, and searches by both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.steps.search.retrieve.row_filter import qdrant_filter
from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.retrieve.sparse_words import FastEmbedBm25, HarnessBm25
from harness.steps.search.retrieve.stored import Floats, Reads, StoredCollection, StoredRow, StoreFacts
from harness.values import HarnessError

DISTANCES = {"Cosine": "cosine", "Euclid": "l2", "Dot": "ip"}
_PAGE = 1000
_READING = ("query_points", "query_batch_points", "scroll", "count", "get_collection", "collection_exists")


@dataclass(frozen=True, slots=True)
class StoredWords:
    """The sparse vector that is searched, '' for the only one there is, and how a hybrid search is fused.

    ``bm25`` makes sparse vectors of queries, None where a model does. ``alone``: nothing else is searched.
    """

    name: str
    bm25: FastEmbedBm25 | HarnessBm25 | None
    fusion: str = "rrf"
    alone: bool = False


class QdrantCollection(StoredCollection):
    """A collection of Qdrant by a client of which only what reads is kept."""

    words = True

    def __init__(
        self,
        client: Any,
        name: str,
        vector: str = "",
        effort: int | None = None,
        only: Mapping[str, Any] | None = None,
        words: StoredWords | None = None,
    ) -> None:
        self.client, self._name = Reads(client, _READING), name
        self._vector, self._effort, self._only, self._words = vector, effort, only, words
        self.sparse = words is not None

    def passing(self) -> int:
        """Counted by the server, exactly."""
        return int(self.client.count(self._name, count_filter=qdrant_filter(self._only)).count)

    def facts(self) -> StoreFacts:
        """Of the vector that is searched; says how many rows have no index yet."""
        if not self.client.collection_exists(self._name):
            raise HarnessError(f"Qdrant has no collection {self._name!r}. Correct retrieve.collection.")
        info = self.client.get_collection(self._name)
        rows = self.client.count(self._name).count
        notes, indexed = self._notes_of_words(info), info.indexed_vectors_count
        if self._words is not None and self._words.alone:
            return StoreFacts(rows, index=f"sparse vector {self._sparse_name(info)}", notes=tuple(notes))
        params = info.config.params.vectors
        if isinstance(params, dict):
            params = self._of_several(params)
        if not params:
            return StoreFacts(rows, index="sparse vectors alone")
        if info.status is not None and str(info.status.value) != "green":
            notes.append(f"Qdrant says {info.status.value}: it is still building or has failed to")
        hnsw = info.config.hnsw_config
        index = "scan" if not indexed else f"HNSW, m {hnsw.m}, ef_construct {hnsw.ef_construct}"
        if indexed and indexed < rows:
            notes.append(f"{rows - indexed} of {rows} rows are in no index yet and are scanned")
        return StoreFacts(
            rows,
            params.size,
            DISTANCES.get(params.distance.value, params.distance.value),
            index,
            None,
            tuple(notes),
        )

    def _of_several(self, params: dict[str, Any]) -> Any:
        if self._vector in params:
            return params[self._vector]
        if not params and not self._vector:
            return None
        names = ", ".join(params) or "none"
        raise HarnessError(
            f"Qdrant's collection {self._name!r} has vectors by name ({names}). Name one as retrieve.vector."
        )

    def _sparse_name(self, info: Any = None) -> str:
        """The name of the sparse vector that is searched."""
        info = info or self.client.get_collection(self._name)
        names = [*(info.config.params.sparse_vectors or {})]
        wanted = "" if self._words is None else self._words.name
        if wanted in names or (not wanted and len(names) == 1):
            return wanted or names[0]
        listed = ", ".join(sorted(names))
        if not names:
            raise HarnessError(
                f"Qdrant's collection {self._name!r} has no sparse vectors, by which words are searched. Use "
                "search: vectors."
            )
        raise HarnessError(
            f"Qdrant's collection {self._name!r} has sparse vectors by name ({listed}), and "
            f"retrieve.sparse_vector is {wanted!r}. Name one of them."
        )

    def _notes_of_words(self, info: Any) -> list[str]:
        """What bears on a search by the BM25 of others: their rarity is Qdrant's to add."""
        if self._words is None:
            return []
        name = self._sparse_name(info)
        modifier = info.config.params.sparse_vectors[name].modifier
        if not isinstance(self._words.bm25, FastEmbedBm25) or (modifier and modifier.value == "idf"):
            return []
        return [
            f"the sparse vector {name} has no modifier idf, so that frequent words count as much as rare ones"
        ]

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Page by page, by the order of ids."""
        offset, left = None, limit
        sparse = self._sparse_name() if vectors and self._words is not None else ""
        named = [self._vector, *([sparse] if sparse else [])] if self._vector else True
        with_vectors = named if vectors else False
        while True:
            size = _PAGE if left is None else min(_PAGE, left)
            points, offset = self.client.scroll(
                self._name, limit=size, offset=offset, with_payload=True, with_vectors=with_vectors
            )
            for point in points:
                dense, words = self._vector_of(point), _sparse_of_point(point, sparse)
                yield StoredRow(str(point.id), payload_of(point), dense, words=words)
            left = None if left is None else left - len(points)
            if offset is None or left == 0:
                return

    def _vector_of(self, point: Any) -> Floats | None:
        vector = point.vector
        if isinstance(vector, dict):
            vector = vector.get(self._vector)
        return None if not isinstance(vector, list) else np.array(vector, dtype=np.float32)

    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """All queries in requests of some at a time."""
        from qdrant_client import models

        params, rows = self._params(exact), qdrant_filter(self._only)
        using = self._vector or None
        requests = [
            models.QueryRequest(
                query=vector.tolist(), using=using, params=params, filter=rows, limit=depth, with_payload=True
            )
            for vector in vectors
        ]
        hits = self._answers(requests)
        if not self._measures_distance():
            return hits
        # as similarities, on the scale of our own scan
        return [[replace(row, score=-(row.score**2)) for row in rows] for rows in hits]

    def _params(self, exact: bool) -> Any:
        """How to search; local mode has no index, and says so of every parameter."""
        from qdrant_client import models

        return models.SearchParams(hnsw_ef=self._effort, exact=exact) if self._effort else None

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By sparse vectors of BM25."""
        return self.by_sparse(self._encoded(texts), None, depth)

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By dense vectors and those of BM25, fused by Qdrant."""
        return self.by_sparse(self._encoded(texts), vectors, depth)

    def _encoded(self, texts: Sequence[str]) -> list[SparseVector]:
        assert self._words is not None
        assert self._words.bm25 is not None
        return list(map(self._words.bm25.query, texts))

    def by_sparse(
        self, words: Sequence[SparseVector], vectors: Floats | None, depth: int
    ) -> list[list[StoredRow]]:
        """By sparse vectors; with those of dense ones fused by Qdrant, each side as deep as the whole."""
        from qdrant_client import models

        assert self._words is not None
        name, rows = self._sparse_name(), qdrant_filter(self._only)
        searched: dict[str, Any] = {"limit": depth, "filter": rows}
        if vectors is None:
            return self._answers(
                [
                    models.QueryRequest(query=sparse_of(query), using=name, with_payload=True, **searched)
                    for query in words
                ],
                # a text without a word finds nothing
                [bool(query.dimensions) for query in words],
            )
        params, using = self._params(exact=False), self._vector or None
        fusion = models.FusionQuery(fusion=models.Fusion(self._words.fusion))
        requests = []
        for vector, query in zip(vectors, words, strict=True):
            parts = [models.Prefetch(query=vector.tolist(), using=using, params=params, **searched)]
            if query.dimensions:
                parts.append(models.Prefetch(query=sparse_of(query), using=name, **searched))
            requests.append(models.QueryRequest(prefetch=parts, query=fusion, limit=depth, with_payload=True))
        return self._answers(requests)

    def _answers(self, requests: list[Any], sent: Sequence[bool] | None = None) -> list[list[StoredRow]]:
        """The rows for each request; none for those that are not ``sent``."""
        flags = sent or [True] * len(requests)
        kept = [request for request, flag in zip(requests, flags, strict=True) if flag]
        answers = iter(self.client.query_batch_points(self._name, kept) if kept else [])
        hits = [next(answers).points if flag else [] for flag in flags]
        return [[StoredRow(str(p.id), payload_of(p), None, p.score) for p in points] for points in hits]

    def _measures_distance(self) -> bool:
        params = self.client.get_collection(self._name).config.params.vectors
        params = params.get(self._vector) if isinstance(params, dict) else params
        return params is not None and params.distance.value in ("Euclid", "Manhattan")


def payload_of(point: Any) -> dict[str, Any]:
    """The payload of a point by its keys, and under ``payload``."""
    payload = point.payload or {}
    return {**payload, "payload": payload}


def sparse_of(words: SparseVector) -> Any:
    """A sparse vector as Qdrant takes it."""
    from qdrant_client import models

    return models.SparseVector(indices=list(words.dimensions), values=list(words.weights))


def _sparse_of_point(point: Any, name: str) -> SparseVector | None:
    vector = point.vector.get(name) if name and isinstance(point.vector, dict) else None
    return None if vector is None else SparseVector(tuple(vector.indices), tuple(vector.values))
