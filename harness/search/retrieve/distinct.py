"""Equal vectors go into an index once: copies take up a graph's edges until parts of it are out of reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Distinct:
    """``first`` [D]: the first row of each distinct vector; ``members[d]``: all rows that hold it."""

    first: Ints
    members: tuple[Ints, ...]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> Distinct:
        """Group the rows [N, d] that are equal bit by bit; groups stand in the order of their first rows."""
        rows = np.ascontiguousarray(vectors)
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(rows):
            groups.setdefault(row.tobytes(), []).append(i)
        members = tuple(np.array(group, dtype=np.int64) for group in groups.values())
        return cls(np.array([group[0] for group in members], dtype=np.int64), members)

    def expand(self, found: Ints, scores: NDArray[np.float64]) -> tuple[Ints, NDArray[np.float64]]:
        """All rows of the distinct vectors ``found``, each with its vector's score."""
        groups = [self.members[i] for i in found]
        return (
            np.concatenate(groups) if groups else found,
            np.repeat(scores, [len(group) for group in groups]),
        )
