"""The YAML file of a benchmark → a frozen `BenchConfig` with one `Setting` per point of the sweep."""

from harness.config.load import load_config
from harness.config.models import BenchConfig, BootstrapConfig, LatencyConfig, Setting
from harness.config.relevance import RelevanceConfig

__all__ = ["BenchConfig", "BootstrapConfig", "LatencyConfig", "RelevanceConfig", "Setting", "load_config"]
