"""The YAML file of a benchmark → a frozen `BenchConfig` with one `Setting` per point of the sweep."""

from harness.config.load import load_config
from harness.config.models import BenchConfig, LatencyConfig, RelevanceConfig, Setting, parsers_of
