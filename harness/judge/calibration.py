"""Scores of a model → grades: by a monotone fit to the grades of people, or by cuts that are stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.values import MAX_GRADE

Floats = NDArray[np.float64]
FEWEST_LABELS = 30


Cuts = tuple[float, ...]
"""The scores above which grades 1, 2, 3 and 4 begin; infinite for a grade that no score or every one has."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores become grades: by ``cuts``; ``labels`` is to how many grades of people they are fitted.

    ``without`` has for each query whose grades are among these the cuts fitted to the others.
    """

    cuts: Cuts
    labels: int = 0
    without: Mapping[str, Cuts] = field(default_factory=dict)

    def grade(self, query_id: str, score: float) -> int:
        """The grade of a score; a query's own grades do not count."""
        return int(np.searchsorted(self.without.get(query_id, self.cuts), score, side="left"))


def isotonic_cuts(scores: Floats, grades: Floats) -> Cuts:
    """Where the rising function of the score that is nearest to the grades passes from one to the next.

    It has the least squared error, by pooling adjacent violators (Barlow, Bartholomew, Bremner and Brunk,
    *Statistical Inference under Order Restrictions*, 1972), and runs straight between scores. Doubt goes to
    the lower grade: grade g begins where it exceeds g - 0.5.
    """
    # a third of a second, which only a fit has to wait for
    from scipy.optimize import isotonic_regression

    levels, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(places, weights=grades) / counts
    fitted = isotonic_regression(means, weights=counts.astype(np.float64)).x
    cuts: list[float] = []
    for half in np.arange(MAX_GRADE) + 0.5:
        above = int(np.searchsorted(fitted, half, side="right"))
        if above in (0, len(fitted)):
            cuts.append(np.inf if above else -np.inf)
            continue
        (left, right), (low, high) = levels[above - 1 : above + 1], fitted[above - 1 : above + 1]
        cuts.append(float(left + (right - left) * (half - low) / (high - low)))
    return tuple(cuts)


def calibrate(query_ids: Sequence[str], scores: Floats, grades: Floats) -> Calibration | None:
    """The fit to the grades that people gave for train queries; None where they are too few for one.

    Whatever query is left out, 30 have to remain, some of them 0 and some not: who labels only what is
    relevant does not say where relevance ends.
    """
    of = np.array(query_ids)
    rest = {query_id: of != query_id for query_id in dict.fromkeys(query_ids)}
    for kept in rest.values():
        if kept.sum() < FEWEST_LABELS or not 0 < np.count_nonzero(grades[kept]) < kept.sum():
            return None
    if not rest:
        return None
    without = {query_id: isotonic_cuts(scores[kept], grades[kept]) for query_id, kept in rest.items()}
    return Calibration(isotonic_cuts(scores, grades), len(of), without)
