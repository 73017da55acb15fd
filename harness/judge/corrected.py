"""Judge-corrected means: many queries by the judge, few by people, and a valid interval.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 382, 2023), with the
weight of the judge tuned to the data (Angelopoulos, Duchi and Zrnic, "PPI++", 2023), as Oosterhuis,
Jagerman, Qin, Wang and Bendersky brought it to ranking metrics (KDD 2024).

A query for which people find nothing relevant has no value and leaves the mean, so the mean is a ratio of two
sums over queries. The judge enters as its share in that ratio (its linearisation), a number that every query
has, whatever the judge finds: no query leaves on one side only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.comparison import guarded_pair
from harness.values import LabelError

FEWEST = 10
LEVEL = 0.95
# With fewer labelled queries that differ from the rest, two made-up ones widen the interval.
RARE = 15
HALF_A_POINT = 0.5

Floats = npt.NDArray[np.float64]
Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected mean and its interval, and the means by people alone and by the judge alone."""

    value: float
    low: float
    high: float
    level: float
    # the trust that the data place in the judge (0: none, human labels alone; 1: full)
    weight: float
    # the labelled queries with a value, those for which people found nothing, and all that the judge has seen
    labelled: int
    unanswerable: int
    judged: int
    human_only: float
    human_only_low: float
    human_only_high: float
    judge_only: float


def corrected_mean(human: Scores, judge: Scores) -> Corrected:
    """Mean of a measure over the queries in which people find something relevant, with an interval by query.

    ``judge`` maps the ids of all queries to the measure under the judge's labels; ``human`` those of a
    *random sample* of them to the measure under human labels. None: nothing relevant was found, so there is
    no value. The interval allows for skew (see ``guarded_pair``) and for rare differences. Raises
    LabelError with fewer than 10 labelled queries that have a value, or when a labelled query was not judged.
    """
    unknown = sorted(set(human) - set(judge))
    if unknown:
        raise LabelError(f"Labelled queries not judged: {len(unknown)}, such as {unknown[0]}. Judge all.")
    labelled = sorted(human)
    rest = sorted(set(judge) - set(human))
    values, counts = _columns(human, labelled)
    answered = int(counts.sum())
    if answered < FEWEST:
        raise LabelError(f"Labelled queries with relevant text: {answered}; {FEWEST} are needed. Label more.")
    by_judge, seen = _columns(judge, [*labelled, *rest])
    shares = _shares(by_judge, seen) if seen.any() else np.zeros(len(seen))
    judged, other = shares[: len(labelled)], shares[len(labelled) :]
    weight = _weight(_shares(values, counts), judged, other)
    corrected = _estimate(values, counts, judged, other, weight)
    alone = _estimate(values, counts, judged, other, 0.0)
    return Corrected(
        *corrected,
        level=LEVEL,
        weight=weight,
        labelled=answered,
        unanswerable=len(labelled) - answered,
        judged=len(judge),
        human_only=alone[0],
        human_only_low=alone[1],
        human_only_high=alone[2],
        judge_only=float(by_judge.sum() / seen.sum()) if seen.any() else float("nan"),
    )


def corrected_difference(human: tuple[Scores, Scores], judge: tuple[Scores, Scores]) -> Corrected:
    """Mean of setting A minus setting B, paired by query; ``human`` and ``judge`` are pairs (A, B) of scores.

    The two settings must have been scored on the same queries, else LabelError.
    """
    return corrected_mean(_paired(*human), _paired(*judge))


def _paired(first: Scores, second: Scores) -> dict[str, float | None]:
    if set(first) != set(second):
        odd = sorted(set(first) ^ set(second))
        raise LabelError(f"The two settings were not scored on the same queries; only one has {odd[0]}.")
    both = ((query, left, second[query]) for query, left in first.items())
    return {query: None if a is None or b is None else a - b for query, a, b in both}


def _columns(scores: Scores, queries: Sequence[str]) -> tuple[Floats, Floats]:
    """Values (0 if there is none) and whether there is one (1 or 0)."""
    column = np.array([scores[query] for query in queries], dtype=np.float64)
    return np.nan_to_num(column), (~np.isnan(column)).astype(np.float64)


def _shares(values: Floats, counts: Floats) -> Floats:
    """The contribution of each query to the error of the mean; 0 on average, always defined."""
    mean = values.sum() / counts.sum()
    return np.asarray((values - counts * mean) / counts.mean())


def _weight(true: Floats, judged: Floats, other: Floats) -> float:
    """The weight of least variance, cov(true, said) / (var(judge) (1 + n/N)), in 0..1 (PPI++, ex. 6.1)."""
    spread = np.concatenate([judged, other]).var(ddof=1)
    if len(other) < 2 or spread < 1e-18:
        return 0.0
    covariance = np.cov(true, judged)[0, 1]
    return float(np.clip(covariance / (spread * (1 + len(true) / len(other))), 0, 1))


def _estimate(
    values: Floats, counts: Floats, judged: Floats, other: Floats, weight: float
) -> tuple[float, float, float]:
    """The mean of the labelled queries plus ``weight`` times (mean(other) - mean(judged)), and its bounds."""
    n, labelled = len(values), counts.sum()
    tuned = 1 if weight else 0
    rest = weight * other if tuned else np.zeros(2)
    value = values.sum() / labelled + rest.mean() - weight * judged.mean()
    residual = _shares(values, counts) - weight * judged
    # One degree of freedom for the mean, one for the weight.
    residual_variance = residual.var() / (n - 1 - tuned) * labelled / (labelled - 1) * (n - 1) / n
    variance = residual_variance + _rare_spread(values[counts > 0]) + rest.var(ddof=1) / len(rest)
    error = np.sqrt(variance)
    third = _third(residual) / n**2 + _third(rest) / len(rest) ** 2
    skew = third / error**3 if error > 1e-12 else 0.0
    return float(value), *guarded_pair(value, error, skew, labelled - 1 - tuned, (1 - LEVEL) / 2)


def _rare_spread(values: Floats) -> float:
    """The variance that two made-up queries add to the mean, one up and one down by the usual margin.

    Where all but a few queries have one and the same value (ties between settings, zeros), the few say too
    little about how many more there are: intervals come out too narrow, of width 0 if none is seen. The
    margin is that of the few, and half a point counts as one of them. It fades out as they reach 15. After
    the added successes and failures of Agresti and Coull (American Statistician 1998); how well the
    intervals then cover is measured by benchmarks/judge_coverage.py.
    """
    distinct, times = np.unique(values.round(9), return_counts=True)
    usual = distinct[times.argmax()]
    apart = values[np.abs(values - usual) > 1e-9] - usual
    margin = ((apart**2).sum() + HALF_A_POINT**2) / (len(apart) + 1)
    return float(2 * max(0.0, 1 - len(apart) / RARE) * margin / len(values) ** 2)


def _third(values: Floats) -> float:
    return float(((values - values.mean()) ** 3).mean())
