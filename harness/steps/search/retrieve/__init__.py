"""Retrievers: (passages, queries) → rankings. One file per kind; fusions of several are in `fuse`."""

from typing import Any

from harness.steps.search.fuse import FUSIONS, RETIRED
from harness.steps.search.retrieve.bm25 import Bm25Config, Bm25Retriever
from harness.steps.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.steps.search.retrieve.concatenated import ConcatenatedConfig, ConcatenatedRetriever
from harness.steps.search.retrieve.exact import ExactConfig, ExactRetriever
from harness.steps.search.retrieve.faiss import FaissConfig, FaissRetriever
from harness.steps.search.retrieve.http import HttpConfig, HttpRetriever
from harness.steps.search.retrieve.learned_sparse import LearnedSparseConfig, LearnedSparseRetriever
from harness.steps.search.retrieve.multi_vector import MultiVectorConfig, MultiVectorRetriever
from harness.steps.search.retrieve.python import PythonConfig, PythonRetriever
from harness.steps.search.step import Retriever
from harness.values import Kind, Kinds

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
