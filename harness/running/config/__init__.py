"""The YAML file of a benchmark → a frozen `BenchConfig` with one `Setting` per point of the sweep."""
