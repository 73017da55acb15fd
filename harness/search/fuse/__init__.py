"""Fusions: several rankings → one. One file a kind; each is a retriever whose routes are retrievers."""

from harness.search.fuse.routes import Fusion, FusionConfig, route_names
from harness.search.fuse.rrf import Rrf, RrfConfig

__all__ = ["Fusion", "FusionConfig", "Rrf", "RrfConfig", "route_names"]
