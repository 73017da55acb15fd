"""Fusions: several rankings → one. One file per kind; each is a retriever whose routes are retrievers."""

from typing import Any

from harness.steps.search.fuse.minmax import MinMax, MinMaxConfig
from harness.steps.search.fuse.routes import Fusion, route_names
from harness.steps.search.fuse.rrf import Rrf, RrfConfig
from harness.steps.search.fuse.weighted import Weighted, WeightedConfig
from harness.values import Kind

FUSIONS: tuple[Kind[Any, Fusion[Any]], ...] = (
    Kind(RrfConfig, Rrf),
    Kind(MinMaxConfig, MinMax),
    Kind(WeightedConfig, Weighted),
)
RETIRED = dict.fromkeys(("zscore", "dbsf"), "Use `minmax`, which also fuses by rescaled scores.")
