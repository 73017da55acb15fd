"""The input of rank-based measures: grades earned along rankings, and the ideal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.measures.ragged import Bools, Ints, head, offsets_of, owners, positions, running_count


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
    and the grade it earns: its own, or 0 if it is unjudged or repeats evidence ranked above it.
    ``ideal`` holds per query the grades of the best possible ranking, highest first (``ideal_offsets``);
    ``evidence`` the grade of everything there is to find (``evidence_offsets``), retrievable or not.
    ``hits`` is None if every item is its own evidence, as with judged documents. ``ties`` [N], if given,
    numbers the groups of equally scored items, whose gains NDCG averages. ``condensed_from`` is the lowest
    grade that condensed rankings keep, None for any. ``partly`` [N], if given: the item earns the grade that
    is known of it, and a part of it has none, as a judgment failed; ``certain`` is then the ideal without
    such items (``certain_offsets``).
    """

    offsets: Ints
    judged: Bools
    earned: Ints
    ideal_offsets: Ints
    ideal: Ints
    evidence_offsets: Ints
    evidence: Ints
    hits: Hits | None = None
    ties: Ints | None = None
    condensed_from: int | None = None
    partly: Bools | None = None
    certain_offsets: Ints | None = None
    certain: Ints | None = None

    @property
    def open(self) -> Bools:
        """Whether an item may be worth more than is known, [N]: unjudged, or judged in part."""
        return ~self.judged if self.partly is None else ~self.judged | self.partly

    @property
    def certain_ideal(self) -> tuple[Ints, Ints]:
        """As ``ideal_offsets`` and ``ideal``, of the items alone that are judged whole."""
        if self.certain_offsets is None or self.certain is None:
            return self.ideal_offsets, self.ideal
        return self.certain_offsets, self.certain

    @property
    def n_queries(self) -> int:
        """How many queries there are, with a ranking or without."""
        return len(self.offsets) - 1

    def n_relevant(self, rel: int = 1) -> Ints:
        """How much evidence of grade ``rel`` or better each query has: [Q]."""
        owner = owners(self.evidence_offsets)[self.evidence >= rel]
        return np.bincount(owner, minlength=self.n_queries)

    def top(self, k: int | None) -> tuple[Ints, Ints, Ints]:
        """The earned grades of the first k items of every query, their 0-based positions, their offsets."""
        if k is None:
            return self.earned, positions(self.offsets), self.offsets
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
            earned=self.earned[stays],
            hits=None if self.hits is None else self._moved_up(self.hits, stays),
            partly=None if self.partly is None else self.partly[stays],
            ties=None if self.ties is None else np.unique(self.ties[stays], return_inverse=True)[1],
        )

    def _moved_up(self, hits: Hits, stays: Bools) -> Hits:
        """The hits, all of which are items that stay, at their places among these."""
        place = self.offsets[hits.query_of_evidence[hits.evidence]] + hits.position
        return replace(hits, position=running_count(stays, self.offsets)[place] - 1)
