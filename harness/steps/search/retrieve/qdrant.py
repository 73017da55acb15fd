"""Search in Qdrant: a server by its address, or its local mode, which scans a folder (extra `qdrant`)."""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from harness.steps.search.analyser import Analyser
from harness.steps.search.retrieve.lexical import Saturation
from harness.steps.search.retrieve.row_filter import qdrant_filter
from harness.steps.search.retrieve.store_config import StoreConfig, secret_of, store_url, variable_name
from harness.steps.search.retrieve.store_search import StoreRetriever
from harness.steps.search.retrieve.stored import (
    Content,
    Floats,
    Reads,
    StoredCollection,
    StoredRow,
    StoreFacts,
    store_faults,
)
from harness.steps.search.step import Identity
from harness.values import HarnessError

_PAGE = 1000
_WORDS = "words"
_DISTANCES = {"Cosine": "cosine", "Euclid": "l2", "Dot": "ip"}
_READING = ("query_points", "query_batch_points", "scroll", "count", "get_collection", "collection_exists")
# seconds between looks at an index that a server builds, and how often it is looked at
_POLL, _LOOKS = 0.5, 2400
# as `kind: bm25` weighs words
_K1, _B = 1.5, 0.75


class QdrantConfig(StoreConfig):
    """A collection of Qdrant: dense vectors (HNSW on a server), sparse ones of words, or both by RRF."""

    packages: ClassVar = ("qdrant_client",)
    extra: ClassVar = "qdrant"
    searches: ClassVar = ("vectors", "words", "hybrid")
    kind: Literal["qdrant"] = "qdrant"
    url: Annotated[str | None, AfterValidator(store_url)] = Field(
        None,
        description="The address of a server; empty: Qdrant's local mode, which has no index and scans.",
    )
    path: Path | None = Field(
        None, description="With `existing`, instead of `url`: a folder of Qdrant's local mode; it is copied."
    )
    api_key_env: Annotated[str | None, AfterValidator(variable_name)] = Field(
        None, description="The *name* of the environment variable with the key of the server."
    )
    vector: str = Field("", description="The name of the vector in a collection with several.")
    max_neighbors: int = Field(16, ge=2, description="HNSW: edges per node.")
    ef_construction: int = Field(100, ge=4, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(128, ge=1, description="HNSW: candidates looked at when searching.")

    @model_validator(mode="after")
    def _fits_place(self) -> QdrantConfig:
        if self.existing and (self.url is None) == (self.path is None):
            raise ValueError("existing: give the url of the server, or the path of a local folder")
        if not self.existing and self.path is not None:
            raise ValueError("path: only with existing: true; what is filled here lies in the cache folder")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        """The variable with the key."""
        return () if self.api_key_env is None else (self.api_key_env,)

    @property
    def where(self) -> str:
        """The address, or the folder."""
        return f"Qdrant at {self.url or self.path or 'the cache folder'}"

    @property
    def remote(self) -> bool:
        """Where there is an address."""
        return self.url is not None

    def build_facts(self) -> Identity:
        """The graph."""
        return [self.max_neighbors, self.ef_construction]

    def effort(self) -> Identity:
        """The candidates."""
        return [self.ef_search]

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The collection; a local folder of others is copied, as Qdrant locks what it opens."""
        with self._client(None if self.existing else folder) as client:
            effort = self.ef_search if self.remote else None
            yield QdrantCollection(client, name, self.vector, effort, self.only)

    @contextmanager
    def _client(self, folder: Path | None) -> Iterator[Any]:
        with tempfile.TemporaryDirectory() as scratch:
            with store_faults(self.where, self.timeout):
                from qdrant_client import QdrantClient

                if self.url is not None:
                    key = None if self.api_key_env is None else secret_of(self.api_key_env)
                    wait = max(1, round(self.timeout))
                    client = QdrantClient(url=self.url, api_key=key, timeout=wait, check_compatibility=False)
                elif folder is not None:
                    client = QdrantClient(path=str(folder))
                else:
                    client = QdrantClient(path=str(_copied(self.path, Path(scratch))))
            try:
                yield client
            finally:
                client.close()

    def fill(self, content: Content, folder: Path | None) -> bool:
        """Fill a collection under another name, which gets its own when it is whole."""
        with self._client(folder) as client:
            if any(aliase.alias_name == content.name for aliase in client.get_aliases().aliases):
                return False
            _fill(client, content, self)
        return True


class QdrantRetriever(StoreRetriever[QdrantConfig]):
    """Searches a collection of Qdrant."""

    libraries = ("qdrant-client",)


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
    ) -> None:
        self.client, self._name = Reads(client, _READING), name
        self._vector, self._effort, self._only = vector, effort, only

    def passing(self) -> int:
        """Counted by the server, exactly."""
        return int(self.client.count(self._name, count_filter=qdrant_filter(self._only)).count)

    def facts(self) -> StoreFacts:
        """Of the vector that is searched; says how many rows have no index yet."""
        if not self.client.collection_exists(self._name):
            raise HarnessError(f"Qdrant has no collection {self._name!r}. Correct retrieve.collection.")
        info = self.client.get_collection(self._name)
        rows = self.client.count(self._name).count
        params = info.config.params.vectors
        if isinstance(params, dict):
            params = self._of_several(params)
        if not params:
            return StoreFacts(rows, index="sparse vectors alone")
        notes, indexed = [], info.indexed_vectors_count
        if info.status is not None and str(info.status.value) != "green":
            notes.append(f"Qdrant says {info.status.value}: it is still building or has failed to")
        hnsw = info.config.hnsw_config
        index = "scan" if not indexed else f"HNSW, m {hnsw.m}, ef_construct {hnsw.ef_construct}"
        if indexed and indexed < rows:
            notes.append(f"{rows - indexed} of {rows} rows are in no index yet and are scanned")
        return StoreFacts(
            rows,
            params.size,
            _DISTANCES.get(params.distance.value, params.distance.value),
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

    def rows(self, vectors: bool = False, limit: int | None = None) -> Iterator[StoredRow]:
        """Page by page, by the order of ids."""
        offset, left = None, limit
        with_vectors = False if not vectors else [self._vector] if self._vector else True
        while True:
            size = _PAGE if left is None else min(_PAGE, left)
            points, offset = self.client.scroll(
                self._name, limit=size, offset=offset, with_payload=True, with_vectors=with_vectors
            )
            for point in points:
                yield StoredRow(str(point.id), payload_of(point), self._vector_of(point))
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
        found = self._asked(requests)
        if not self._measures_distance():
            return found
        # as similarities, on the scale of our own scan
        return [[replace(row, score=-(row.score**2)) for row in rows] for rows in found]

    def _params(self, exact: bool) -> Any:
        """How to search; local mode has no index, and says so of every parameter."""
        from qdrant_client import models

        return models.SearchParams(hnsw_ef=self._effort, exact=exact) if self._effort else None

    def by_words(self, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """By the sparse vectors of words that `fill` has written."""
        from qdrant_client import models

        sparse = [_asked_words(text) for text in texts]
        return self._asked(
            [
                models.QueryRequest(query=query, using=_WORDS, limit=depth, with_payload=True)
                for query in sparse
            ],
            # a text without a word finds nothing
            [bool(query.indices) for query in sparse],
        )

    def hybrid(self, vectors: Floats, texts: Sequence[str], depth: int) -> list[list[StoredRow]]:
        """Both, fused by Qdrant's RRF."""
        from qdrant_client import models

        params, requests = self._params(exact=False), []
        for vector, text in zip(vectors, texts, strict=True):
            words = _asked_words(text)
            parts = [models.Prefetch(query=vector.tolist(), params=params, limit=depth)]
            if words.indices:
                parts.append(models.Prefetch(query=words, using=_WORDS, limit=depth))
            fusion = models.FusionQuery(fusion=models.Fusion.RRF)
            requests.append(models.QueryRequest(prefetch=parts, query=fusion, limit=depth, with_payload=True))
        return self._asked(requests)

    def _asked(self, requests: list[Any], asks: Sequence[bool] | None = None) -> list[list[StoredRow]]:
        kept = [request for request, ask in zip(requests, asks or [True] * len(requests), strict=True) if ask]
        answers = iter(self.client.query_batch_points(self._name, kept) if kept else [])
        found = [next(answers).points if ask else [] for ask in asks or [True] * len(requests)]
        return [[StoredRow(str(p.id), payload_of(p), None, p.score) for p in points] for points in found]

    def _measures_distance(self) -> bool:
        params = self.client.get_collection(self._name).config.params.vectors
        params = params.get(self._vector) if isinstance(params, dict) else params
        return params is not None and params.distance.value in ("Euclid", "Manhattan")


def payload_of(point: Any) -> dict[str, Any]:
    """The payload of a point by its keys, and under ``payload``."""
    payload = point.payload or {}
    return {**payload, "payload": payload}


def _copied(path: Path | None, scratch: Path) -> Path:
    if path is None or not path.is_dir():
        raise HarnessError(f"retrieve.path: there is no folder {path}. Name that of Qdrant's local mode.")
    place = scratch / "copy"
    shutil.copytree(path, place, ignore=shutil.ignore_patterns(".lock"))
    return place


def _fill(client: Any, content: Content, c: QdrantConfig) -> None:
    from qdrant_client import models

    distances = {ours: theirs for theirs, ours in _DISTANCES.items()}
    place = f"{content.name}_{uuid.uuid4().hex[:8]}"
    vectors = content.vectors
    client.create_collection(
        place,
        vectors_config={}
        if vectors is None
        else models.VectorParams(size=vectors.shape[1], distance=models.Distance(distances[c.distance])),
        sparse_vectors_config=None
        if c.search == "vectors"
        else {_WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        hnsw_config=models.HnswConfigDiff(m=c.max_neighbors, ef_construct=c.ef_construction),
    )
    words = None if c.search == "vectors" else _words_of(content.texts)
    for begin in range(0, content.count, _PAGE):
        points = []
        for row in range(begin, min(begin + _PAGE, content.count)):
            named: dict[str, Any] = {} if vectors is None else {"": vectors[row].tolist()}
            if words is not None:
                named[_WORDS] = words[row]
            points.append(models.PointStruct(id=row, vector=named))
        client.upsert(place, points, wait=True)
    _wait(client, place)
    create = models.CreateAlias(collection_name=place, alias_name=content.name)
    client.update_collection_aliases([models.CreateAliasOperation(create_alias=create)])


def _wait(client: Any, name: str) -> None:
    """Until the server has built its index; raises HarnessError where it says that it failed."""
    for _ in range(_LOOKS):
        status = client.get_collection(name).status.value
        if status == "green":
            return
        if status == "red":
            break
        time.sleep(_POLL)
    raise HarnessError(f"Qdrant has not built the index of {name} (it says {status}). Look at its log.")


def _analyser() -> Analyser:
    return Analyser("auto", "long", "")


def _number(term: str) -> int:
    """A number for a term, the same on every machine."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def _words_of(texts: Sequence[str]) -> list[Any]:
    """The terms of each text as a sparse vector: what BM25 gives for their frequency; Qdrant adds rarity."""
    from qdrant_client import models

    analyser = _analyser()
    terms = [analyser.terms(text) for text in texts]
    lengths = np.array([len(each) for each in terms], dtype=np.int64)
    saturation = Saturation("lucene", _K1, _B, float(lengths.mean()) if len(lengths) else 1.0)
    vectors = []
    for each, length in zip(terms, lengths, strict=True):
        counts = Counter(map(_number, each))
        frequencies = np.array(list(counts.values()), dtype=np.float64)
        values = saturation(frequencies, np.full(len(counts), length)).tolist() if counts else []
        vectors.append(models.SparseVector(indices=list(counts), values=values))
    return vectors


def _asked_words(text: str) -> Any:
    from qdrant_client import models

    counts = Counter(map(_number, _analyser().terms(text)))
    return models.SparseVector(indices=list(counts), values=[float(times) for times in counts.values()])
