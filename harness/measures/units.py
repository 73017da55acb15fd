"""How long text is: in characters, or in tokens of whole documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures.ragged import AnyArray, Floats, Ints

TokenBoundaries = Callable[[str], Sequence[int] | AnyArray]
"""For a document id the sorted offsets at which its tokens begin, and, last, where the final token ends."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character is one unit."""

    def positions(self, doc_ids: Sequence[str], doc: Ints, offset: Ints) -> Floats:
        """The offset itself."""
        return offset.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Tokens:
    """One token of the document's own tokenization is one unit, spread evenly over its characters.

    Measuring on the document, not on each chunk, keeps a span equally long under every chunking. Text between
    two tokens belongs to the first of them; tokens that begin together share the text up to the next one.
    """

    boundaries: TokenBoundaries

    def positions(self, doc_ids: Sequence[str], doc: Ints, offset: Ints) -> Floats:
        """How many tokens, in fractions, are before; raises ValueError for unsorted boundaries."""
        found = np.empty(len(offset))
        for number in np.unique(doc).tolist():
            here = doc == number
            found[here] = self._within(doc_ids[number], offset[here])
        return found

    def _within(self, doc_id: str, offset: Ints) -> Floats:
        edges = np.asarray(self.boundaries(doc_id), dtype=np.int64)
        if len(edges) < 2 or (np.diff(edges) < 0).any():
            raise ValueError(f"{doc_id}: token boundaries must be sorted and 2 or more, not {edges[:5]}…")
        # several tokens that hold bytes of one character begin together: none of them is before it
        places, before = np.unique(edges, return_index=True)
        return np.interp(offset, places, before)


Unit = Characters | Tokens
"""Turns offsets within documents into positions; the length of a text is a difference of positions."""
