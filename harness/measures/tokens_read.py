"""tokens@k: the amount of text that a reader or language model has to read. A cost, not a quality."""

from __future__ import annotations

from dataclasses import dataclass

from harness.measures.ragged import Floats, Ints, head, segment_sum


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
