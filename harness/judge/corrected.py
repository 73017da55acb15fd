"""Judge-corrected means: many queries by the judge, few by people, and an interval that stays honest.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 382, 2023), with the
weight of the judge tuned to the data (Angelopoulos, Duchi and Zrnic, "PPI++", 2023), as Oosterhuis,
Jagerman, Qin, Wang and Bendersky brought it to ranking metrics (KDD 2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harness.errors import LabelError

FEWEST = 10
BLOCK = 200


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected mean and its interval, beside what people alone and the judge alone would say.

    ``weight`` is the trust that the data place in the judge (0: none, human labels alone; 1: full).
    ``labelled`` and ``judged`` count the queries with human and with judge scores; ``left_out`` those that
    could not be used.
    """

    value: float
    low: float
    high: float
    level: float
    weight: float
    labelled: int
    judged: int
    left_out: int
    human_only: float
    human_only_low: float
    human_only_high: float
    judge_only: float


def corrected_mean(
    human: Mapping[str, float | None],
    judge: Mapping[str, float | None],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Corrected:
    """Mean of a measure over the kind of queries that were judged, with a bootstrap-t interval by query.

    ``judge`` maps the ids of all queries to the measure under the judge's labels; ``human`` those of a
    *random sample* of them to the measure under human labels. A query without a value (None) under labels
    that should give one is left out and counted. Raises LabelError with fewer than 10 usable labelled
    queries, or when a labelled query was not judged.
    """
    unknown = sorted(set(human) - set(judge))
    if unknown:
        raise LabelError(
            f"{len(unknown)} queries have human labels but were not judged (such as {unknown[0]}): judge "
            "every query, "
            "for the correction compares the two on the labelled ones."
        )
    undefined = {query for scores in (human, judge) for query, score in scores.items() if score is None}
    both = sorted(set(human) - undefined)
    rest = sorted(set(judge) - set(human) - undefined)
    if len(both) < FEWEST:
        raise LabelError(
            f"{len(both)} labelled queries can be used; below {FEWEST} an interval means little. Label more."
        )
    true = np.array([human[query] for query in both], dtype=float)
    said = np.array([judge[query] for query in both], dtype=float)
    other = np.array([judge[query] for query in rest], dtype=float)
    value, error, weight = _estimate(true[None], said[None], other[None])
    quantiles = _t_quantiles(true, said, other, float(value[0]), level, resamples, seed)
    alone = _human_only(true, level, resamples, seed)
    return Corrected(
        value=float(value[0]),
        low=float(value[0] - quantiles[1] * error[0]),
        high=float(value[0] - quantiles[0] * error[0]),
        level=level,
        weight=float(weight[0]),
        labelled=len(both),
        judged=len(both) + len(rest),
        left_out=len(undefined),
        human_only=float(true.mean()),
        human_only_low=alone[0],
        human_only_high=alone[1],
        judge_only=float(np.concatenate([said, other]).mean()),
    )


def corrected_difference(
    human: tuple[Mapping[str, float | None], Mapping[str, float | None]],
    judge: tuple[Mapping[str, float | None], Mapping[str, float | None]],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Corrected:
    """Mean of setting A minus setting B, paired by query; ``human`` and ``judge`` are pairs (A, B) of scores.

    The two settings must have been scored on the same queries, else LabelError.
    """
    return corrected_mean(_paired(*human), _paired(*judge), level=level, resamples=resamples, seed=seed)


def _paired(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> dict[str, float | None]:
    if set(first) != set(second):
        odd = sorted(set(first) ^ set(second))
        raise LabelError(f"The two settings were not scored on the same queries; {odd[0]} is in one only.")
    differences: dict[str, float | None] = {}
    for query, left in first.items():
        right = second[query]
        differences[query] = None if left is None or right is None else left - right
    return differences


def _estimate(
    true: np.ndarray, said: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates, standard errors and weights, one each per row.

    ``true`` and ``said`` have shape (rows, labelled queries), ``other`` (rows, queries with the judge
    alone). The estimate is mean(true) + weight * (mean(other) - mean(said)), unbiased for every fixed
    weight; the weight that minimises its variance is cov(true, said) / (var(judge) * (1 + n/N)) (PPI++,
    example 6.1), kept within 0..1.
    """
    n, rest = true.shape[1], other.shape[1]
    if rest < 2:
        return true.mean(axis=1), true.std(axis=1, ddof=1) / np.sqrt(n), np.zeros(len(true))
    centred = said - said.mean(axis=1, keepdims=True)
    covariance = ((true - true.mean(axis=1, keepdims=True)) * centred).sum(axis=1) / (n - 1)
    spread = np.concatenate([said, other], axis=1).var(axis=1, ddof=1)
    weight = np.divide(covariance, spread * (1 + n / rest), out=np.zeros_like(spread), where=spread > 0)
    weight = np.clip(weight, 0, 1)
    value = true.mean(axis=1) + weight * (other.mean(axis=1) - said.mean(axis=1))
    residual = (true - weight[:, None] * said).var(axis=1, ddof=1)
    error = np.sqrt(residual / n + weight**2 * other.var(axis=1, ddof=1) / rest)
    return value, error, weight


def _t_quantiles(
    true: np.ndarray,
    said: np.ndarray,
    other: np.ndarray,
    value: float,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    """Quantiles of the studentised error, by resampling labelled and other queries apart.

    The bootstrap-t (Efron and Tibshirani 1993, ch. 12) allows for the skew of NDCG and, since each resample
    tunes its own weight, for the tuning.
    """
    rng = np.random.default_rng(seed)
    studentised = []
    # In blocks, so that ten thousand queries take no more memory than a hundred.
    for size in np.diff([*range(0, resamples, BLOCK), resamples]):
        labelled = rng.integers(len(true), size=(size, len(true)))
        drawn = rng.integers(max(1, len(other)), size=(size, len(other)))
        values, errors, _ = _estimate(true[labelled], said[labelled], other[drawn])
        # A resample of equal values has no error to divide by.
        usable = errors > 1e-12
        studentised.extend(((values[usable] - value) / errors[usable]).tolist())
    if not studentised:
        return 0.0, 0.0
    low, high = np.quantile(studentised, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _human_only(true: np.ndarray, level: float, resamples: int, seed: int) -> tuple[float, float]:
    """The bootstrap-t interval of the labelled queries alone, made the same way."""
    none = np.empty(0)
    low, high = _t_quantiles(true, true, none, float(true.mean()), level, resamples, seed)
    error = float(true.std(ddof=1)) / np.sqrt(len(true))
    return float(true.mean() - high * error), float(true.mean() - low * error)
