"""How means are given intervals, and how settings are tested against each other."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.values import StageConfig


class BootstrapConfig(StageConfig):
    """The intervals and tests of means over queries."""

    resamples: int = Field(
        10_000, ge=100, description="Sign flips of a test; bootstrap resamples of answerability."
    )
    level: float = Field(0.95, gt=0.5, lt=1, description="Confidence level.")
    seed: int = Field(7, ge=0, description="Seed of both.")
    clusters: Literal["documents", "near_duplicates"] = Field(
        "documents",
        description="What is tested as one where the query file has no `cluster`: the queries on one "
        "document (`documents`), or those that ask the same thing of the same evidence in other words "
        "(`near_duplicates`), every other query alone.",
    )
