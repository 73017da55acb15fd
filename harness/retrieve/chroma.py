"""Nearest neighbours from a ChromaDB collection, persistent on disk or on a Chroma server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.errors import HarnessError
from harness.kinds import StageConfig
from harness.types import Query, Ranking

_ADD_AT_ONCE = 2000
# Asked for beyond top_k, so that equal scores at the cut are ordered by us and not by the index.
_MARGIN = 16
# Scores keep this many decimals: below it, float32 sums depend on the machine and would reorder ties.
_DECIMALS = 6


class Slot(Protocol):
    """Where the collection of one key lies on disk; ``finish`` is called when a new one is whole."""

    @property
    def path(self) -> Path:
        """The folder of the collection."""

    @property
    def built(self) -> bool:
        """Whether the collection is there and whole."""

    @property
    def finish(self) -> Callable[[], None]:
        """Say that the collection is whole."""

    @property
    def release(self) -> Callable[[], None]:
        """Give the place back when the database is closed; what is whole is kept."""


class ChromaConfig(StageConfig):
    """A ChromaDB collection (HNSW index)."""

    kind: Literal["chroma"] = "chroma"
    distance: Literal["cosine", "l2", "ip"] = Field("cosine", description="Chroma's space.")
    top_k: int = Field(20, ge=1, description="Chunks retrieved per query.")
    ef_construction: int = Field(200, ge=1, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(200, ge=1, description="HNSW: candidates looked at when searching.")
    max_neighbors: int = Field(32, ge=2, description="HNSW: edges per node.")
    client: Literal["persistent", "http"] = Field(
        "persistent", description="`persistent`: files in the cache folder; `http`: a Chroma server."
    )
    host: str = Field("localhost", description="Chroma server, for client: http.")
    port: int = Field(8000, description="Chroma server, for client: http.")
    ssl: bool = Field(False, description="Chroma server, for client: http.")


class ChromaRetriever:
    """Builds a collection once per content and answers all queries in one batch."""

    def __init__(self, config: ChromaConfig) -> None:
        self.config = config

    @property
    def index_settings(self) -> dict[str, Any]:
        """What decides the content of the index besides the vectors."""
        c = self.config
        return {"distance": c.distance, "ef": c.ef_construction, "neighbors": c.max_neighbors}

    def retrieve(
        self,
        queries: Sequence[Query],
        query_vectors: NDArray[np.float32],
        chunk_ids: Sequence[str],
        chunk_vectors: NDArray[np.float32],
        key: str,
        slot: Callable[[str], Slot],
    ) -> list[Ranking]:
        """The ``top_k`` nearest chunks of every query.

        ``query_vectors`` [queries, d] and ``chunk_vectors`` [chunks, d] are float32; ``key`` names the
        collection by its content, so that one already built, in the ``slot`` of that key or on the server,
        is used again. Scores are similarities (1 − cosine or inner-product distance, −squared L2), higher is
        better; equal scores stand in the order of ``chunk_ids``.
        """
        if not len(chunk_ids) or not len(queries):
            return [Ranking(query.query_id, (), ()) for query in queries]
        wanted = min(self.config.top_k + _MARGIN, len(chunk_ids))
        with self._collection(key, slot, chunk_vectors) as collection:
            found = collection.query(query_embeddings=query_vectors, n_results=wanted, include=["distances"])
        return [
            self._ranking(query, ids, distances, chunk_ids)
            for query, ids, distances in zip(queries, found["ids"], found["distances"], strict=True)
        ]

    def _ranking(
        self, query: Query, ids: Sequence[str], distances: Sequence[float], chunk_ids: Sequence[str]
    ) -> Ranking:
        offset = 0.0 if self.config.distance == "l2" else 1.0
        rows = sorted(
            (-round(offset - float(distance), _DECIMALS), int(identifier))
            for identifier, distance in zip(ids, distances, strict=True)
        )[: self.config.top_k]
        return Ranking(query.query_id, tuple(chunk_ids[i] for _, i in rows), tuple(-s for s, _ in rows))

    @contextmanager
    def _collection(
        self, key: str, slot: Callable[[str], Slot], vectors: NDArray[np.float32]
    ) -> Iterator[Any]:
        if self.config.client == "http":
            yield self._on_server(key, vectors)
            return
        place = slot(key)
        try:
            with _open_index(place.path) as client:
                if place.built:
                    collection = client.get_collection("chunks", embedding_function=None)
                else:
                    collection = self._fill(client, "chunks", vectors)
                    place.finish()
                yield collection
        finally:
            place.release()

    def _on_server(self, key: str, vectors: NDArray[np.float32]) -> Any:
        import chromadb
        from chromadb.config import Settings

        c = self.config
        try:
            client = chromadb.HttpClient(
                host=c.host, port=c.port, ssl=c.ssl, settings=Settings(anonymized_telemetry=False)
            )
        except ValueError as error:
            raise HarnessError(
                f"No Chroma server answers at {c.host}:{c.port} ({error}). Start one (chroma run) or set "
                f"retrieve.client: persistent."
            ) from error
        name = f"harness-{key[:40]}"
        # A collection cut short by a kill lacks vectors: build that one anew.
        if name in {collection.name for collection in client.list_collections()}:
            collection = client.get_collection(name, embedding_function=None)
            if collection.count() == len(vectors):
                return collection
            client.delete_collection(name)
        return self._fill(client, name, vectors)

    def _fill(self, client: Any, name: str, vectors: NDArray[np.float32]) -> Any:
        c = self.config
        collection = client.create_collection(
            name,
            embedding_function=None,
            configuration={
                "hnsw": {
                    "space": c.distance,
                    "ef_construction": c.ef_construction,
                    "ef_search": max(c.ef_search, c.top_k + _MARGIN),
                    "max_neighbors": c.max_neighbors,
                    # one thread: the graph depends on the order of insertion, and must not on luck
                    "num_threads": 1,
                }
            },
        )
        for start in range(0, len(vectors), _ADD_AT_ONCE):
            part = vectors[start : start + _ADD_AT_ONCE]
            collection.add(ids=[str(start + i) for i in range(len(part))], embeddings=part)
        return collection


def exact_share(
    rankings: Sequence[Ranking],
    query_vectors: NDArray[np.float32],
    chunk_vectors: NDArray[np.float32],
    distance: str,
) -> float | None:
    """The share of the true nearest neighbours that an index returned (its recall against a full scan).

    A returned chunk counts when its score reaches that of the true k-th neighbour, so that ties are not
    held against the index. None where nothing was returned.
    """
    hits = total = 0
    norms = np.linalg.norm(chunk_vectors, axis=1)
    for ranking, query in zip(rankings, query_vectors, strict=True):
        k = len(ranking.scores)
        if not k:
            continue
        dots = chunk_vectors @ query
        if distance == "cosine":
            scores = dots / (norms * np.linalg.norm(query) + 1e-30)
        elif distance == "l2":
            scores = 2 * dots - norms**2 - query @ query
        else:
            scores = dots
        kth = np.partition(scores, -k)[-k]
        hits += int(np.sum(np.asarray(ranking.scores) >= kth - 1e-5))
        total += k
    return hits / total if total else None


@contextmanager
def _open_index(path: Path) -> Iterator[Any]:
    """Chroma's client for a folder; raises HarnessError for what goes wrong inside Chroma."""
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import ChromaError

    client = None
    try:
        client = chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))
        yield client
    except (ChromaError, sqlite3.Error, OSError) as error:
        raise HarnessError(
            f"Chroma cannot use its files in {path.parent.parent} ({_first_line(error)}). Is there room on "
            "the disk? If so, remove what the cache holds with harness cache --clear, and run again."
        ) from error
    finally:
        if client is not None:
            client.close()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
