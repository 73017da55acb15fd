"""Approximate nearest neighbours by the indexes of FAISS (extra `faiss`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from harness.steps.search.dense import DenseConfig, Floats
from harness.steps.search.retrieve.approximate import ApproximateRetriever, Hits
from harness.steps.search.step import Identity
from harness.values import ConfigError, HarnessError, Slot, first_line

_SEED = 1234
_FILE = "index.faiss"
# The keys of each index; the last one says how hard it is searched, and the others decide it.
_KEYS = {
    "hnsw": ("max_neighbors", "ef_construction", "ef_search"),
    "ivf_flat": ("nlist", "nprobe"),
    "ivf_pq": ("nlist", "m", "nbits", "nprobe"),
}


class FaissConfig(DenseConfig):
    """An index of FAISS: a graph (HNSW), or cells of whole (IVF-Flat) or coded vectors (IVF-PQ)."""

    kind: Literal["faiss"] = "faiss"
    index: Literal["hnsw", "ivf_flat", "ivf_pq"] = Field("hnsw", description="The index.")
    max_neighbors: int = Field(32, ge=2, description="HNSW: edges per node.")
    ef_construction: int = Field(200, ge=1, description="HNSW: candidates looked at when building.")
    ef_search: int = Field(64, ge=1, description="HNSW: candidates looked at when searching.")
    nlist: int = Field(64, ge=1, description="IVF: number of cells; at most the number of chunks.")
    nprobe: int = Field(8, ge=1, description="IVF: cells searched for a query.")
    m: int = Field(48, ge=1, description="IVF-PQ: parts of a vector, each a code; divides its dimension.")
    nbits: int = Field(
        8, ge=1, le=12, description="IVF-PQ: bits of a code; takes 2^nbits chunks or more to learn."
    )

    def check_ready(self) -> None:
        """Raise ConfigError where the package is missing, without loading it."""
        if find_spec("faiss") is None:
            raise ConfigError(
                "retrieve: the kind faiss is not installed. Install it: pip install 'ndcg-harness[faiss]', "
                "or use kind: chroma or kind: exact."
            )

    @model_validator(mode="after")
    def _fits_the_index(self) -> FaissConfig:
        if others := self.model_fields_set & {*chain(*_KEYS.values())} - {*_KEYS[self.index]}:
            raise ValueError(f"index {self.index} has no {', '.join(sorted(others))}: list it by itself")
        if self.nprobe > self.nlist:
            raise ValueError(f"nprobe {self.nprobe} is more than the {self.nlist} cells of nlist")
        return self


class FaissRetriever(ApproximateRetriever[FaissConfig]):
    """Builds an index once per content and searches it as it is: ``exact_share`` is its recall.

    Scores are the index's own; those of IVF-PQ are estimates. One thread and a fixed seed: the same vectors
    give the same index.
    """

    estimates = True

    def built_by(self) -> Identity:
        """FAISS' version and the index."""
        import faiss

        c = self.config
        values = [getattr(c, key) for key in _KEYS[c.index][:-1]]
        return [faiss.__version__, [c.index, c.distance, _SEED, values]]

    def effort(self) -> Identity:
        """How many candidates or cells are looked at."""
        return [getattr(self.config, _KEYS[self.config.index][-1])]

    def hits(self, index: Any, query_vectors: Floats, wanted: int) -> Iterator[Hits]:
        """The hits of the index, searched on one thread."""
        with _one_thread():
            similar, rows_found = index.search(self.scaled(query_vectors), wanted)
        scores = (-similar if self.config.distance == "l2" else similar).astype(np.float64)
        for rows, similarities in zip(rows_found.astype(np.int64), scores, strict=True):
            # -1 stands for a place that the index could not fill
            yield rows[rows >= 0], similarities[rows >= 0]

    def scaled(self, vectors: Floats) -> Floats:
        """Vectors whose inner products are the similarities asked for."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        if self.config.distance == "cosine":
            rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + np.float32(1e-30))
        return rows

    @contextmanager
    def opened(self, place: Slot, vectors: Floats) -> Iterator[Any]:
        """The index, to be searched as hard as is asked for.

        Raises HarnessError if there are too few chunks to learn it from, or ``m`` does not divide the
        dimension of the vectors.
        """
        import faiss

        c = self.config
        if place.built:
            index: Any = faiss.read_index(str(place.path / _FILE))
        else:
            start = perf_counter()
            with _one_thread():
                index = self._build(vectors)
            _write(index, place.path)
            place.finish()
            place.filled(perf_counter() - start, None)
        if c.index == "hnsw":
            index.hnsw.efSearch = c.ef_search
        else:
            index.nprobe = c.nprobe
        yield index

    def _build(self, vectors: Floats) -> Any:
        import faiss

        c = self.config
        count, dimension = vectors.shape
        metric = faiss.METRIC_L2 if c.distance == "l2" else faiss.METRIC_INNER_PRODUCT
        if c.index == "hnsw":
            index: Any = faiss.IndexHNSWFlat(dimension, c.max_neighbors, metric)
            index.hnsw.efConstruction = c.ef_construction
        else:
            self._check(count, dimension)
            flat = faiss.IndexFlat(dimension, metric)
            if c.index == "ivf_flat":
                index = faiss.IndexIVFFlat(flat, dimension, c.nlist, metric)
            else:
                index = faiss.IndexIVFPQ(flat, dimension, c.nlist, c.m, c.nbits, metric)
                _set_learning(index.pq.cp)
            _set_learning(index.cp)
            index.train(vectors)
        index.add(vectors)
        return index

    def _check(self, count: int, dimension: int) -> None:
        """Raise HarnessError if the index cannot be trained on this number of vectors."""
        c = self.config
        if count < c.nlist:
            raise HarnessError(
                f"faiss: nlist is {c.nlist}, and there are {count} different chunks; each cell takes one or "
                "more. Lower retrieve.nlist, or search so few with kind: exact."
            )
        if c.index == "ivf_pq" and dimension % c.m:
            raise HarnessError(
                f"faiss: m is {c.m}, which does not divide the {dimension} dimensions of {c.model}."
            )
        if c.index == "ivf_pq" and count < 2**c.nbits:
            raise HarnessError(
                f"faiss: nbits is {c.nbits}, which takes {2**c.nbits} different chunks to learn; there are "
                f"{count}. Lower retrieve.nbits, or use index: ivf_flat."
            )


def _write(index: Any, folder: Path) -> None:
    import faiss

    folder.mkdir(parents=True)
    try:
        faiss.write_index(index, str(folder / _FILE))
    except RuntimeError as error:
        # a full disk is told by who gave the folder
        raise HarnessError(
            f"faiss cannot write its index to {folder.parent.parent} ({first_line(error)}). Check the disk, "
            "or name another folder as cache."
        ) from error


def _set_learning(clustering: Any) -> None:
    clustering.seed = _SEED
    # k-means learns from few points as well; faiss would print a warning
    clustering.min_points_per_centroid = 1


@contextmanager
def _one_thread() -> Iterator[None]:
    """The order in which threads insert decides a graph, so there is one."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
