"""Grades earned along rankings, and measures of them by rank: gain, NDCG, precision, recall and their kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.measures.ragged import (
    AnyArray,
    Bools,
    Floats,
    Ints,
    Lists,
    before,
    head,
    mean_within,
    offsets_of,
    owners,
    positions,
    segment_sum,
    share_of,
)


@dataclass(frozen=True, slots=True)
class Hits:
    """Which evidence a ranked item covers, one row each: an item may cover several, or none."""

    position: Ints
    evidence: Ints
    grade: Ints
    query_of_evidence: Ints


@dataclass(frozen=True, slots=True)
class Graded:
    """The rankings of Q queries with their grades, laid end to end (see ``ragged``).

    ``offsets`` [Q + 1] delimit the ranked items; ``judged`` and ``earned`` [N] say whether an item is judged
    and the grade it earns: its own, or 0 if it is unjudged or repeats evidence ranked above it. ``open`` [N]:
    it may be worth more than is known, as it is unjudged or a part of it has no grade. Lists of grades per
    query are ``ideal``, the best possible ranking, highest first, ``certain``, the same of the items alone
    that are judged whole, and ``evidence``, everything there is to find, retrievable or not. ``hits`` is None
    if every item is its own evidence, as with judged documents. ``ties`` [N], if given, numbers the groups of
    equally scored items, whose gains NDCG averages. ``condensed_from`` is the lowest grade that condensed
    rankings keep, None for any.
    """

    offsets: Ints
    judged: Bools
    open: Bools
    earned: Ints
    ideal: Lists
    certain: Lists
    evidence: Lists
    hits: Hits | None = None
    ties: Ints | None = None
    condensed_from: int | None = None

    @property
    def n_queries(self) -> int:
        """How many queries there are, with a ranking or without."""
        return len(self.offsets) - 1

    def n_relevant(self, rel: int = 1) -> Ints:
        """How much evidence of grade ``rel`` or better each query has: [Q]."""
        grade, offsets = self.evidence
        return np.bincount(owners(offsets)[grade >= rel], minlength=self.n_queries)

    def top(self, k: int | None) -> tuple[Ints, Ints, Ints]:
        """The earned grades of the first k items of every query, their 0-based positions, their offsets."""
        index, offsets = head(self.offsets, k)
        return self.earned[index], positions(offsets), offsets

    def condensed(self) -> Graded:
        """The same rankings with the unjudged items taken out (Sakai, SIGIR 2007); ties stay ties."""
        stays = self.judged
        if self.condensed_from is not None:
            stays = stays & (self.earned >= self.condensed_from)
        kept = np.bincount(owners(self.offsets)[stays], minlength=self.n_queries)
        return replace(
            self,
            offsets=offsets_of(kept),
            judged=np.ones(int(kept.sum()), dtype=np.bool_),
            open=self.open[stays],
            earned=self.earned[stays],
            hits=None if self.hits is None else self._moved_up(self.hits, stays),
            ties=None if self.ties is None else np.unique(self.ties[stays], return_inverse=True)[1],
        )

    def _moved_up(self, hits: Hits, stays: Bools) -> Hits:
        """The hits, all of which are items that stay, at their places among these."""
        place = self.offsets[hits.query_of_evidence[hits.evidence]] + hits.position
        return replace(hits, position=before(stays, self.offsets)[place].astype(np.int64))


_LARGEST = 1000


def gain_exp(grades: AnyArray) -> Floats:
    """``2^g - 1`` (Burges et al., ICML 2005); 0 for grades below 1.

    Raises ValueError for a grade above 1000: the sum of such gains would be infinite.
    """
    if grades.max(initial=0) > _LARGEST:
        raise ValueError(
            f"the grade {grades.max()} is too large for exponential gain, 2^grade - 1; ask for ndcg_lin, or "
            "translate the grades"
        )
    return np.exp2(np.maximum(grades, 0)) - 1.0


def gain_lin(grades: AnyArray) -> Floats:
    """``g`` itself (Järvelin and Kekäläinen, TOIS 2002; trec_eval); 0 for grades below 1."""
    return np.maximum(grades, 0).astype(np.float64)


def log2_discount(positions: AnyArray) -> Floats:
    """``1 / log2(rank + 1)`` for 0-based positions, so 1 at the first rank (Burges et al., ICML 2005)."""
    table = 1.0 / np.log2(np.arange(2.0, positions.max(initial=-1) + 3.0))
    return np.asarray(table[positions], dtype=np.float64)


Gain = Callable[[AnyArray], Floats]


def dcg(grades: AnyArray, offsets: Ints, k: int | None, gain: Gain) -> Floats:
    """Discounted cumulative gain of the first k grades of every list: ``sum gain(g) / log2(rank + 1)``."""
    index, heads = head(offsets, k)
    return segment_sum(gain(grades[index]) * log2_discount(positions(heads)), heads)


def ndcg(graded: Graded, k: int | None, gain: Gain) -> Floats:
    """DCG@k of the earned grades over DCG@k of the ideal ranking; in [0, 1]; 0 if the ideal is 0.

    Each evidence is earned at most once and the ideal holds each at its best grade, so no ranking can
    exceed the ideal. Sources: Järvelin and Kekäläinen, TOIS 2002; Burges et al., ICML 2005.

    Equally scored items share their gains where ``ties`` says so: the mean over all orders of tied items is
    that of giving each the mean gain (McSherry and Najork, ECIR 2008).
    """
    achieved = dcg(graded.earned, graded.offsets, k, gain)
    if graded.ties is not None:
        gains = mean_within(gain(graded.earned), graded.ties)
        achieved = dcg(gains, graded.offsets, k, lambda gains: gains)
    return share_of(achieved, dcg(*graded.ideal, k, gain))


def precision(graded: Graded, k: int, rel: int) -> Floats:
    """Items among the first k that earn grade ``rel`` or better, over k (also of a shorter ranking)."""
    earned, _, offsets = graded.top(k)
    return segment_sum(earned >= rel, offsets) / k


def recall(graded: Graded, k: int | None, rel: int) -> Floats:
    """The share of a query's relevant evidence that the first k items cover; 0 if nothing is relevant.

    Evidence is relevant when a copy of it has grade ``rel`` or better, and found when such a copy is covered.
    One item may cover several.
    """
    hits = graded.hits
    if hits is None:
        earned, _, offsets = graded.top(k)
        return share_of(segment_sum(earned >= rel, offsets), graded.n_relevant(rel))
    counts = hits.grade >= rel
    if k is not None:
        counts &= hits.position < k
    owner = hits.query_of_evidence[np.unique(hits.evidence[counts])]
    recalled = np.bincount(owner[owner >= 0], minlength=graded.n_queries)
    return share_of(recalled, graded.n_relevant(rel))


def average_precision(graded: Graded, k: int | None, rel: int) -> Floats:
    """Sum of the precision at every rank that earns ``rel`` or better, over all relevant evidence.

    What is relevant but not ranked counts in the denominator; 0 if nothing is relevant.
    Its mean over queries is MAP (Buckley and Voorhees, SIGIR 2000).
    """
    earned, position, offsets = graded.top(k)
    relevant = earned >= rel
    precisions = np.where(relevant, (before(relevant, offsets) + 1) / (position + 1), 0.0)
    return share_of(segment_sum(precisions, offsets), graded.n_relevant(rel))


def reciprocal_rank(graded: Graded, k: int | None, rel: int) -> Floats:
    """One over the rank of the first item that earns ``rel`` or better; 0 if none does.

    Its mean over queries is MRR (Voorhees, TREC-8, 1999).
    """
    earned, position, offsets = graded.top(k)
    relevant = earned >= rel
    first = relevant & (before(relevant, offsets) == 0)
    return segment_sum(np.where(first, 1.0 / (position + 1), 0.0), offsets)


def success(graded: Graded, k: int | None, rel: int) -> Floats:
    """1 if an item among the first k earns grade ``rel`` or better, else 0.

    ``success_k`` of trec_eval; others call its mean the hit rate.
    """
    earned, _, offsets = graded.top(k)
    return (segment_sum(earned >= rel, offsets) > 0).astype(np.float64)


def rbp(graded: Graded, k: int | None, p: float, rel: int) -> Floats:
    """The share of what a patient reader looks at that is relevant.

    That is ``(1 - p) Σ [grade >= rel] p^(rank - 1)`` over the first k ranks (all where None): the reader goes
    on from each rank to the next with probability ``p``. In [0, 1]; short rankings never reach 1. Source:
    Moffat and Zobel, TOIS 2008.
    """
    earned, place, offsets = graded.top(k)
    return (1 - p) * segment_sum((earned >= rel) * np.power(p, place), offsets)


def rbp_residual(graded: Graded, k: int | None, p: float, rel: int) -> Floats:
    """How much ``rbp`` would rise if all that is unknown were relevant; no grading exceeds the two together.

    Unknown are the ranks that are not judged, or judged in part and below ``rel``, each worth ``(1 - p)
    p^(rank - 1)``, and all ranks after the last that was looked at, worth ``p^d`` for a depth of d. Source:
    Moffat and Zobel, TOIS 2008.
    """
    index, offsets = head(graded.offsets, k)
    unknown = graded.open[index] & (graded.earned[index] < rel)
    within = (1 - p) * segment_sum(unknown * np.power(p, positions(offsets)), offsets)
    return within + np.power(p, np.diff(offsets))


def judged(graded: Graded, k: int | None) -> Floats:
    """The share of the first k items returned that is judged as a whole; NaN if nothing was returned."""
    index, offsets = head(graded.offsets, k)
    returned = np.diff(offsets)
    count = segment_sum(~graded.open[index], offsets)
    return share_of(count, returned, empty=np.nan)


def condensed(graded: Graded, k: int | None, of: Callable[..., Floats], **params: Any) -> Floats:
    """The measure ``of`` rankings whose unjudged items are taken out, the others moved up into the gaps.

    Sources: Sakai, SIGIR 2007; ``trec_eval -J``.
    """
    return of(graded.condensed(), k, **params)


def seed_ratio(predicted: AnyArray, judged: AnyArray) -> float:
    """DCG of the grades that a reranker predicts, as retrieved, over the judge's, sorted: *not* NDCG.

    A reranker orders the n passages that were retrieved first; the one that it puts first is predicted the
    grade n - 1, the last 0. ``predicted`` [n] has these grades in the order of retrieval, ``judged`` [n] the
    judge's. The DCG of the first list as it stands is divided by that of the second, sorted. So the ratio
    says how far retrieval agrees with the reranker's order; which passage the judge preferred is lost by
    sorting, and a judge that is sterner than the reranker makes it exceed 1. It is 0 where the judge gave
    nothing but zeros. Given to reproduce published figures; use ``ndcg`` to measure.

    Grades are at least 0. Raises ValueError if the lengths differ or are 0.
    """
    if len(predicted) != len(judged) or not len(predicted):
        raise ValueError(
            f"seed_ratio needs a predicted and a judged grade for each passage, not {len(predicted)} and "
            f"{len(judged)}"
        )
    discount = log2_discount(np.arange(len(predicted)))
    ideal = float(gain_exp(-np.sort(-np.asarray(judged))) @ discount)
    return float(gain_exp(np.asarray(predicted)) @ discount) / ideal if ideal else 0.0
