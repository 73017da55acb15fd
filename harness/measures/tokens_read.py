"""The text that a reader or language model has to read, in tokens. A cost, not a quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.measures.ragged import Floats, Ints, before, head, segment_sum, share_of


@dataclass(frozen=True, slots=True)
class Depth:
    """How far a ranking is read: its first ``amount`` ranks or so much of its text; None: all of it."""

    amount: int | None = None
    unit: Literal["ranks", "characters", "tokens"] = "ranks"

    def __str__(self) -> str:
        return "whole ranking" if self.amount is None else f"{self.amount} {self.unit}"

    @property
    def price(self) -> str:
        """The name of what is read so far: ``tokens@10``, ``tokens@5000 characters``, ``tokens``."""
        if self.amount is None:
            return "tokens"
        return f"tokens@{self.amount}" if self.unit == "ranks" else f"tokens@{self}"


@dataclass(frozen=True, slots=True)
class RankedTokens:
    """The length in tokens of every ranked chunk, all queries end to end (see ``ragged``)."""

    tokens: Ints
    offsets: Ints


def tokens_read(ranked: RankedTokens, cutoff: int | None) -> Floats:
    """The tokens of the first ``cutoff`` chunks (all where None); text in two chunks is read twice.

    0 if nothing is ranked.
    """
    first, offsets = head(ranked.offsets, cutoff)
    return segment_sum(ranked.tokens[first], offsets)


def tokens_within(ranked: RankedTokens, sizes: Ints, budget: int) -> Floats:
    """The tokens of the chunks until ``budget`` is filled; the last one counts by the share that is read.

    ``sizes`` [N] are the lengths of the ranked chunks in the unit of the budget.
    """
    room = np.clip(budget - before(sizes.astype(np.float64), ranked.offsets), 0, sizes)
    return segment_sum(ranked.tokens * share_of(room, sizes), ranked.offsets)


def tokens_to(ranked: RankedTokens, characters: Ints, depth: Depth) -> Floats:
    """The tokens read down to a ``depth``; ``characters`` [N] are the lengths of the ranked chunks."""
    if depth.unit == "ranks" or depth.amount is None:
        return tokens_read(ranked, depth.amount)
    return tokens_within(ranked, characters if depth.unit == "characters" else ranked.tokens, depth.amount)
