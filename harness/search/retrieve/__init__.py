"""Query → Ranking over the chunks of one setting."""

from harness.kinds import Kind
from harness.search.retrieve.chroma import ChromaConfig, ChromaRetriever, Retrieved

KINDS: dict[str, Kind] = {"chroma": Kind(ChromaConfig, ChromaRetriever)}

__all__ = ["KINDS", "ChromaConfig", "ChromaRetriever", "Retrieved"]
