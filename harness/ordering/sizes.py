"""How much an item matters for the question which setting is best: its chance to be drawn."""

from __future__ import annotations

import numpy as np

from harness.ordering.expected import Expected
from harness.stats.arrays import Floats, Ints

# The model of the grades may be too sure of itself: so much weight goes to the grades of an average item.
_DOUBT = 0.15
# No item is drawn with less than this share of the average size: a rare surprise must not weigh too much.
_LEAST = 0.15
_CLOSEST = 1e-3


def sizes(expected: Expected, open_: Ints, means: Floats, errors: Floats) -> Floats:
    """Sizes of the items numbered ``open_``, for telling the leader from every other setting.

    ``means`` [S] are the estimated means so far, ``errors`` [S] the standard error of each one's distance
    from the leader. The error that a comparison can bear is in proportion to its distance, so its items weigh
    1 / (distance² + error²). An item's part is the standard deviation of what its grade may change (Neyman,
    JRSS 1934); over several comparisons the root of the weighted sum of squares. With one setting, it is
    what its grade may change of that one's mean.
    """
    leader = int(means.argmax())
    moves = moved(expected, open_)
    total = np.zeros(len(open_))
    for rival in range(len(means)):
        if rival == leader and len(means) > 1:
            continue
        apart = moves[leader] - moves[rival] if len(means) > 1 else moves[leader]
        borne = (means[leader] - means[rival]) ** 2 + errors[rival] ** 2 + _CLOSEST**2
        total += (apart**2).sum(axis=1) / borne
    size = np.sqrt(total)
    average = float(size.mean()) if len(size) else 0.0
    return np.maximum(size, _LEAST * average) if average > 0 else np.ones(len(open_))


def moved(expected: Expected, items: Ints) -> Floats:
    """How the scores may move with each item's grade [S, n, G + 1], times the root of that grade's chance.

    Products of two settings, summed over grades, are the covariances of what the item may change.
    """
    average = expected.chances.mean(axis=0)
    chances = (1 - _DOUBT) * expected.chances[items] + _DOUBT * average
    found = []
    for setting in range(len(expected.slope)):
        effects = expected.effects(setting)[items]
        found.append((effects - (chances * effects).sum(axis=1)[:, None]) * np.sqrt(chances))
    return np.array(found)


def error_to_come(moves: Floats, size: Floats, count: int) -> Floats:
    """The covariance [S, S] to expect of an estimate by ``count`` draws: Σ cov (1 / chance - 1)."""
    if count >= len(size):
        return np.zeros((len(moves), len(moves)))
    left = 1 / np.minimum(1.0, count * size / size.sum()) - 1
    weighed = moves * np.sqrt(left)[None, :, None]
    flat = weighed.reshape(len(moves), -1)
    return np.asarray(flat @ flat.T)
