"""Short ways to write scores down."""

import numpy as np

from harness import comparison
from harness.comparison import Grounds, ScoreMatrix, compare_to


def matrix(rows, measure="ndcg_exp@10", splits=None, ids=None):
    """A matrix from {setting: scores}; every second query is validation unless ``splits`` says otherwise."""
    values = np.array(list(rows.values()), dtype=np.float64)
    n = values.shape[1]
    queries = ids or tuple(f"q{i}" for i in range(n))
    default = tuple("validation" if i % 2 else "train" for i in range(n))
    return ScoreMatrix(measure, tuple(rows), tuple(queries), values, splits or default)


def noisy(n, means, seed=0, spread=0.2):
    """Settings named a, b, … with correlated scores around ``means``."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, spread, n)
    return matrix({chr(97 + i): mean + common + rng.normal(0, spread / 2, n) for i, mean in enumerate(means)})


def compare_pair(setting, values, against, baseline, options=None):
    """One setting against another, alone."""
    (one,) = compare_to(matrix({setting: values, against: baseline}), against, options)
    return one


def conclude(scores, *, others=(), baseline=None, **given):
    """The verdict by a matrix on the grounds that are given."""
    return comparison.conclude(scores, Grounds(**given), others=others, baseline=baseline)
