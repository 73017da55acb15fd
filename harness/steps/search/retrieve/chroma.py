"""Nearest neighbours from a ChromaDB collection: in the cache folder, on a server, or one of others."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from harness.steps.search.dense import Floats
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.approximate import MARGIN, ApproximateRetriever, DistinctVectors, Hits
from harness.steps.search.retrieve.chroma_server import ServedCollection, collections_at, fill_server
from harness.steps.search.retrieve.chroma_stored import ChromaCollection
from harness.steps.search.retrieve.scan import Nearest
from harness.steps.search.retrieve.store_config import StoreConfig, secret_of, variable_name
from harness.steps.search.retrieve.store_server import StoreServer
from harness.steps.search.retrieve.stored import Content, StoredCollection, store_faults
from harness.steps.search.retrieve.stored_as_is import of_this_run, search_as_it_is
from harness.steps.search.step import Fingerprint, Identity, RetrievalResult
from harness.values import HarnessError, Query, Run, Slot, first_line, installed_version

_ADD_AT_ONCE = 2000
# How much harder the index is searched if it has missed a true neighbour.
_RAISE = 4
_RESULTS_AT_ONCE = 1_000_000


class ChromaConfig(StoreConfig):
    """A ChromaDB collection (HNSW index): in the cache folder, on a server, or an existing one."""

    gone: ClassVar = {"client": "name the server as retrieve.host; without it the cache folder is used."}
    extra: ClassVar = "chroma"
    kind: Literal["chroma"] = "chroma"
    exact: bool = Field(
        True,
        description="Raise the search effort of Chroma's approximate index until every query has its true "
        "`top_k`, as found by a full scan: two runs give the same rankings. `false`: one search with "
        "`ef_search`, as in a deployment; its results vary from build to build. With `existing`: scan its "
        "vectors here; `false` by default.",
    )
    ef_construction: int = Field(200, ge=1, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(
        200,
        ge=1,
        description="HNSW: candidates looked at when searching; with `exact`, those of the first try.",
    )
    max_neighbors: int = Field(32, ge=2, description="HNSW: edges per node.")
    host: str | None = Field(
        None, pattern=r"^[\w.:\[\]-]+$", description="The host of a Chroma server; empty: files, no server."
    )
    port: int = Field(8000, ge=1, le=65535, description="The port of the server.")
    ssl: bool = Field(False, description="Whether the server is spoken to by HTTPS.")
    tenant: str = Field("default_tenant", description="The tenant on the server.")
    database: str = Field("default_database", description="The database on the server.")
    token_env: Annotated[str | None, AfterValidator(variable_name)] = Field(
        None, description="The *name* of the environment variable with the token of the server."
    )
    token_header: Literal["authorization", "x-chroma-token"] = Field(
        "authorization", description="The header of the token; `authorization` has `Bearer` before it."
    )
    path: Path | None = Field(
        None, description="With `existing`, instead of `host`: a folder of Chroma; it is copied."
    )

    @model_validator(mode="before")
    @classmethod
    def _others_as_they_are(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and fields.get("existing"):
            return {"exact": False, **fields}
        return fields

    @model_validator(mode="after")
    def _fits_place(self) -> ChromaConfig:
        served = {"port", "ssl", "tenant", "database", "token_env", "token_header"} & self.model_fields_set
        if self.existing and (self.host is None) == (self.path is None):
            raise ValueError("existing: give the host of the server, or the path of a folder of Chroma")
        if not self.existing and self.path is not None:
            raise ValueError("path: only with existing: true; what is filled here lies in the cache folder")
        if self.host is None and served:
            raise ValueError(f"{', '.join(sorted(served))}: only with host, which names the server")
        built = {"ef_construction", "ef_search", "max_neighbors"} & self.model_fields_set
        if self.existing and built:
            raise ValueError(f"existing: the index is as others built it; omit {', '.join(sorted(built))}")
        return self

    @property
    def needed(self) -> tuple[str, ...]:
        """A server is asked without Chroma's package."""
        return ("chromadb",) if self.host is None else ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The variable with the token."""
        return () if self.token_env is None else (self.token_env,)

    @property
    def where(self) -> str:
        """The address, or the folder."""
        return f"Chroma at {self._root}" if self.remote else f"Chroma in {self.path or 'the cache folder'}"

    @property
    def _root(self) -> str:
        return f"{'https' if self.ssl else 'http'}://{self.host}:{self.port}"

    @property
    def remote(self) -> bool:
        """Where there is a host."""
        return self.host is not None

    def build_facts(self) -> Identity:
        """The graph; on a server the effort too, which it reads once, when it opens a collection."""
        return [self.max_neighbors, self.ef_construction, *([self.first_effort] if self.remote else [])]

    def effort(self) -> Identity:
        """The candidates."""
        return [self.ef_search]

    @property
    def first_effort(self) -> int:
        """The candidates looked at in the first search."""
        return max(self.ef_search, self.top_k + MARGIN)

    @property
    def hnsw(self) -> dict[str, Any]:
        """What Chroma is told of the index when a collection is made."""
        return {
            "space": self.distance,
            "ef_construction": self.ef_construction,
            "ef_search": self.first_effort,
            "max_neighbors": self.max_neighbors,
        }

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The collection; a folder of others is copied, as Chroma writes where it opens one."""
        with self.collection_at(name, None if self.existing else folder) as collection:
            yield ChromaCollection(collection, self.distance, self.only)

    @contextmanager
    def collection_at(self, name: str, folder: Path | None) -> Iterator[Any]:
        """The collection with the methods of Chroma's client that search; raises HarnessError."""
        if self.remote:
            with self._server() as server:
                with store_faults(self.where, self.timeout):
                    collection = ServedCollection(server, collections_at(self.tenant, self.database), name)
                yield collection
            return
        with tempfile.TemporaryDirectory() as scratch:
            place = _copied(self.path, Path(scratch)) if folder is None else folder
            remedy = "" if folder is not None else "Is it a folder of Chroma that this version reads?"
            with _open_index(place, remedy) as client:
                names = [each.name for each in client.list_collections()]
                if name not in names:
                    raise HarnessError(
                        f"{self.where} has no collection {name!r} (it has {', '.join(names) or 'none'}). "
                        "Correct retrieve.collection."
                    )
                yield client.get_collection(name, embedding_function=None)

    @contextmanager
    def _server(self) -> Iterator[StoreServer]:
        headers: dict[str, str] = {}
        if self.token_env is not None:
            token = secret_of(self.token_env)
            bearer = self.token_header == "authorization"
            headers[self.token_header] = f"Bearer {token}" if bearer else token
        server = StoreServer(self._root, headers, self.timeout)
        try:
            yield server
        finally:
            server.close()

    def fill(self, content: Content, folder: Path | None) -> bool:
        """On the server, or in a folder; an index of others is never filled."""
        assert content.vectors is not None
        if self.remote:
            with self._server() as server:
                place = collections_at(self.tenant, self.database)
                return fill_server(server, place, content, self.hnsw)
        assert folder is not None
        with _open_index(folder) as client:
            fill_folder(client, content.name, content.vectors, self)
        return True


class ChromaRetriever(ApproximateRetriever[ChromaConfig]):
    """Builds a collection once per content and answers all queries in one batch."""

    def identity(self, fingerprint: Fingerprint) -> Identity:
        """As for all vector stores; what an existing collection gave is of this run alone."""
        state = [of_this_run(self.config)] if self.config.existing else []
        return [*super().identity(fingerprint), *state]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """Search the collection there is, or one of the passages."""
        if self.config.existing:
            return (yield from search_as_it_is(self.config, passages, queries))
        return (yield from super().run(passages, queries))

    def built_by(self) -> Identity:
        """Chroma's version and everything besides the vectors that decides the index."""
        c = self.config
        if c.remote:
            return [c.where, c.tenant, c.database, c.collection, c.distance, *c.build_facts()]
        settings: dict[str, Any] = {
            "distance": c.distance,
            "ef": c.ef_construction,
            "neighbors": c.max_neighbors,
            "distinct": 1,
        }
        return [settings, installed_version("chromadb")]

    def effort(self) -> Identity:
        """Until all is found, or once, from files or a server."""
        return [self.config.exact, self.config.ef_search, "http" if self.config.remote else "persistent"]

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
            part = query_vectors[begin : begin + step]
            with store_faults(self.config.where, self.config.timeout):
                answer = index.query(query_embeddings=part, n_results=wanted, include=["distances"])
            for ids, distances in zip(answer["ids"], answer["distances"], strict=True):
                yield np.array(ids, dtype=np.int64), offset - np.array(distances, dtype=np.float64)

    @contextmanager
    def opened(self, place: Slot, vectors: Floats) -> Iterator[Any]:
        """The collection in the cache, or on the server."""
        if self.config.remote:
            with self._served(vectors, place) as collection:
                yield collection
            return
        with _open_index(place.path) as client:
            if place.built:
                collection = client.get_collection("chunks", embedding_function=None)
                # stored in the collection when it was built, and read before the first search
                collection.modify(configuration={"hnsw": {"ef_search": self.config.first_effort}})
            else:
                start = perf_counter()
                collection = fill_folder(client, "chunks", vectors, self.config)
                place.finish()
                place.filled(perf_counter() - start, None)
            yield collection

    @contextmanager
    def _served(self, vectors: Floats, place: Slot) -> Iterator[Any]:
        """On the server, under a name made of what it holds and how it is built."""
        c = self.config
        digest = hashlib.sha256(np.ascontiguousarray(vectors).tobytes())
        digest.update(repr([vectors.shape, c.distance, c.build_facts()]).encode())
        name = f"{c.collection or 'ndcg'}_{digest.hexdigest()[:24]}"
        start = perf_counter()
        with store_faults(c.where, c.timeout):
            if c.fill(Content(vectors, (), name), None):
                place.filled(perf_counter() - start, None)
        with c.collection_at(name, None) as collection:
            yield collection


def fill_folder(client: Any, name: str, vectors: Floats, c: ChromaConfig) -> Any:
    """A collection of the vectors [N, d] in an open folder, whose ids are their rows."""
    collection = client.create_collection(
        name,
        embedding_function=None,
        # one thread: the graph depends on the order of insertion. It still varies from build to build, and
        # with it what a search finds; ``exact`` is what makes rankings repeatable.
        configuration={"hnsw": {**c.hnsw, "num_threads": 1}},
    )
    for start in range(0, len(vectors), _ADD_AT_ONCE):
        part = vectors[start : start + _ADD_AT_ONCE]
        collection.add(ids=[str(start + i) for i in range(len(part))], embeddings=part)
    return collection


def _copied(path: Path | None, scratch: Path) -> Path:
    if path is None or not (path / "chroma.sqlite3").is_file():
        raise HarnessError(f"retrieve.path: {path} is no folder of Chroma. Name the one with chroma.sqlite3.")
    return Path(shutil.copytree(path, scratch / "copy"))


@contextmanager
def _open_index(path: Path, remedy: str = "") -> Iterator[Any]:
    """Chroma's client for a folder; raises HarnessError for what goes wrong inside Chroma."""
    import chromadb
    from chromadb.config import Settings
    from chromadb.errors import ChromaError

    client = None
    try:
        client = chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))
        yield client
    except (ChromaError, sqlite3.Error, OSError) as error:
        remedy = remedy or "Remove what the cache holds with harness cache --clear, and run again."
        raise HarnessError(
            f"Chroma cannot use its files in {path.parent.parent} ({first_line(error)}). {remedy}"
        ) from error
    finally:
        if client is not None:
            client.close()
