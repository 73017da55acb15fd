"""Nearest neighbours from a ChromaDB collection, persistent on disk or on a Chroma server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.errors import HarnessError
from harness.search.dense import DenseConfig, DenseRetriever
from harness.search.depth import Depth
from harness.search.retrieve.distinct import Distinct
from harness.search.retrieve.ranked import Doubles, ranked
from harness.search.retrieve.scan import Floats, Ints, Nearest, exact_share, scan
from harness.search.step import Found, Identity, Passages
from harness.search.tools import Tools
from harness.types import Query, Ranking, Slot

Hits = tuple[Ints, Doubles]

_NOTHING: Hits = (np.zeros(0, dtype=np.int64), np.zeros(0))
_ADD_AT_ONCE = 2000
# How much harder the index is searched where it has missed a true neighbour.
_RAISE = 4
_RESULTS_AT_ONCE = 1_000_000
# Asked for beyond top_k, so that equal scores at the cut are ordered by us and not by the index.
_MARGIN = 16


class ChromaConfig(DenseConfig):
    """A ChromaDB collection (HNSW index)."""

    kind: Literal["chroma"] = "chroma"
    exact: bool = Field(
        True,
        description="Raise the search effort of Chroma's approximate index until every query has its true "
        "`top_k`, as found by a full scan: two runs give the same rankings. `false`: one search with "
        "`ef_search`, as "
        "in a deployment; its results vary from build to build.",
    )
    ef_construction: int = Field(200, ge=1, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(
        200,
        ge=1,
        description="HNSW: candidates looked at when searching; with `exact`, those of the first try.",
    )
    max_neighbors: int = Field(32, ge=2, description="HNSW: edges per node.")
    client: Literal["persistent", "http"] = Field(
        "persistent", description="`persistent`: files in the cache folder; `http`: a Chroma server."
    )
    host: str = Field("localhost", description="Chroma server, for client: http.")
    port: int = Field(8000, description="Chroma server, for client: http.")
    ssl: bool = Field(False, description="Chroma server, for client: http.")


class ChromaRetriever(DenseRetriever[ChromaConfig]):
    """Builds a collection once per content and answers all queries in one batch."""

    def store_facts(self) -> Identity:
        """Chroma's version, its index, and how hard it is searched."""
        c = self.config
        return [self.index_settings, version("chromadb"), c.exact, c.ef_search, c.client]

    def nearest(
        self,
        queries: Sequence[Query],
        asked: Floats,
        passages: Passages,
        vectors: Floats,
        tools: Tools,
    ) -> Found:
        """Search the collection of these passages, made anew where there is none."""
        key = self._key(passages, tools)
        return self.retrieve(queries, asked, passages.ids, vectors, key, tools.index, passages.lengths)

    @contextmanager
    def opened(
        self, passages: Passages, vectors: Floats, tools: Tools
    ) -> Iterator[Callable[[Query, Floats], Ranking]]:
        """One search of the collection, as in a deployment: without the check against a full scan."""
        distinct = Distinct.of(vectors)
        k = self.depth(passages).usual
        wanted = min(k, len(distinct.first))
        key = self._key(passages, tools)
        with self._collection(key, tools.index, vectors[distinct.first]) as collection:

            def search(query: Query, asked: Floats) -> Ranking:
                (hits,) = self._ask(collection, asked, wanted)
                return ranked(query.query_id, *distinct.expand(*hits), k, passages.ids)

            yield search

    def _key(self, passages: Passages, tools: Tools) -> str:
        """The name of the collection of these passages."""
        c = self.config
        return tools.key(
            passages.key,
            tools.fingerprint(c.embed),
            c.passage_prefix,
            self.index_settings,
            version("chromadb"),
        )

    @property
    def index_settings(self) -> dict[str, Any]:
        """What decides the content of the index besides the vectors."""
        c = self.config
        settings = {
            "distance": c.distance,
            "ef": c.ef_construction,
            "neighbors": c.max_neighbors,
            "distinct": 1,
        }
        # A server reads ef_search once, when it opens a collection: another value needs another collection.
        return settings | ({"ef_search": self._effort} if c.client == "http" else {})

    @property
    def _effort(self) -> int:
        return max(self.config.ef_search, self.config.top_k + _MARGIN)

    def retrieve(
        self,
        queries: Sequence[Query],
        query_vectors: Floats,
        chunk_ids: Sequence[str],
        chunk_vectors: Floats,
        key: str,
        slot: Callable[[str], Slot],
        chunk_lengths: Sequence[int] | None = None,
    ) -> Found:
        """The nearest chunks of every query, as many as ``top_k`` or ``top_chars`` says.

        ``query_vectors`` [queries, d] and ``chunk_vectors`` [chunks, d] are float32; ``chunk_lengths``
        [chunks] are in characters, for ``top_chars`` alone; ``key`` names the
        collection by its content, so that one already built, in the ``slot`` of that key or on the server,
        is used again. Scores are similarities (1 − cosine or inner-product distance, −squared L2), higher is
        better; equal scores stand in the order of ``chunk_ids``. Raises HarnessError where ``exact`` is asked
        for and the index does not reach all chunks.
        """
        if not len(chunk_ids) or not len(queries):
            return Found([Ranking(query.query_id, (), ()) for query in queries], None)
        distinct = Distinct.of(chunk_vectors)
        depth = Depth(self.config.top_k, self.config.top_chars, np.array(chunk_lengths or ()))
        nearest = list(scan(query_vectors, chunk_vectors, self.config.distance, depth))
        with self._collection(key, slot, chunk_vectors[distinct.first]) as collection:
            hits = self._search(collection, query_vectors, distinct, nearest)
        rankings = [
            ranked(query.query_id, *found, true.k, chunk_ids)
            for query, true, found in zip(queries, nearest, hits, strict=True)
        ]
        return Found(rankings, exact_share(rankings, nearest))

    def _search(
        self, collection: Any, asked: Floats, distinct: Distinct, nearest: Sequence[Nearest]
    ) -> list[Hits]:
        """Chunk rows and scores of every query: at least those wanted, in no order.

        The number of results asked for is a search effort too: HNSW looks at no fewer candidates. Unlike
        ef_search, which Chroma reads when it first opens a collection, it can be raised between searches.
        """
        wanted = min(max(true.k for true in nearest) + _MARGIN, len(distinct.first))
        hits: list[Hits] = [_NOTHING] * len(asked)
        unsettled = list(range(len(asked)))
        while True:
            for at, found in zip(unsettled, self._ask(collection, asked[unsettled], wanted), strict=True):
                hits[at] = distinct.expand(*found)
            if not self.config.exact:
                return hits
            unsettled = [at for at in unsettled if not np.isin(nearest[at].rows, hits[at][0]).all()]
            if not unsettled:
                return hits
            if wanted == len(distinct.first):
                raise HarnessError(
                    f"Chroma's index does not reach all chunks: {len(unsettled)} of {len(asked)} queries "
                    f"lack some of their true nearest neighbours, even when all chunks are asked "
                    f"for. Set retrieve.max_neighbors to {2 * self.config.max_neighbors}, or "
                    "retrieve.exact to false to measure the index as it is."
                )
            wanted = min(wanted * _RAISE, len(distinct.first))

    def _ask(self, collection: Any, asked: Floats, wanted: int) -> Iterator[Hits]:
        """What Chroma returns for every query: rows of distinct vectors and their scores."""
        offset = 0.0 if self.config.distance == "l2" else 1.0
        step = max(1, _RESULTS_AT_ONCE // wanted)
        for begin in range(0, len(asked), step):
            found = collection.query(
                query_embeddings=asked[begin : begin + step], n_results=wanted, include=["distances"]
            )
            for ids, distances in zip(found["ids"], found["distances"], strict=True):
                yield np.array(ids, dtype=np.int64), offset - np.array(distances, dtype=np.float64)

    @contextmanager
    def _collection(self, key: str, slot: Callable[[str], Slot], vectors: Floats) -> Iterator[Any]:
        if self.config.client == "http":
            yield self._on_server(key, vectors)
            return
        place = slot(key)
        try:
            with _open_index(place.path) as client:
                if place.built:
                    collection = client.get_collection("chunks", embedding_function=None)
                    # stored in the collection when it was built, and read before the first search
                    collection.modify(configuration={"hnsw": {"ef_search": self._effort}})
                else:
                    collection = self._fill(client, "chunks", vectors)
                    place.finish()
                yield collection
        finally:
            place.release()

    def _on_server(self, key: str, vectors: Floats) -> Any:
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

    def _fill(self, client: Any, name: str, vectors: Floats) -> Any:
        c = self.config
        collection = client.create_collection(
            name,
            embedding_function=None,
            configuration={
                "hnsw": {
                    "space": c.distance,
                    "ef_construction": c.ef_construction,
                    "ef_search": self._effort,
                    "max_neighbors": c.max_neighbors,
                    # one thread: the graph depends on the order of insertion. It still varies from build to
                    # build, and with it what a search finds; ``exact`` is what makes rankings repeatable.
                    "num_threads": 1,
                }
            },
        )
        for start in range(0, len(vectors), _ADD_AT_ONCE):
            part = vectors[start : start + _ADD_AT_ONCE]
            collection.add(ids=[str(start + i) for i in range(len(part))], embeddings=part)
        return collection


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
