"""Made-up scores that look like NDCG: coarse, tied between settings, often zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

CUTOFF = 10


@dataclass(frozen=True, slots=True)
class Population:
    """Queries to draw: on a share of ``ties`` all settings score alike, on a share of ``zeros`` all fail.

    Coarse scores tie besides; the name says how many of the scores of two equal settings tie, and are zero.
    """

    name: str
    ties: float
    zeros: float


POPULATIONS = (
    Population("36 % ties, 23 % zeros", 0.0, 0.1),
    Population("55 % ties, 23 % zeros", 0.3, 0.1),
    Population("72 % ties, 57 % zeros", 0.2, 0.5),
    Population("74 % ties, 23 % zeros", 0.6, 0.1),
)
EQUAL = 1.0
BETTER = 0.6


def draw(
    population: Population, shifts: Sequence[float], shape: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Scores [settings, *shape]: 1 / log2(rank + 1) of the one relevant item, 0 beyond rank 10.

    A query has a difficulty that all settings share; a setting's ``shift`` scales it, less being better.
    """
    difficulty = rng.gamma(1.2, 4.0, shape)
    rank = 1 + np.stack([rng.poisson(difficulty * shift) for shift in shifts])
    scores = np.where(rank <= CUTOFF, 1 / np.log2(rank + 1), 0.0)
    tied = rng.random(shape) < population.ties
    scores = np.where(tied, scores[0], scores)
    return np.where(rng.random(shape) < population.zeros, 0.0, scores)


@cache
def true_difference(population: Population, shift: float, seed: int = 99) -> float:
    """The mean score at ``shift`` minus that of an ordinary setting, over four million queries."""
    if shift == EQUAL:
        return 0.0
    rng = np.random.default_rng(seed)
    blocks = [draw(population, (EQUAL, shift), (400_000,), rng) for _ in range(10)]
    return float(np.mean([np.mean(block[1] - block[0]) for block in blocks]))
