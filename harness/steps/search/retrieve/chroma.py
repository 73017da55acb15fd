"""Nearest neighbours from a ChromaDB collection that lies in the cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.steps.search.dense import DenseConfig, Floats
from harness.steps.search.retrieve.approximate import MARGIN, ApproximateRetriever, DistinctVectors, Hits
from harness.steps.search.retrieve.scan import Nearest
from harness.steps.search.step import Identity
from harness.values import ConfigError, HarnessError, Slot, first_line, installed_version

_ADD_AT_ONCE = 2000
# How much harder the index is searched if it has missed a true neighbour.
_RAISE = 4
_RESULTS_AT_ONCE = 1_000_000


class ChromaConfig(DenseConfig):
    """A ChromaDB collection (HNSW index)."""

    gone: ClassVar = dict.fromkeys(
        ("client", "host", "port", "ssl"),
        "a Chroma server is asked no more: omit this key. The collection lies in the cache folder.",
    )
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

    def check_ready(self) -> None:
        """Raise ConfigError where the package is missing, without loading it."""
        super().check_ready()
        if find_spec("chromadb") is None:
            raise ConfigError(
                "retrieve: the kind chroma is not installed. Install it: pip install "
                "'ndcg-harness[chroma]', or use kind: exact."
            )


class ChromaRetriever(ApproximateRetriever[ChromaConfig]):
    """Builds a collection once per content and answers all queries in one batch."""

    def built_by(self) -> Identity:
        """Chroma's version and everything besides the vectors that decides the index."""
        c = self.config
        settings: dict[str, Any] = {
            "distance": c.distance,
            "ef": c.ef_construction,
            "neighbors": c.max_neighbors,
            "distinct": 1,
        }
        return [settings, installed_version("chromadb")]

    def effort(self) -> Identity:
        """Until all is found, or once; the last fact told a server apart."""
        return [self.config.exact, self.config.ef_search, "persistent"]

    @property
    def _effort(self) -> int:
        return max(self.config.ef_search, self.config.top_k + MARGIN)

    def found(
        self,
        index: Any,
        query_vectors: Floats,
        wanted: int,
        distinct: DistinctVectors,
        nearest: Sequence[Nearest],
    ) -> list[Hits]:
        """Chunk rows and scores of every query: with ``exact`` at least those wanted, in no order.

        The number of results asked for is a search effort too: HNSW looks at no fewer candidates. Unlike
        ef_search, which Chroma reads when it first opens a collection, it can be raised between searches.
        Raises HarnessError if ``exact`` is asked for and the index does not reach all chunks.
        """
        hits = super().found(index, query_vectors, wanted, distinct, nearest)
        if not self.config.exact:
            return hits
        while True:
            missed = [at for at, true in enumerate(nearest) if not np.isin(true.rows, hits[at][0]).all()]
            if not missed:
                return hits
            if wanted == len(distinct.first):
                raise HarnessError(
                    f"Chroma's index does not reach all chunks: {len(missed)} of {len(query_vectors)} "
                    f"queries lack some of their true nearest neighbours, even when all chunks are asked "
                    f"for. Set retrieve.max_neighbors to {2 * self.config.max_neighbors}, or "
                    "retrieve.exact to false to measure the index as it is."
                )
            wanted = min(wanted * _RAISE, len(distinct.first))
            further = super().found(index, query_vectors[missed], wanted, distinct, nearest)
            for at, further_hits in zip(missed, further, strict=True):
                hits[at] = further_hits

    def hits(self, index: Any, query_vectors: Floats, wanted: int) -> Iterator[Hits]:
        """The hits of Chroma, as similarities: 1 − cosine or inner-product distance, −squared L2."""
        offset = 0.0 if self.config.distance == "l2" else 1.0
        step = max(1, _RESULTS_AT_ONCE // wanted)
        for begin in range(0, len(query_vectors), step):
            answer = index.query(
                query_embeddings=query_vectors[begin : begin + step], n_results=wanted, include=["distances"]
            )
            for ids, distances in zip(answer["ids"], answer["distances"], strict=True):
                yield np.array(ids, dtype=np.int64), offset - np.array(distances, dtype=np.float64)

    @contextmanager
    def opened(self, place: Slot, vectors: Floats) -> Iterator[Any]:
        """The collection in the cache."""
        with _open_index(place.path) as client:
            if place.built:
                collection = client.get_collection("chunks", embedding_function=None)
                # stored in the collection when it was built, and read before the first search
                collection.modify(configuration={"hnsw": {"ef_search": self._effort}})
            else:
                collection = self._fill(client, vectors)
                place.finish()
            yield collection

    def _fill(self, client: Any, vectors: Floats) -> Any:
        c = self.config
        collection = client.create_collection(
            "chunks",
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
            f"Chroma cannot use its files in {path.parent.parent} ({first_line(error)}). Remove what the "
            "cache holds with harness cache --clear, and run again."
        ) from error
    finally:
        if client is not None:
            client.close()
