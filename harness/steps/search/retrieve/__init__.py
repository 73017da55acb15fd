"""Retrievers: (passages, queries) → rankings. One file per kind; fusions of several are in `fuse`."""

from typing import Any

from harness.steps.search.step import Retriever
from harness.values import KindAt, Kinds

KINDS: Kinds[Retriever[Any]] = Kinds(
    "retrieve",
    KindAt("chroma", "ChromaConfig", "ChromaRetriever"),
    KindAt("exact", "ExactConfig", "ExactRetriever"),
    KindAt("faiss", "FaissConfig", "FaissRetriever"),
    KindAt("bm25", "Bm25Config", "Bm25Retriever"),
    KindAt("concatenated", "ConcatenatedConfig", "ConcatenatedRetriever"),
    KindAt("learned_sparse", "LearnedSparseConfig", "LearnedSparseRetriever"),
    KindAt("multi_vector", "MultiVectorConfig", "MultiVectorRetriever"),
    KindAt("rrf", "RrfConfig", "Rrf", module="harness.steps.search.fuse.rrf"),
    KindAt("minmax", "MinMaxConfig", "MinMax", module="harness.steps.search.fuse.scores"),
    KindAt("weighted", "WeightedConfig", "Weighted", module="harness.steps.search.fuse.scores"),
    KindAt("python", "PythonConfig", "PythonRetriever"),
    KindAt("http", "HttpRetrieverConfig", "HttpRetriever"),
    retired=dict.fromkeys(("zscore", "dbsf"), "Use `minmax`, which also fuses by rescaled scores."),
    home=__name__,
)
