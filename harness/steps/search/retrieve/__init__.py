"""Retrievers: (passages, queries) → rankings. One file per kind; fusions of several are in `fuse`."""

from typing import Any

from harness.steps.search.step import Retriever
from harness.values import KindAt, Kinds

_VECTORS, _BOTH = ("vectors",), ("words", "vectors")

KINDS: Kinds[Retriever[Any]] = Kinds(
    "retrieve",
    KindAt(
        "chroma",
        "ChromaConfig",
        "ChromaRetriever",
        words="vector search",
        by=_VECTORS,
        tries=(
            {"model": "embedded:all-MiniLM-L6-v2"},
            {"model": "BAAI/bge-m3"},
            {"model": "BAAI/bge-small-en-v1.5"},
        ),
    ),
    KindAt("exact", "ExactConfig", "ExactRetriever", words="vector search", by=_VECTORS),
    KindAt("faiss", "FaissConfig", "FaissRetriever", words="vector search", by=_VECTORS),
    KindAt("qdrant", "QdrantConfig", "QdrantRetriever", words="search in Qdrant", by=_BOTH),
    KindAt("lancedb", "LancedbConfig", "LancedbRetriever", words="search in LanceDB", by=_BOTH),
    KindAt("opensearch", "OpensearchConfig", "OpensearchRetriever", words="search in OpenSearch", by=_BOTH),
    KindAt(
        "elasticsearch",
        "ElasticsearchConfig",
        "ElasticsearchRetriever",
        module="harness.steps.search.retrieve.opensearch",
        words="search in Elasticsearch",
        by=_BOTH,
    ),
    KindAt("pgvector", "PgvectorConfig", "PgvectorRetriever", words="search in PostgreSQL", by=_BOTH),
    KindAt("bm25", "Bm25Config", "Bm25Retriever", words="keyword search", by=("words",), tries=({},)),
    KindAt(
        "concatenated",
        "ConcatenatedConfig",
        "ConcatenatedRetriever",
        words="keywords and vectors as one",
        by=_BOTH,
    ),
    KindAt(
        "learned_sparse",
        "LearnedSparseConfig",
        "LearnedSparseRetriever",
        words="learned keyword search",
        by=_BOTH,
    ),
    KindAt(
        "multi_vector",
        "MultiVectorConfig",
        "MultiVectorRetriever",
        words="token vector search",
        by=_VECTORS,
    ),
    KindAt("rrf", "RrfConfig", "Rrf", module="harness.steps.search.fuse.scores"),
    KindAt("minmax", "MinMaxConfig", "MinMax", module="harness.steps.search.fuse.scores", tries=({},)),
    KindAt("weighted", "WeightedConfig", "Weighted", module="harness.steps.search.fuse.scores"),
    KindAt("python", "PythonConfig", "PythonRetriever", words="own search"),
    KindAt("http", "HttpRetrieverConfig", "HttpRetriever", words="own search service"),
    retired=dict.fromkeys(("zscore", "dbsf"), "Use `minmax`, which also fuses by rescaled scores."),
    home=__name__,
)
