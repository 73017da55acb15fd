"""The advice at the end: the best setting where the data name one, and what is open where they do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from harness.compare.arrays import ROUNDING, Floats
from harness.compare.best_set import best_set
from harness.compare.matrix import ScoreMatrix
from harness.compare.paired import Options
from harness.compare.resample import bootstrap_means
from harness.errors import HarnessError

NAMED_FROM = 0.9
# With fewer queries all resamples look alike, and their agreement means nothing.
FEWEST_QUERIES = 10
# Beyond so many times the queries at hand, "how many more" is a guess that helps nobody.
MOST_TIMES = 100


@dataclass(frozen=True, slots=True)
class Advice:
    """What the data allow to say.

    ``best_share`` says how often each setting is best in bootstrap resamples of the queries (equals share);
    ``named`` is the one with at least ``NAMED_FROM``, given ``FEWEST_QUERIES``, else None. ``leader`` has the
    highest mean, ``contenders`` cannot be ruled out as the best, ``ruled_out`` can, and ``p_best`` says for
    each how well the data agree with its being the best. ``cheapest`` is the cheapest contender by ``cost``,
    in ``unit`` (None without costs, or where a setting is named). ``more_queries``: about how many
    more would name the leader if the differences stay as they are; None where nothing is open or no number of
    use would do.
    """

    measure: str
    n: int
    leader: str
    named: str | None
    best_share: Mapping[str, float]
    contenders: tuple[str, ...]
    ruled_out: tuple[str, ...]
    cheapest: str | None
    cost: Mapping[str, float] | None
    more_queries: int | None
    p_best: Mapping[str, float] = field(default_factory=dict)
    unit: str = "cost"

    def sentences(self) -> tuple[str, ...]:
        """The advice in plain words."""
        share = f"{100 * self.best_share[self.leader]:.0f} % of bootstrap resamples of {self.n} queries"
        if self.named is not None:
            return (f"Use {self.named}: it has the best {self.measure} in {share}.", *self._others())
        if self.n < FEWEST_QUERIES:
            few = f"{self.n} queries are too few to name a setting; {self.leader} leads in {self.measure}."
            return (few, *self._others(), *self._cheapest(), *self._more())
        told = [
            f"No setting is clearly best. {self.leader} leads in {self.measure}, but is best in only {share}."
        ]
        return (*told, *self._others(), *self._cheapest(), *self._more())

    def _others(self) -> tuple[str, ...]:
        told = []
        rest = [name for name in self.contenders if name != self.named]
        if rest:
            told.append(f"Cannot be ruled out as the best: {', '.join(rest)}.")
        if self.ruled_out:
            each = (f"{name} (p {self.p_best[name]:.3f})" for name in self.ruled_out)
            told.append(
                "Ruled out as the best by a one-sided test of each setting against the best of the others: "
                f"{', '.join(each)}."
            )
        return tuple(told)

    def _cheapest(self) -> tuple[str, ...]:
        if self.cheapest is None or self.cost is None:
            return ()
        price = self.cost[self.cheapest]
        told = f"{price:,.0f}" if price >= 1000 else f"{price:.4g}"
        return (f"Cheapest of those that may be best: {self.cheapest} ({told} {self.unit}).",)

    def _more(self) -> tuple[str, ...]:
        if self.more_queries is None:
            return ("More queries are not likely to settle it: the leaders do about equally well.",)
        return (
            f"About {self.more_queries} more queries would name {self.leader} in 90 % of resamples, if the "
            "differences stay as they are.",
        )


def advise(
    matrix: ScoreMatrix,
    cost: Mapping[str, float] | None = None,
    options: Options | None = None,
    unit: str = "cost",
) -> Advice:
    """Advise on the queries of ``matrix``; ``cost`` is per setting, in any ``unit`` but one.

    Hand in queries that did not take part in an earlier choice of the settings. Raises HarnessError where no
    query has a value or a setting has no cost.
    """
    options = options or Options()
    if cost is not None:
        missing = [name for name in matrix.settings if not math.isfinite(cost.get(name, math.nan))]
        if missing:
            raise HarnessError(f"There is no cost for {', '.join(missing)}. Give one for every setting.")
    best = best_set(matrix, options)
    defined = matrix.defined()
    means = defined.means
    resampled = bootstrap_means(defined.values, options.resamples, options.seed)
    share = best_shares(resampled)
    leader = int(np.argmax(means))
    n = len(defined.query_ids)
    named = defined.settings[leader] if share[leader] >= NAMED_FROM and n >= FEWEST_QUERIES else None
    cheapest = None
    if named is None and cost is not None:
        cheapest = min(best.contenders, key=lambda name: cost[name])
    return Advice(
        measure=matrix.measure,
        n=n,
        leader=defined.settings[leader],
        named=named,
        best_share=dict(zip(defined.settings, share.tolist(), strict=True)),
        contenders=best.contenders,
        ruled_out=best.ruled_out,
        cheapest=cheapest,
        cost=cost,
        more_queries=None if named else _more_queries(resampled, means, leader, n),
        p_best=best.p,
        unit=unit,
    )


def best_shares(means: Floats) -> Floats:
    """How often each column of resampled means [B, S] is the highest, [S]; equals share the resample."""
    top = means >= means.max(axis=1, keepdims=True) - ROUNDING
    shares: Floats = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def _more_queries(resampled: Floats, means: Floats, leader: int, n: int) -> int | None:
    """With f times the queries resampled means scatter 1/√f as far: the least f that names the leader."""

    def named(queries: int) -> bool:
        scattered = means + (resampled - means) * math.sqrt(n / queries)
        return queries >= FEWEST_QUERIES and float(best_shares(scattered)[leader]) >= NAMED_FROM

    few, many = n, MOST_TIMES * n
    if not named(many):
        return None
    while many - few > max(1, few // 50):
        middle = (few + many) // 2
        few, many = (few, middle) if named(middle) else (middle, many)
    return many - n
