"""How well the best score of a ranking tells questions that the documents answer from those they do not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from harness.measures.ragged import AnyArray, Floats, Ints

_BLOCK_DRAWS = 4_000_000


@dataclass(frozen=True, slots=True)
class Separation:
    """``auroc`` with its bootstrap interval, None if either side has a single query; queries per side."""

    auroc: float
    low: float | None
    high: float | None
    n_answerable: int
    n_unanswerable: int


def separation(
    answerable: AnyArray, unanswerable: AnyArray, seed: int, resamples: int = 10_000, level: float = 0.95
) -> Separation | None:
    """Area under the ROC curve of top scores with a bootstrap interval; None if a side is empty.

    The chance that a random answerable query has a higher top score than a random unanswerable one, equal
    scores counting half (Mann-Whitney U; Hanley and McNeil, Radiology 1982): 1 is perfect, 0.5 is chance.
    ``answerable`` and ``unanswerable`` are top scores, one per query. The two sides are resampled apart, so
    every resample has both. The same seed gives the same interval. Raises ValueError for a score that is NaN.
    """
    high, low = _checked(answerable, "answerable"), _checked(unanswerable, "unanswerable")
    if not len(high) or not len(low):
        return None
    value = float(_wins(high, low).mean())
    if len(high) == 1 or len(low) == 1:
        return Separation(value, None, None, len(high), len(low))
    bounds = _interval(high.tobytes(), low.tobytes(), seed, resamples, level)
    return Separation(value, *bounds, len(high), len(low))


def thresholds(answerable: AnyArray, unanswerable: AnyArray) -> tuple[Floats, Floats, Floats]:
    """The effect of each threshold if only queries are answered whose top score reaches it, [T] each.

    Thresholds are all that make a difference: each distinct top score, rising, so that the first answers
    everything, then infinity, which answers nothing. The share of answerable queries that are answered
    follows, and that of unanswerable ones that are not. Raises ValueError for a score that is NaN.
    """
    high, low = _checked(answerable, "answerable"), _checked(unanswerable, "unanswerable")
    candidates = np.append(np.unique(np.concatenate([high, low])), np.inf)
    # a score of infinity is below no candidate, yet the last one is to refuse everything
    kept, refused = (
        np.append(np.searchsorted(side, candidates[:-1]), len(side)) / len(side) for side in (high, low)
    )
    return candidates, 1 - kept, refused


def _checked(scores: AnyArray, side: str) -> Floats:
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    if np.isnan(ordered).any():
        raise ValueError(
            f"a top score of the {side} queries is NaN; leave queries without a ranking out or give them -inf"
        )
    return ordered


def _wins(high: Floats, low: Floats) -> Floats:
    """For every score of ``high`` the share of sorted ``low`` that it beats, ties counting half."""
    below, not_above = (np.searchsorted(low, high, side=side) for side in ("left", "right"))
    return (below + not_above) / (2 * len(low))


@lru_cache(maxsize=256)  # a route of a fusion scores as a setting of its own does
def _interval(high: bytes, low: bytes, seed: int, resamples: int, level: float) -> tuple[float, float]:
    tail = 100 * (1 - level) / 2
    sides = np.frombuffer(high), np.frombuffer(low)
    bounds = np.percentile(_resampled(*sides, seed, resamples), [tail, 100 - tail])
    return float(bounds[0]), float(bounds[1])


def _resampled(high: Floats, low: Floats, seed: int, resamples: int) -> Floats:
    """The AUROC of every resample: how often each score was drawn, summed over all pairs that they decide."""
    below, not_above = (np.searchsorted(low, high, side=side) for side in ("left", "right"))
    rows, wins = max(1, _BLOCK_DRAWS // (len(high) + len(low))), []
    for first in range(0, resamples, rows):
        draw = _drawn if rows >= resamples else _drawn.__wrapped__
        times, before = draw(len(high), len(low), min(rows, resamples - first), seed, first)
        wins.append(np.einsum("hr,hr->r", times, before[below] + before[not_above]))
    return np.concatenate(wins) / (2 * len(high) * len(low))


@lru_cache(maxsize=1)  # settings draw from as many queries; more blocks than one are too large to keep
def _drawn(n_high: int, n_low: int, resamples: int, seed: int, first: int) -> tuple[Ints, Ints]:
    """Resamples from the ``first`` on: how often each place of one side is in them, [n_high, resamples].

    And how often those before each place of the other side are, [n_low + 1, resamples].
    """
    rng = np.random.default_rng((seed, first) if first else seed)
    counts = []
    for size in (n_high, n_low):
        cells = rng.integers(0, size, (resamples, size)) * resamples + np.arange(resamples)[:, None]
        counts.append(np.bincount(cells.ravel(), minlength=resamples * size).reshape(size, resamples))
    return counts[0], np.pad(np.cumsum(counts[1], axis=0), ((1, 0), (0, 0)))
