"""Retrievers: (passages, queries) → rankings. One file per kind; fusions of several are in `fuse`."""

from typing import Any

from harness.steps.search.step import Retriever
from harness.values import KindAt, Kinds

KINDS: Kinds[Retriever[Any]] = Kinds(
    "retrieve",
    KindAt("chroma", "ChromaConfig", "ChromaRetriever", words="vector search"),
    KindAt("exact", "ExactConfig", "ExactRetriever", words="vector search"),
    KindAt("faiss", "FaissConfig", "FaissRetriever", words="vector search"),
    KindAt("bm25", "Bm25Config", "Bm25Retriever", words="keyword search"),
    KindAt(
        "concatenated", "ConcatenatedConfig", "ConcatenatedRetriever", words="keywords and vectors as one"
    ),
    KindAt("learned_sparse", "LearnedSparseConfig", "LearnedSparseRetriever", words="learned keyword search"),
    KindAt("multi_vector", "MultiVectorConfig", "MultiVectorRetriever", words="token vector search"),
    KindAt("rrf", "RrfConfig", "Rrf", module="harness.steps.search.fuse.scores"),
    KindAt("minmax", "MinMaxConfig", "MinMax", module="harness.steps.search.fuse.scores"),
    KindAt("weighted", "WeightedConfig", "Weighted", module="harness.steps.search.fuse.scores"),
    KindAt("python", "PythonConfig", "PythonRetriever", words="own search"),
    KindAt("http", "HttpRetrieverConfig", "HttpRetriever", words="own search"),
    retired=dict.fromkeys(("zscore", "dbsf"), "Use `minmax`, which also fuses by rescaled scores."),
    home=__name__,
)
