"""Search in Qdrant: a server by its address, or its local mode, which scans a folder (extra `qdrant`)."""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from harness.models import EncoderConfig, SparseConfig
from harness.steps.search.retrieve.qdrant_collection import (
    DISTANCES,
    QdrantCollection,
    StoredWords,
    sparse_of,
)
from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.retrieve.sparse_words import LANGUAGES, FastEmbedBm25, HarnessBm25
from harness.steps.search.retrieve.store_config import StoreConfig, secret_of, store_url, variable_name
from harness.steps.search.retrieve.store_search import StoreRetriever
from harness.steps.search.retrieve.stored import Content, StoredCollection, store_faults
from harness.steps.search.step import Identity
from harness.values import HarnessError

_PAGE = 1000
_WORDS = "words"
_BM25 = "Qdrant/bm25"
_OURS = HarnessBm25()
_OF_OTHERS = ("sparse_vector", "sparse_model", "language")
# seconds between looks at an index that a server builds, and how often it is looked at
_POLL, _LOOKS = 0.5, 2400


class QdrantConfig(StoreConfig):
    """A collection of Qdrant: dense vectors (HNSW on a server), sparse ones of words, or both by RRF."""

    packages: ClassVar = ("qdrant_client",)
    extra: ClassVar = "qdrant"
    searches: ClassVar = ("vectors", "words", "hybrid")
    existing_searches: ClassVar = ("vectors", "words", "hybrid")
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
    sparse_vector: str = Field(
        "",
        description="With `existing`: the name of the sparse vector of words; empty: the only one there is.",
    )
    sparse_model: str = Field(
        _BM25,
        description="With `existing`: what made the sparse vectors. `Qdrant/bm25` as FastEmbed makes it, or "
        "a sparse encoder of sentence-transformers, such as SPLADE: hub id or local folder.",
    )
    language: Literal[LANGUAGES] = Field(  # type: ignore[valid-type]
        "english", description="With `existing`: the language of `Qdrant/bm25`."
    )
    fusion: Literal["rrf", "dbsf"] = Field(
        "rrf",
        description="How Qdrant fuses a hybrid search: by reciprocal ranks, or by scores, each scaled by "
        "its mean and deviation (`dbsf`).",
    )
    max_neighbors: int = Field(16, ge=2, description="HNSW: edges per node.")
    ef_construction: int = Field(100, ge=4, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(128, ge=1, description="HNSW: candidates looked at when searching.")

    @model_validator(mode="after")
    def _fits_place(self) -> QdrantConfig:
        if self.existing and (self.url is None) == (self.path is None):
            raise ValueError("existing: give the url of the server, or the path of a local folder")
        if not self.existing and self.path is not None:
            raise ValueError("path: only with existing: true; what is filled here lies in the cache folder")
        if not self.existing and (others := sorted({*_OF_OTHERS} & self.model_fields_set)):
            raise ValueError(f"{', '.join(others)}: only with existing: true")
        if "language" in self.model_fields_set and self.sparse_model != _BM25:
            raise ValueError(f"language: only {_BM25} has one; omit it, or sparse_model")
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
        """The candidates, the fusion, and what is searched by words."""
        words = [self.sparse_vector, self.sparse_model, self.language] if self.existing else []
        return [self.ef_search, self.vector, self.fusion, words]

    @property
    def sparse(self) -> bool:
        """Where it is searched by words too."""
        return self.existing and self.search != "vectors"

    def share_of_words(self, text: str, words: SparseVector) -> float:
        """By the BM25 of FastEmbed, whose weights depend on the collection that it was told of."""
        return words.share_in(FastEmbedBm25(self.language).passage(text))

    @property
    def embed_sparse(self) -> EncoderConfig | None:
        """The model of the sparse vectors; None for BM25, and where they are not searched."""
        if not self.sparse or self.sparse_model == _BM25:
            return None
        return self.made(SparseConfig).model_copy(update={"model": self.sparse_model, "role": "query"})

    def _words(self) -> StoredWords | None:
        if self.search == "vectors":
            return None
        alone = self.search == "words"
        if not self.existing:
            return StoredWords(_WORDS, _OURS, self.fusion, alone)
        bm25 = FastEmbedBm25(self.language) if self.sparse_model == _BM25 else None
        return StoredWords(self.sparse_vector, bm25, self.fusion, alone)

    @contextmanager
    def reading(self, name: str, folder: Path | None = None) -> Iterator[StoredCollection]:
        """The collection; a local folder of others is copied, as Qdrant locks what it opens."""
        with self._client(None if self.existing else folder) as client:
            effort = self.ef_search if self.remote else None
            yield QdrantCollection(client, name, self.vector, effort, self.only, self._words())

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


def _copied(path: Path | None, scratch: Path) -> Path:
    if path is None or not path.is_dir():
        raise HarnessError(f"retrieve.path: there is no folder {path}. Name that of Qdrant's local mode.")
    place = scratch / "copy"
    shutil.copytree(path, place, ignore=shutil.ignore_patterns(".lock"))
    return place


def _fill(client: Any, content: Content, c: QdrantConfig) -> None:
    from qdrant_client import models

    distances = {ours: theirs for theirs, ours in DISTANCES.items()}
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
    words = None if c.search == "vectors" else _OURS.passages(content.texts)
    for begin in range(0, content.count, _PAGE):
        points = []
        for row in range(begin, min(begin + _PAGE, content.count)):
            named: dict[str, Any] = {} if vectors is None else {"": vectors[row].tolist()}
            if words is not None:
                named[_WORDS] = sparse_of(words[row])
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
