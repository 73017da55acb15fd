"""How long chunks are for the model that reads them, and how many it would cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.chunk.tokenizer import Tokenizer, token_counts
from harness.types import Chunk


@dataclass(frozen=True, slots=True)
class Overlong:
    """How many of ``total`` chunks are longer than the ``window`` tokens that a model reads."""

    count: int
    total: int
    longest: int
    window: int

    @property
    def share(self) -> float:
        """The share of chunks that are too long; 0 where there are no chunks."""
        return self.count / self.total if self.total else 0.0


def token_lengths(chunks: Sequence[Chunk], tokenizer: Tokenizer) -> NDArray[np.int32]:
    """The length of each chunk in tokens, special tokens included, measured in one batched call."""
    counts = token_counts(tokenizer, [chunk.text for chunk in chunks])
    return np.asarray(counts, dtype=np.int32) + np.int32(tokenizer.special)


def count_overlong(
    chunks: Sequence[Chunk], tokenizer: Tokenizer, lengths: NDArray[np.int32] | None = None
) -> Overlong | None:
    """How many chunks the model would cut; None where its window is unknown.

    ``lengths`` are those of ``token_lengths``, where they are known already.
    """
    if not tokenizer.window:
        return None
    if lengths is None:
        lengths = token_lengths(chunks, tokenizer)
    return Overlong(
        count=int((lengths > tokenizer.window).sum()),
        total=len(chunks),
        longest=int(lengths.max(initial=0)),
        window=tokenizer.window,
    )
