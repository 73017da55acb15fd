"""Search in OpenSearch and Elasticsearch: kNN, BM25 with their analysers, or both by RRF; over plain HTTP."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.models import plain_url
from harness.steps.search.retrieve.opensearch_dialects import DIALECTS
from harness.steps.search.retrieve.opensearch_index import SearchIndex
from harness.steps.search.retrieve.store_config import StoreConfig, secret_of, variable_name
from harness.steps.search.retrieve.store_search import StoreRetriever
from harness.steps.search.retrieve.store_server import StoreServer, StoreStatusError
from harness.steps.search.retrieve.stored import Content, StoredCollection, store_faults
from harness.steps.search.step import Identity

_ADD_AT_ONCE = 500


def _address(url: str) -> str:
    return plain_url(url, "retrieve.password_env")


class SearchServerConfig(StoreConfig):
    """What both stores share."""

    title: ClassVar[str]
    searches: ClassVar = ("vectors", "words", "hybrid")
    existing_searches: ClassVar = ("vectors", "words", "hybrid")
    url: Annotated[str, AfterValidator(_address)] = Field(description="The address of the server.")
    user: str = Field("", description="The user, whose password is in the variable `password_env`.")
    password_env: Annotated[str | None, AfterValidator(variable_name)] = Field(
        None, description="The *name* of the environment variable with the password."
    )
    vector: str = Field("vector", description="The field of the vectors.")
    analyser: str = Field(
        "english", pattern="^[a-z_]+$", description="The store's analyser of the text, for words."
    )
    k1: float = Field(1.2, ge=0, description="BM25: how soon a repeated word counts no more.")
    b: float = Field(0.75, ge=0, le=1, description="BM25: how much the length of a text counts.")
    fusion: Literal["store", "harness"] = Field(
        "store",
        description="Who fuses a hybrid search by reciprocal ranks: the store, or the harness, where its "
        "version or licence has no fusion.",
    )
    max_neighbors: int = Field(16, ge=2, le=512, description="HNSW: edges per node.")
    ef_construction: int = Field(100, ge=4, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(100, ge=1, le=10_000, description="HNSW: candidates looked at when searching.")

    @model_validator(mode="after")
    def _fits_server(self) -> SearchServerConfig:
        if bool(self.user) != (self.password_env is not None):
            raise ValueError("user and password_env: give both, or neither")
        if self.existing and not self.text and self.search != "vectors":
            raise ValueError("search: words: name the field of the text as text")
        built = {"analyser", "k1", "b", "max_neighbors", "ef_construction"} & self.model_fields_set
        if self.existing and built:
            raise ValueError(f"existing: the index is as others built it; omit {', '.join(sorted(built))}")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """The variable with the password."""
        return () if self.password_env is None else (self.password_env,)

    @property
    def where(self) -> str:
        """The address."""
        return f"{self.title} at {self.url}"

    @property
    def remote(self) -> bool:
        """There is always a server."""
        return True

    def build_facts(self) -> Identity:
        """The graph, and how words are made and weighed."""
        return [self.max_neighbors, self.ef_construction, self.analyser, self.k1, self.b]

    def effort(self) -> Identity:
        """The candidates, and who fuses."""
        return [self.ef_search, self.fusion]

    def headers(self) -> dict[str, str]:
        """Who asks."""
        if self.password_env is None:
            return {}
        pair = f"{self.user}:{secret_of(self.password_env)}".encode()
        return {"authorization": f"Basic {base64.b64encode(pair).decode()}"}

    @contextmanager
    def _server(self) -> Iterator[StoreServer]:
        server = StoreServer(self.url, self.headers(), self.timeout)
        try:
            yield server
        finally:
            server.close()

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The index, or what an alias names."""
        with self._server() as server:
            with store_faults(self.where, self.timeout):
                index = SearchIndex(server, name, self)
            yield index

    def fill(self, content: Content, folder: Path | None) -> bool:
        """Fill an index under another name, which gets its own as an alias when it is whole."""
        with self._server() as server:
            try:
                server.send("GET", f"/_alias/{content.name}")
            except StoreStatusError as error:
                if error.status != 404:
                    raise
                _fill(server, content, self)
                return True
        return False


class OpensearchConfig(SearchServerConfig):
    """An index of OpenSearch (2.19 or later): HNSW, BM25 with its analysers, or both by RRF."""

    title: ClassVar = "OpenSearch"
    kind: Literal["opensearch"] = "opensearch"
    engine: Literal["lucene", "faiss"] = Field("lucene", description="The library of the graph.")

    def build_facts(self) -> Identity:
        """The engine too."""
        return [*super().build_facts(), self.engine]


class ElasticsearchConfig(SearchServerConfig):
    """An index of Elasticsearch (8.12 or later): HNSW, BM25 with its analysers, or both by RRF."""

    title: ClassVar = "Elasticsearch"
    kind: Literal["elasticsearch"] = "elasticsearch"
    codes: Literal["hnsw", "int8_hnsw"] = Field(
        "hnsw", description="The graph holds whole vectors, or codes of a byte for each number."
    )
    api_key_env: Annotated[str | None, AfterValidator(variable_name)] = Field(
        None, description="Instead of `user`: the *name* of the environment variable with the API key."
    )

    @model_validator(mode="after")
    def _asks_as_one(self) -> ElasticsearchConfig:
        if self.user and self.api_key_env is not None:
            raise ValueError("user and api_key_env: give one of them")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """The variable with the password or the key."""
        return super().secrets if self.api_key_env is None else (self.api_key_env,)

    def headers(self) -> dict[str, str]:
        """By password or by key."""
        if self.api_key_env is None:
            return super().headers()
        return {"authorization": f"ApiKey {secret_of(self.api_key_env)}"}

    def build_facts(self) -> Identity:
        """The codes too."""
        return [*super().build_facts(), self.codes]


class OpensearchRetriever(StoreRetriever[OpensearchConfig]):
    """Searches an index of OpenSearch."""


class ElasticsearchRetriever(StoreRetriever[ElasticsearchConfig]):
    """Searches an index of Elasticsearch."""


def _fill(server: StoreServer, content: Content, c: SearchServerConfig) -> None:
    vectors, dialect = content.vectors, DIALECTS[c.kind]
    place = f"{content.name}_{uuid.uuid4().hex[:8]}"
    bm25 = {"type": "BM25", "k1": c.k1, "b": c.b}
    properties: dict[str, Any] = {"text": {"type": "text", "analyzer": c.analyser}}
    settings: dict[str, Any] = {"number_of_shards": 1, "number_of_replicas": 0}
    if vectors is not None:
        properties[c.vector] = dialect.mapping(vectors.shape[1], c)
        settings |= dialect.settings()
    settings["similarity"] = {"default": bm25}
    server.send("PUT", f"/{place}", {"settings": {"index": settings}, "mappings": {"properties": properties}})
    for begin in range(0, content.count, _ADD_AT_ONCE):
        lines = []
        for row in range(begin, min(begin + _ADD_AT_ONCE, content.count)):
            # a lone surrogate has no UTF-8
            fields: dict[str, Any] = {"text": content.texts[row].encode("utf-8", "replace").decode()}
            if vectors is not None:
                fields[c.vector] = vectors[row].tolist()
            lines += [json.dumps({"index": {"_id": str(row)}}), json.dumps(fields)]
        answer = server.send("POST", f"/{place}/_bulk", "\n".join([*lines, ""]))
        if answer.get("errors"):
            faults = (next(iter(item.values())).get("error") for item in answer["items"])
            fault = next((each for each in faults if each), None)
            raise RuntimeError(f"a row was refused: {json.dumps(fault)[:200]}")
    # one segment has one graph, which is what recall is measured of
    server.send("POST", f"/{place}/_forcemerge?max_num_segments=1")
    server.send("POST", f"/{place}/_refresh")
    server.send("POST", "/_aliases", {"actions": [{"add": {"index": place, "alias": content.name}}]})
