"""How far people, or people and models, agree who have graded the same items: one table for every room."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.comparison.stats.agreement import cohen_kappa, krippendorff_alpha

Grades = Mapping[str, Mapping[Hashable, int]]
"""By rater, then by item, grades from 0 up."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two raters on the ``items`` that both have graded; a figure is NaN where it is undefined.

    ``exact`` and ``near`` are the shares of items with equal grades, and with grades at most one apart;
    ``kappa`` is Cohen's, ``kappa_quadratic`` weighted by the square of the distance, ``alpha`` Krippendorff's
    for ordinal grades.
    """

    first: str
    second: str
    items: int
    exact: float
    near: float
    kappa: float
    kappa_quadratic: float
    alpha: float

    def __str__(self) -> str:
        """In a sentence."""
        named = (
            ("Cohen's kappa", self.kappa),
            ("quadratic", self.kappa_quadratic),
            ("Krippendorff's alpha (ordinal)", self.alpha),
        )
        figures = [f"{name} {value:.2f}" for name, value in named if value == value]
        rest = ", ".join(figures) or "coefficients undefined: one grade throughout"
        passages = f"{self.items:,} passage{'' if self.items == 1 else 's'}"
        return f"{self.first} and {self.second}: {passages}, the same grade for {self.exact:.0%}; {rest}."


def pair_agreements(grades: Grades) -> list[PairAgreement]:
    """Every two raters, in the order of ``grades``; those without a common item have 0 items and NaN."""
    return [_pair(one, other, grades) for one, other in combinations(grades, 2)]


def alpha_of_all(grades: Grades) -> tuple[int, float]:
    """How many items have two grades or more, and Krippendorff's alpha for ordinal grades over them."""
    items = list(dict.fromkeys(item for own in grades.values() for item in own))
    matrix = np.array([[own.get(item, np.nan) for item in items] for own in grades.values()], dtype=float)
    shared = int((np.sum(~np.isnan(matrix), axis=0) > 1).sum()) if items else 0
    return shared, krippendorff_alpha(matrix, "ordinal") if shared else float("nan")


def _pair(first: str, second: str, grades: Grades) -> PairAgreement:
    both = [item for item in grades[first] if item in grades[second]]
    if not both:
        return PairAgreement(first, second, 0, *[float("nan")] * 5)
    one = np.array([grades[first][item] for item in both])
    two = np.array([grades[second][item] for item in both])
    apart, scale = np.abs(one - two), int(max(one.max(), two.max())) + 1
    return PairAgreement(
        first,
        second,
        len(both),
        float((apart == 0).mean()),
        float((apart <= 1).mean()),
        cohen_kappa(one, two, scale),
        cohen_kappa(one, two, scale, "quadratic"),
        krippendorff_alpha(np.array([one, two], dtype=float)),
    )
