"""How far two orders agree: Kendall's tau-b and Spearman's rho, of a sample and of its resamples at once.

A resample is a row of weights, how often it holds each item, so that all resamples of a coefficient are a few
products of matrices. Copies of one item are ties, as in a resample that is written out.
"""

from __future__ import annotations

import numpy as np

from harness.comparison.stats.units import Units
from harness.measures import Floats


def kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Tau-b of ``x`` and ``y`` [Q] under every row of ``weights`` [B, Q]; NaN if one is constant.

    Kendall, The treatment of ties in ranking problems, Biometrika 1945: pairs in one order minus pairs in
    the other, over the geometric mean of the pairs that are not tied on either side.
    """
    above_x, above_y = (np.sign(values[:, None] - values[None, :]) for values in (x, y))
    agree = _pairs(above_x * above_y, weights)
    return _ratio(agree, _pairs(above_x**2, weights) * _pairs(above_y**2, weights))


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Rho of ``x`` and ``y`` [Q] under every row of ``weights`` [B, Q]; NaN if one is constant.

    Pearson's coefficient of the ranks within the resample, ties having their middle rank.
    """
    first, second = (weights @ _below(values) for values in (x, y))
    total = weights.sum(axis=1, keepdims=True)
    one, other = (ranks - (weights * ranks).sum(axis=1, keepdims=True) / total for ranks in (first, second))
    spread = (weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1)
    return _ratio((weights * one * other).sum(axis=1), spread)


def kendall_rows(x: Floats, y: Floats) -> Floats:
    """Tau-b of every row of ``x`` with that of ``y``, both [B, S]; NaN if one is constant."""
    upper = np.triu_indices(x.shape[1], 1)
    one, other = (np.sign(values[:, upper[0]] - values[:, upper[1]]) for values in (x, y))
    return _ratio((one * other).sum(axis=1), (one**2).sum(axis=1) * (other**2).sum(axis=1))


def spearman_rows(x: Floats, y: Floats) -> Floats:
    """Rho of every row of ``x`` with that of ``y``, both [B, S]; NaN if one is constant."""
    from scipy.stats import rankdata

    one, other = (rankdata(values, axis=1) for values in (x, y))
    one, other = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (one, other))
    return _ratio((one * other).sum(axis=1), (one**2).sum(axis=1) * (other**2).sum(axis=1))


def resampled(units: Units, resamples: int, seed: int) -> Floats:
    """Weights [B, Q] of resamples of whole units, drawn with replacement."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(units.count, np.full(units.count, 1 / units.count), size=resamples)
    weights: Floats = drawn.astype(np.float64)[:, units.of]
    return weights


def bounds(values: Floats, level: float) -> tuple[float | None, float | None]:
    """The percentiles of resampled coefficients; None if more than a tenth is not defined."""
    known = values[~np.isnan(values)]
    if len(known) < 0.9 * len(values) or not len(known):
        return None, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _pairs(signs: Floats, weights: Floats) -> Floats:
    """The sum over ordered pairs of items, each pair as often as the resample holds it."""
    found: Floats = ((weights @ signs) * weights).sum(axis=1)
    return found


def _below(values: Floats) -> Floats:
    """How much each item [j, i] adds to the middle rank of another: 1 below it, 1/2 for a tie."""
    found: Floats = (values[:, None] < values[None, :]) + 0.5 * (values[:, None] == values[None, :])
    return found


def _ratio(above: Floats, squared: Floats) -> Floats:
    # a spread that rounds to zero is zero
    known = squared > 1e-12
    found: Floats = np.divide(
        above, np.sqrt(np.where(known, squared, 1)), out=np.full(len(above), np.nan), where=known
    )
    return np.clip(found, -1, 1)
