"""The interval of the mean of each row, for tests that need one."""

import numpy as np
from scipy import stats

from harness.comparison.stats import bounds_at, student_quantile


def moments(rows):
    """Mean, standard error and skewness over the root of n of every row."""
    n = rows.shape[1]
    spread = np.ptp(rows, axis=1) > 0
    skew = np.zeros(len(rows))
    skew[spread] = stats.skew(rows[spread], axis=1)
    error = np.where(spread, rows.std(axis=1, ddof=1) / np.sqrt(n), 0.0)
    return rows.mean(axis=1), error, skew / np.sqrt(n)


def guarded(rows, tail=0.025):
    return bounds_at(*moments(rows), student_quantile(1 - tail, rows.shape[1] - 1))
