"""Retrievers: (passages, queries) → rankings. One file per kind; fusions of several are in `fuse`."""

from typing import Any

from harness.kinds import Kind, Kinds
from harness.search.fuse import FUSIONS, RETIRED
from harness.search.retrieve.bm25 import Bm25Config, Bm25Retriever
from harness.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.search.retrieve.concatenated import ConcatenatedConfig, ConcatenatedRetriever
from harness.search.retrieve.exact import ExactConfig, ExactRetriever
from harness.search.retrieve.faiss import FaissConfig, FaissRetriever
from harness.search.retrieve.http import HttpConfig, HttpRetriever
from harness.search.retrieve.learned_sparse import LearnedSparseConfig, LearnedSparseRetriever
from harness.search.retrieve.multi_vector import MultiVectorConfig, MultiVectorRetriever
from harness.search.retrieve.python import PythonConfig, PythonRetriever
from harness.search.step import Retriever

KINDS: Kinds[Retriever[Any]] = Kinds(
    "retrieve",
    Kind(ChromaConfig, ChromaRetriever),
    Kind(ExactConfig, ExactRetriever),
    Kind(FaissConfig, FaissRetriever),
    Kind(Bm25Config, Bm25Retriever),
    Kind(ConcatenatedConfig, ConcatenatedRetriever),
    Kind(LearnedSparseConfig, LearnedSparseRetriever),
    Kind(MultiVectorConfig, MultiVectorRetriever),
    *FUSIONS,
    Kind(PythonConfig, PythonRetriever),
    Kind(HttpConfig, HttpRetriever),
    retired=RETIRED,
)
