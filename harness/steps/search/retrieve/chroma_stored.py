"""A collection of Chroma as it is read, whether its files lie here or a server holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.steps.search.depth import SearchDepth
from harness.steps.search.retrieve.row_filter import chroma_where
from harness.steps.search.retrieve.scan import scan
from harness.steps.search.retrieve.stored import Floats, Reads, StoredCollection, StoredRow, StoreFacts

_PAGE = 1000
_RESULTS_AT_ONCE = 5000
# beyond it all vectors are not read to be scanned here
_SCANNED = 50_000
_READING = ("get", "query", "count")


class ChromaCollection(StoredCollection):
    """A collection, of which only what reads is kept; Chroma has no scan, so its vectors are read for one."""

    def __init__(self, collection: Any, distance: str, only: Mapping[str, Any] | None = None) -> None:
        self.client, self._distance = Reads(collection, _READING), distance
        self._where = {} if (where := chroma_where(only)) is None else {"where": where}

        def described() -> tuple[Any, Mapping[str, Any]]:
            # not before it is asked for: to read it, Chroma makes the embedding function of the collection
            return collection.configuration, collection.metadata or {}

        self._described = described

    @property
    def scans(self) -> bool:  # type: ignore[override]
        """Where the vectors are few enough to be read."""
        return bool(self.client.count() <= _SCANNED)

    def facts(self) -> StoreFacts:
        """Rows, dimension and the index."""
        rows = self.client.count()
        configuration, metadata = self._described()
        settings: Mapping[str, Any] = configuration if isinstance(configuration, Mapping) else {}
        first = self.client.get(include=["embeddings"], limit=1)["embeddings"] if rows else None
        hnsw, spann = settings.get("hnsw"), settings.get("spann")
        index = hnsw or spann or {}
        words = f"HNSW, max_neighbors {hnsw.get('max_neighbors')}" if hnsw else "SPANN" if spann else ""
        distance = index.get("space") or metadata.get("hnsw:space")
        notes = (
            (f"more than {_SCANNED:,} rows: what its index misses is not measured, as Chroma has no scan",)
            if rows > _SCANNED
            else ()
        )
        dimension = None if first is None or not len(first) else len(first[0])
        return StoreFacts(rows, dimension, distance, words, None, notes)

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Page by page, in the order in which they came in."""
        yield from self._pages(vectors, limit, {})

    def passing(self) -> int:
        """Counted by their keys, as Chroma counts all rows alone."""
        if not self._where:
            return int(self.client.count())
        count = 0
        while keys := self.client.get(include=[], limit=_PAGE, offset=count, **self._where)["ids"]:
            count += len(keys)
        return count

    def _pages(self, vectors: bool, limit: int | None, where: Mapping[str, Any]) -> Iterator[StoredRow]:
        include = ["documents", "metadatas", *(["embeddings"] if vectors else [])]
        begin = 0
        while limit is None or begin < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - begin)
            page = self.client.get(include=include, limit=size, offset=begin, **where)
            stored = page["embeddings"] if vectors else [None] * len(page["ids"])
            rows = zip(page["ids"], page["documents"], page["metadatas"], stored, strict=True)
            for key, text, metadata, vector in rows:
                read = None if vector is None else np.array(vector, dtype=np.float32)
                yield StoredRow(key, payload_of(text, metadata), read)
            begin += len(page["ids"])
            if len(page["ids"]) < size:
                return

    def near(self, vectors: Floats, depth: int, exact: bool = False) -> list[list[StoredRow]]:
        """Some queries in a request; ``exact``: by our scan of all vectors, which are read."""
        if exact:
            return self._scanned(vectors, depth)
        hits, step = [], max(1, _RESULTS_AT_ONCE // depth)
        for begin in range(0, len(vectors), step):
            hits += self._found(depth, query_embeddings=vectors[begin : begin + step])
        return hits

    def near_texts(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By the embedding function of the collection."""
        return self._found(depth, query_texts=list(texts))

    def _found(self, depth: int, **queries: Any) -> list[list[StoredRow]]:
        """What Chroma finds for queries in one request."""
        offset = 0.0 if self._distance == "l2" else 1.0
        include = ["documents", "metadatas", "distances"]
        answer = self.client.query(n_results=depth, include=include, **queries, **self._where)
        columns = (answer[name] for name in ("ids", *include))
        return [
            [
                StoredRow(key, payload_of(text, metadata), None, offset - float(distance))
                for key, text, metadata, distance in zip(*rows, strict=True)
            ]
            for rows in zip(*columns, strict=True)
        ]

    def _scanned(self, vectors: Floats, depth: int) -> list[list[StoredRow]]:
        rows = list(self._pages(True, None, self._where))
        if not rows:
            return [[] for _ in vectors]
        stored = np.stack([row.vector for row in rows if row.vector is not None])
        wanted = SearchDepth(min(depth, len(rows)), None, np.ones(len(rows), dtype=np.int64))
        found = []
        for vector, nearest in zip(vectors, scan(vectors, stored, self._distance, wanted), strict=True):
            near = [(rows[row], _similarity(vector, stored[row], self._distance)) for row in nearest.rows]
            near.sort(key=lambda pair: -pair[1])
            found.append([StoredRow(row.key, row.payload, None, score) for row, score in near[:depth]])
        return found


def _similarity(one: Floats, other: Floats, distance: str) -> float:
    if distance == "l2":
        return -float(((one - other) ** 2).sum())
    product = float(one @ other)
    return product if distance == "ip" else product / float(np.linalg.norm(one) * np.linalg.norm(other))


def payload_of(text: str | None, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A row by its keys: what Chroma calls its document as ``text``, and its metadata, there and by names."""
    return {**(metadata or {}), "text": text, "metadata": metadata or {}}
