"""Retrievers: (passages, queries) → rankings. One file a kind; fusions of several stand in `fuse`."""

from typing import Any

from harness.kinds import Kind, Kinds
from harness.search.fuse import Rrf, RrfConfig
from harness.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.search.retrieve.python import PythonConfig, PythonRetriever
from harness.search.step import Retriever

KINDS: Kinds[Retriever[Any]] = Kinds(
    "retrieve",
    Kind(ChromaConfig, ChromaRetriever),
    Kind(RrfConfig, Rrf),
    Kind(PythonConfig, PythonRetriever),
)

__all__ = ["KINDS", "ChromaConfig", "ChromaRetriever"]
