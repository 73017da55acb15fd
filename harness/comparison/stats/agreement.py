"""Agreement of two graders on the same items: chance-corrected coefficients, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.comparison.stats.association import kendall_rows
from harness.comparison.stats.interval import Interval
from harness.comparison.stats.resample import bootstrap

Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]


def confusion_matrix(human: np.ndarray, judge: np.ndarray, grades: int) -> np.ndarray:
    """Counts of shape (grades, grades): row = the human grade, column = the judge's."""
    matrix = np.zeros((grades, grades), dtype=np.int64)
    np.add.at(matrix, (human, judge), 1)
    return matrix


def cohen_kappa(human: np.ndarray, judge: np.ndarray, grades: int, weights: Weights = "none") -> float:
    """Cohen's kappa (Cohen 1960), or weighted by the distance of the grades (Cohen 1968).

    NaN if it is undefined: no pairs, or both say one and the same grade throughout.
    """
    matrix = confusion_matrix(human, judge, grades).astype(float)
    total = matrix.sum()
    distance = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(float)
    cost = {"none": (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[weights]
    if not total:
        return float("nan")
    expected = (cost * np.outer(matrix.sum(axis=1), matrix.sum(axis=0))).sum() / total
    return float(1 - (cost * matrix).sum() / expected) if expected else float("nan")


def krippendorff_alpha(ratings: np.ndarray, level: Level = "ordinal") -> float:
    """Krippendorff's alpha of ratings of shape (raters, units), NaN if a rater has not rated a unit.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). NaN if it is undefined:
    fewer than two ratings that share a unit, or all of them equal.
    """
    kept = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    values = np.unique(kept[~np.isnan(kept)])
    # Shape (units, values): how often each value was given to each unit.
    counts = np.stack([(kept == value).sum(axis=0) for value in values], axis=1) if values.size else None
    if counts is None:
        return float("nan")
    raters = counts.sum(axis=1)
    coincidences = np.einsum("ua,ub,u->ab", counts, counts, 1 / (raters - 1))
    coincidences -= np.diag((counts / (raters - 1)[:, None]).sum(axis=0))
    totals = coincidences.sum(axis=1)
    distance = _distance(values, totals, level)
    expected = (distance * np.outer(totals, totals)).sum() / (totals.sum() - 1)
    return float(1 - (distance * coincidences).sum() / expected) if expected else float("nan")


def _distance(values: np.ndarray, totals: np.ndarray, level: Level) -> np.ndarray:
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "interval":
        return np.asarray(np.subtract.outer(values, values) ** 2)
    # Ordinal: how many ratings lie between two values, their own counted half.
    ranks = np.cumsum(totals) - totals / 2
    return np.asarray(np.subtract.outer(ranks, ranks) ** 2)


def bias_per_grade(human: np.ndarray, judge: np.ndarray, grades: int) -> np.ndarray:
    """Mean of judge minus human for each human grade, shape (grades,); NaN for a grade that no one gave."""
    counts = np.bincount(human, minlength=grades)
    sums = np.bincount(human, weights=(judge - human).astype(float), minlength=grades)
    return np.asarray(np.divide(sums, counts, out=np.full(grades, np.nan), where=counts > 0))


def kendall_tau(left: np.ndarray, right: np.ndarray) -> float:
    """Kendall's tau-b (Kendall 1945) of two score vectors; NaN when one of them is constant."""
    return float(kendall_rows(left[None], right[None])[0])


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Kendall's tau-b between the orders of settings by two sets of labels: all, and the best only."""

    settings: int
    tau: Interval
    top: int
    tau_top: Interval


def order_agreement(
    human: np.ndarray, judge: np.ndarray, *, top: int = 5, resamples: int = 1000, seed: int = 0
) -> OrderAgreement:
    """Whether a judge puts settings in the order that people do.

    ``human`` and ``judge`` hold scores of shape (settings, queries) under the two sets of labels; means are
    over queries, intervals from resampling them. ``top`` looks only at the settings that are best by the
    human labels, where telling them apart matters and is hardest. Raises ValueError on shapes that differ
    or hold NaN.
    """
    if human.shape != judge.shape or human.ndim != 2 or human.shape[1] == 0:
        raise ValueError(f"scores of one shape (settings, queries), not {human.shape} and {judge.shape}")
    if np.isnan(human).any() or np.isnan(judge).any():
        raise ValueError("a score is NaN: leave out the queries for which a setting has none")
    best = np.argsort(-human.mean(axis=1), kind="stable")[:top]

    def tau_of(chosen: Sequence[int] | np.ndarray) -> Interval:
        def statistic(queries: np.ndarray) -> float:
            left, right = human[chosen][:, queries], judge[chosen][:, queries]
            return kendall_tau(left.mean(axis=1), right.mean(axis=1))

        return bootstrap(statistic, human.shape[1], resamples, seed)

    return OrderAgreement(len(human), tau_of(range(len(human))), len(best), tau_of(best))
