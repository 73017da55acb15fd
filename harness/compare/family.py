"""Many comparisons at once: all pairs, or all against a baseline, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from harness.compare.arrays import BLOCK_CELLS, CACHE_CELLS, ROUNDING, Floats, Ints
from harness.compare.interval import BOOTSTRAP
from harness.compare.matrix import ScoreMatrix
from harness.compare.paired import Comparison, Options, describe
from harness.compare.randomise import p_value
from harness.compare.resample import bootstrap_means, flipped_means, sign_flips
from harness.errors import HarnessError


def compare_all(matrix: ScoreMatrix, options: Options | None = None) -> list[Comparison]:
    """Every pair of settings, better against worse, over the queries for which the measure is defined."""
    defined = _usable(matrix)
    order = np.argsort(-defined.means, kind="stable").tolist()
    return _compare(defined, [*combinations(order, 2)], options or Options())


def compare_to(matrix: ScoreMatrix, baseline: str, options: Options | None = None) -> list[Comparison]:
    """Every other setting against ``baseline``; raises HarnessError for an unknown one."""
    defined = _usable(matrix)
    defined.row(baseline)
    base = defined.settings.index(baseline)
    pairs = [(i, base) for i in range(len(defined.settings)) if i != base]
    return _compare(defined, pairs, options or Options())


def holm(p: Sequence[float] | Floats) -> Floats:
    """P-values adjusted so that the chance of any false finding is kept (Holm, Scand. J. Stat. 1979).

    Right under any dependence. With P comparisons none can come out below P times the smallest p-value that
    the resamples can tell, about ``P / (2 · resamples)``: prefer ``p_max`` for large families.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if len(values) else scaled
    return adjusted


def max_t(
    values: Floats, pairs: Sequence[tuple[int, int]], resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """Randomisation p-values of the pairs (rows of ``values`` [S, Q]): single (mid-p), and for the family.

    All pairs see the same sign flips of whole queries, so their dependence is kept, and each pair's statistic
    (mean difference over its root mean square, which no flip changes) is compared with the largest among the
    pairs that are no clearer than itself: the step-down max-T of Westfall and Young (1993), more powerful
    than Holm's procedure because settings of one sweep are correlated.
    """
    first, second = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    inverse = _inverse_root_mean_square(values, first, second)
    means = values.mean(axis=1)
    observed = np.abs(means[first] - means[second]) * inverse
    order = np.argsort(-observed, kind="stable")
    first, second, inverse, observed = first[order], second[order], inverse[order], observed[order]
    above, reached, reached_by_any = (np.zeros(len(pairs), dtype=np.int64) for _ in range(3))
    blocks, count, complete = sign_flips(values.shape[1], resamples, seed)
    for block in blocks:
        by_setting = np.ascontiguousarray(flipped_means(values, block).T)
        for part in _parts(by_setting, len(pairs)):
            flipped = np.abs(part[first] - part[second]) * inverse[:, None]
            above += np.count_nonzero(flipped > observed[:, None] + ROUNDING, axis=1)
            reached += np.count_nonzero(flipped >= observed[:, None] - ROUNDING, axis=1)
            np.maximum.accumulate(flipped[::-1], axis=0, out=flipped[::-1])
            reached_by_any += np.count_nonzero(flipped >= observed[:, None] - ROUNDING, axis=1)
    own = 0 if complete else 1
    alike = observed <= ROUNDING
    single, family = np.empty(len(pairs)), np.empty(len(pairs))
    single[order] = np.where(alike, 1.0, p_value(above, reached - above, count, complete, mid=True))
    stepped = np.maximum.accumulate((reached_by_any + own) / (count + own))
    family[order] = np.where(alike, 1.0, stepped)
    return single, np.maximum(family, single)


def _compare(matrix: ScoreMatrix, pairs: Sequence[tuple[int, int]], options: Options) -> list[Comparison]:
    if not pairs:
        return []
    values = matrix.values
    p, p_max = max_t(values, pairs, options.resamples, options.seed)
    p_holm = holm(p)
    means = matrix.means
    resampled = None
    if options.method in BOOTSTRAP:
        resampled = bootstrap_means(values, options.resamples, options.seed)
    out: list[Comparison] = []
    size = max(1, BLOCK_CELLS // (4 * max(values.shape[1], 0 if resampled is None else options.resamples)))
    for begin in range(0, len(pairs), size):
        part = pairs[begin : begin + size]
        one, other = (list(side) for side in zip(*part, strict=True))
        drawn = None if resampled is None else resampled[:, one] - resampled[:, other]
        described = describe(values[one] - values[other], options, values, drawn)
        for row, (i, j) in enumerate(part):
            at = begin + row
            out.append(
                Comparison(
                    setting=matrix.settings[i],
                    against=matrix.settings[j],
                    n=values.shape[1],
                    mean=float(means[i]),
                    mean_against=float(means[j]),
                    p=float(p[at]),
                    p_holm=float(p_holm[at]),
                    p_max=float(p_max[at]),
                    **described.fields(row),
                )
            )
    return out


def _usable(matrix: ScoreMatrix) -> ScoreMatrix:
    defined = matrix.defined()
    if not defined.query_ids:
        raise HarnessError(f"No query has a value of {matrix.measure}, so there is nothing to compare.")
    return defined


def _inverse_root_mean_square(values: Floats, first: Ints, second: Ints) -> Floats:
    """One over the root mean square of each pair's differences, [P]; 0 where nothing differs."""
    size = max(1, BLOCK_CELLS // values.shape[1])
    squares = [
        ((values[first[i : i + size]] - values[second[i : i + size]]) ** 2).mean(axis=1)
        for i in range(0, len(first), size)
    ]
    scale = np.sqrt(np.concatenate(squares))
    inverse: Floats = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > ROUNDING)
    return inverse


def _parts(means: Floats, pairs: int) -> Iterator[Floats]:
    """Columns of [S, rows], so many that the pairs' numbers stay in the processor's cache."""
    columns = max(1, CACHE_CELLS // pairs)
    for begin in range(0, means.shape[1], columns):
        yield means[:, begin : begin + columns]
