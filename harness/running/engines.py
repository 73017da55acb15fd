"""The engine that a configuration names."""

from __future__ import annotations

from harness.running.engine import Engine, EngineConfig, LocalEngine
from harness.values import Reporter


def make_engine(config: EngineConfig, reporter: Reporter) -> Engine:
    """The engine of a configuration; a cluster is looked for when the first job is given to it."""
    if config.kind == "local":
        return LocalEngine()
    # imported only here: the core does without Ray
    from harness.running.ray_engine import RayEngine

    return RayEngine(config, reporter)
