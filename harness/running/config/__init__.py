"""The YAML file of a benchmark → a frozen `BenchConfig` with one `Setting` per point of the sweep."""

from harness.running.config.load import load_config
from harness.running.config.models import BenchConfig, LatencyConfig, RelevanceConfig, Setting, parsers_of
