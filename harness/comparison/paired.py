"""Settings, paired by query: two of them, all pairs, all against a baseline, or before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from harness.comparison import stats
from harness.comparison.joint_test import Decided, decide, moments
from harness.comparison.matrix import ScoreMatrix, from_rows
from harness.measures import Bools, Floats, Ints
from harness.report import ScoreRow
from harness.values import HarnessError, finite

# A kind of query that makes up a tenth is missing from 30 queries in 4 % of samples, and from fewer in
# more than the 5 % that a test may be wrong in (docs/statistics.md): nothing is chosen by fewer.
FEWEST_TO_CHOOSE = 30
# The smallest difference worth changing a setting for, unless the configuration says otherwise.
TOLERANCE = 0.02

Finding = Literal["real", "open", "equivalent", "few", "turns", "incomparable", "unread"]


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare, and what matters.

    Means that differ by up to ``tolerance`` are as good as each other; a recommended setting costs at most
    ``price_limit``, in the unit of the costs (None: any price).
    """

    level: float = 0.95
    resamples: int = 10_000
    seed: int = 7
    tolerance: float = TOLERANCE
    price_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``setting`` against ``against`` over ``n`` queries; ``difference`` is the mean of one minus the other.

    ``low`` and ``high`` bound the difference and ``p`` tests it, both for the whole ``family`` of comparisons
    at once and by the same rule (see ``joint_test``). ``finding``: ``real`` where the interval excludes 0,
    ``equivalent`` where it does not and lies within the tolerance, ``open`` where it does neither, ``few``
    where there are fewer queries than one should choose by, ``turns`` where the interval excludes 0 and
    longer or shorter labels give the difference another sign, ``incomparable`` where the measure cannot
    compare these two settings, ``unread`` where the rankings of the one that is not better end earlier.
    ``here``: the queries are of too few clusters to say anything of new ones, so a finding is of these
    clusters alone.
    ``d_z`` is the difference in standard deviations over queries, ``dominance`` the share of queries won
    minus lost: Cliff's d for paired data (Psychological Bulletin 1993); ``(1 + d) / 2`` is the chance that
    the first does better on a query, ties counting half (McGraw and Wong 1992). None if the data do not
    determine it: a single query, no difference.
    """

    setting: str
    against: str
    n: int
    mean: float
    mean_against: float
    difference: float
    low: float | None
    high: float | None
    p: float
    finding: Finding
    family: int
    wins: int
    ties: int
    losses: int
    d_z: float | None
    dominance: float
    here: bool = False

    @property
    def pair(self) -> tuple[tuple[str, str]]:
        """The two settings, as those that are compared."""
        return ((self.setting, self.against),)

    @property
    def real(self) -> bool:
        """Whether the difference is real, the whole family considered."""
        return self.finding == "real"


def beaten(comparisons: Iterable[Comparison]) -> set[str]:
    """The settings that another one is shown to be better than."""
    return {pair.against if pair.difference > 0 else pair.setting for pair in comparisons if pair.real}


def _finding(p: float, low: float, high: float, units: stats.Units, options: Options) -> Finding:
    """The finding from a p-value and the bounds of the same family.

    An interval within the tolerance is two one-sided tests against a difference as large as that (TOST;
    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 1987), for the whole family at once.
    """
    if len(units.of) < FEWEST_TO_CHOOSE:
        return "few"
    if p <= 1 - options.level:
        return "real"
    return "equivalent" if max(-low, high) <= options.tolerance else "open"


def compare_rows(
    names: Sequence[str],
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    units: stats.Units,
    options: Options,
) -> tuple[list[Comparison], Decided | None]:
    """Compare rows of ``values`` [S, Q], called ``names``, in ``pairs``, as one family."""
    if not pairs:
        return [], None
    decided = decide(values, pairs, units, options.level, options.resamples, options.seed)
    n = values.shape[1]
    low, high = stats.within(decided.low, decided.high, values, -1.0)
    means = values.mean(axis=1)
    size, out = max(1, stats.CACHE_CELLS // n), []
    for begin in range(0, len(pairs), size):
        part = pairs[begin : begin + size]
        rows = values[[i for i, _ in part]] - values[[j for _, j in part]]
        wins, ties, losses = (counts.tolist() for counts in win_tie_loss(rows))
        sizes = cohen_dz(rows)
        for row, (i, j) in enumerate(part):
            at = begin + row
            p = float(decided.p[at]) if n > 1 else 1.0
            out.append(
                Comparison(
                    setting=names[i],
                    against=names[j],
                    n=n,
                    mean=float(means[i]),
                    mean_against=float(means[j]),
                    difference=float(decided.difference[at]),
                    low=finite(low[at]) if n > 1 else None,
                    high=finite(high[at]) if n > 1 else None,
                    p=p,
                    finding=_finding(p, float(low[at]), float(high[at]), units, options),
                    family=len(pairs),
                    wins=wins[row],
                    ties=ties[row],
                    losses=losses[row],
                    d_z=finite(sizes[row]),
                    dominance=(wins[row] - losses[row]) / n,
                    here=units.kind == "few clusters",
                )
            )
    return out, decided


def win_tie_loss(rows: Floats, tolerance: float = stats.ROUNDING) -> tuple[Ints, Ints, Ints]:
    """In how many queries each row of differences [P, Q] is above, within and below ``tolerance`` of 0."""
    wins = (rows > tolerance).sum(axis=1)
    losses = (rows < -tolerance).sum(axis=1)
    return wins, rows.shape[1] - wins - losses, losses


def cohen_dz(rows: Floats) -> Floats:
    """The mean difference in standard deviations of the differences, [P] (Cohen 1988, d_z).

    0 if nothing differs, and NaN if all queries differ by the same amount or there is only one.
    """
    if rows.shape[1] < 2:
        return np.full(len(rows), np.nan)
    mean = rows.mean(axis=1)
    spread = np.where(np.ptp(rows, axis=1) > stats.ROUNDING, rows.std(axis=1, ddof=1), 0.0)
    alike = np.where(np.abs(mean) <= stats.ROUNDING, 0.0, np.nan)
    size: Floats = np.divide(mean, spread, out=alike, where=spread > 0)
    return size


def compare_to(matrix: ScoreMatrix, baseline: str, options: Options | None = None) -> list[Comparison]:
    """Every other setting against ``baseline``; raises HarnessError for an unknown one."""
    defined = usable(matrix)
    units = stats.units_of(defined.clusters, len(defined.query_ids))
    pairs = pairs_to(defined, baseline)
    comparisons, _ = compare_rows(defined.settings, defined.values, pairs, units, options or Options())
    return comparisons


def compare_changes(before: ScoreMatrix, after: ScoreMatrix, options: Options) -> list[Comparison]:
    """Every setting of ``after`` that ``before`` has too, against itself there; both of the same queries.

    A setting without a query that both score is left out. Raises ValueError if queries differ.
    """
    if before.query_ids != after.query_ids:
        raise ValueError("both must be scored on the same queries, in the same order")
    names = [name for name in after.settings if name in before.settings]
    if not names:
        return []
    stacked = np.vstack([np.stack([m.row(name) for name in names]) for m in (after, before)])
    defined: Bools = np.logical_not(np.isnan(stacked).any(axis=0))
    if not defined.any():
        return []
    kept = after.only(defined)
    units = stats.units_of(kept.clusters, len(kept.query_ids))
    pairs = [(i, len(names) + i) for i in range(len(names))]
    comparisons, _ = compare_rows((*names, *names), stacked[:, defined], pairs, units, options)
    return comparisons


def reranked(rows: Sequence[ScoreRow], measure: str, options: Options) -> list[Comparison]:
    """Every reranked setting against its own retrieval, as one family; ``rows`` are per_query.csv."""
    if not {"retrieve", "rerank"} <= {row.stage for row in rows}:
        return []
    before, after = (from_rows(rows, measure, stage) for stage in ("retrieve", "rerank"))
    return compare_changes(before.in_order_of(after.query_ids), after, options)


def usable(matrix: ScoreMatrix) -> ScoreMatrix:
    """The queries for which the measure is defined; raises HarnessError if there is none."""
    defined = matrix.defined()
    if not defined.query_ids:
        raise HarnessError(f"No query has a value of {matrix.measure}, so there is nothing to compare.")
    return defined


def all_pairs(matrix: ScoreMatrix) -> list[tuple[int, int]]:
    """Every pair of rows, the higher mean first."""
    order = np.argsort(-matrix.means, kind="stable").tolist()
    return [*combinations(order, 2)]


def pairs_to(matrix: ScoreMatrix, baseline: str) -> list[tuple[int, int]]:
    """Every row against that of ``baseline``; raises HarnessError for an unknown one."""
    matrix.row(baseline)
    base = matrix.settings.index(baseline)
    return [(i, base) for i in range(len(matrix.settings)) if i != base]


def mean_of(values: Floats, clusters: Sequence[str] = (), level: float = 0.95) -> stats.Interval:
    """The mean of the values [Q] that are defined, with its interval.

    By whole clusters where there are enough of them. ``clusters`` has a name for every value, or is empty.
    """
    defined = ~np.isnan(values)
    kept = values[defined]
    if not len(kept):
        return stats.Interval()
    units = stats.units_of(
        [clusters[i] for i in np.flatnonzero(defined).tolist()] if clusters else (), len(kept)
    )
    low, high = bounds_of_means(kept[None, :], units, level)
    return stats.Interval(float(kept.mean()), finite(low[0]), finite(high[0]), len(kept))


def bounds_of_means(values: Floats, units: stats.Units, level: float) -> tuple[Floats, Floats]:
    """Bounds of the mean of every row [S, Q]: the wider of Student's and Hall's t, between units.

    NaN for a single query. Bounds outside 0 to 1 are cut where all values lie inside.
    """
    if values.shape[1] < 2:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    critical = stats.student_quantile((1 + level) / 2, units.effective - 1)
    bounds = stats.bounds_at(*moments(values, units), critical)
    return stats.within(*bounds, values, 0.0)
