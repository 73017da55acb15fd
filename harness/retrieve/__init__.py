"""Query → Ranking over the chunks of one setting."""

from harness.kinds import Kind
from harness.retrieve.chroma import ChromaConfig, ChromaRetriever, exact_share

KINDS: dict[str, Kind] = {"chroma": Kind(ChromaConfig, ChromaRetriever)}

__all__ = ["KINDS", "ChromaConfig", "ChromaRetriever", "exact_share"]
