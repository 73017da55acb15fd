"""A widely copied figure that is called NDCG but is not NDCG."""

from __future__ import annotations

import numpy as np

from harness.measures.gain import gain_exp, log2_discount
from harness.measures.ragged import AnyArray


def seed_ratio(seeds: AnyArray, judged: AnyArray) -> float:
    """DCG of the ranker's own seed grades over DCG of the judge's grades, sorted: *not* NDCG.

    The recipe gives the ranked passages the grades n - 1, …, 1, 0 by their rank and lets a judge grade the
    same passages; the first list, as it is, is the numerator, the second, sorted, the ideal. Which
    passage the judge found good never enters, so any two rankings of the same passages score the same, and
    the value exceeds 1 if the judge is sterner than the seeds. Given to reproduce published figures; use
    ``ndcg`` to measure.

    ``seeds`` and ``judged`` [n] are grades of at least 0. Raises ValueError if their lengths differ, where
    they are empty, or where the judge found nothing relevant.
    """
    if len(seeds) != len(judged) or not len(seeds):
        raise ValueError(
            f"seed_ratio needs as many seeds as judged grades, not {len(seeds)} and {len(judged)}"
        )
    discount = log2_discount(np.arange(len(seeds)))
    ideal = float(gain_exp(-np.sort(-np.asarray(judged))) @ discount)
    if ideal == 0:
        raise ValueError("seed_ratio is undefined: the judge found nothing relevant")
    return float(gain_exp(np.asarray(seeds)) @ discount) / ideal
