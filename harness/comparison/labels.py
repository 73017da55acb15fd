"""A difference between chunkings counts only if its sign does not depend on the length of the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.comparison.paired import Comparison

# Pairs of settings, in either order, whose difference changes sign when labels are drawn in these ways.
Turning = Mapping[tuple[str, str], tuple[str, ...]]


def ways_that_turn(one: Comparison, turning: Turning) -> tuple[str, ...]:
    """The ways of drawing the labels under which a comparison has another sign; empty where it holds."""
    return turning.get((one.setting, one.against)) or turning.get((one.against, one.setting), ())


def held_to_labels(found: Iterable[Comparison], turning: Turning | None) -> list[Comparison]:
    """The comparisons, those called ``turns`` that are real by their test and whose sign turns.

    ``turning`` is None if labels were not redrawn: then the test alone decides.
    """
    return [
        replace(one, finding="turns") if turning and one.real and ways_that_turn(one, turning) else one
        for one in found
    ]
