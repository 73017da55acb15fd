"""Which settings could be the best one, for all the data say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.compare.arrays import CACHE_CELLS, ROUNDING, Floats
from harness.compare.matrix import ScoreMatrix
from harness.compare.paired import Options
from harness.compare.resample import flipped_means, sign_flips
from harness.errors import HarnessError


@dataclass(frozen=True, slots=True)
class BestSet:
    """``contenders`` cannot be told from the best, ``ruled_out`` can; both from the highest mean down.

    ``p`` says for every setting how well the data agree with its being the best.
    """

    contenders: tuple[str, ...]
    ruled_out: tuple[str, ...]
    p: dict[str, float]
    level: float


def best_set(matrix: ScoreMatrix, options: Options | None = None) -> BestSet:
    """The settings that cannot be told from the best: it is among them with a confidence of ``level``.

    Multiple comparisons with the best (Hsu, Annals of Statistics 1981; Gupta's subset selection): a setting
    is ruled out where some other one is ahead of it by more, in standard errors, than the most that any would
    be ahead by chance if it were the best. That most is found by flipping the signs of all settings' centred
    scores of a query together, which keeps unequal spreads and the correlation of settings as they are. One
    setting at a time is tested against all the others at once, so the true best falls out in a share
    ``1 - level`` of studies at most, without a further correction.
    """
    options = options or Options()
    defined = matrix.defined()
    if not defined.query_ids:
        raise HarnessError(f"No query has a value of {matrix.measure}, so no setting can be called the best.")
    p = being_best(defined.values, options.resamples, options.seed)
    order = np.argsort(-defined.means, kind="stable").tolist()
    names = defined.settings
    return BestSet(
        tuple(names[i] for i in order if p[i] > options.alpha),
        tuple(names[i] for i in order if p[i] <= options.alpha),
        {names[i]: float(p[i]) for i in order},
        options.level,
    )


def being_best(values: Floats, resamples: int, seed: int) -> Floats:
    """For every setting the p-value of its being the best, [S] from [S, Q]; 1 for the highest mean."""
    settings, n = values.shape
    if settings == 1 or n == 1:
        return np.ones(settings)
    centred = values - values.mean(axis=1, keepdims=True)
    inverse, most = _inverse_spread(values), _most_ahead(values)
    reached = np.zeros(settings, dtype=np.int64)
    blocks, count, complete = sign_flips(n, resamples, seed)
    columns = max(1, CACHE_CELLS // settings)
    for block in blocks:
        means = np.ascontiguousarray(flipped_means(centred, block).T)
        for begin in range(0, len(block), columns):
            part = means[:, begin : begin + columns]
            for i in np.flatnonzero(most > ROUNDING):
                ahead = ((part - part[i]) * inverse[i][:, None]).max(axis=0)
                reached[i] += np.count_nonzero(ahead >= most[i] - ROUNDING)
    own = 0 if complete else 1
    return np.where(most <= ROUNDING, 1.0, (reached + own) / (count + own))


def _inverse_spread(values: Floats) -> Floats:
    """One over the standard deviation (over n) of the difference of every two settings, [S, S]; 0 if none."""
    inverse = np.zeros((len(values), len(values)))
    for i, row in enumerate(values):
        difference = values - row
        spread = np.where(np.ptp(difference, axis=1) > ROUNDING, difference.std(axis=1), 0.0)
        np.divide(1.0, spread, out=inverse[i], where=spread > 0)
    return inverse


def _most_ahead(values: Floats) -> Floats:
    """How far some setting is ahead of each one at most, [S], on a scale from 0 to 1.

    The scale is the lead over the root mean square of the differences. It rises with Student's t, and flips
    keep the sum of squares, so flipped leads over the standard deviation are on the same scale. A lead
    without any spread is ahead beyond doubt.
    """
    most = np.zeros(len(values))
    for i, row in enumerate(values):
        difference = values - row
        lead = difference.mean(axis=1)
        scale = np.sqrt((difference**2).mean(axis=1))
        certain = (np.ptp(difference, axis=1) <= ROUNDING) & (lead > ROUNDING)
        ahead = np.divide(lead, scale, out=np.zeros(len(values)), where=scale > ROUNDING)
        most[i] = np.where(certain, np.inf, ahead).max()
    return most
