"""Scored chunks → a ranking that is the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.depth import SearchDepth
from harness.values import Ranking

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

# Scores keep this many decimals: below it, sums depend on the machine and would reorder ties.
DECIMALS = 6


def ranked(
    query_id: str, rows: Ints, scores: Doubles, depth: SearchDepth | int, chunk_ids: Sequence[str]
) -> Ranking:
    """The best of the chunks ``rows`` [n] by their ``scores`` [n]: so many, or as deep as is asked for."""
    order, rounded = in_order(rows, scores)
    end = depth if isinstance(depth, int) else depth.of_ranked(depth.lengths[order])
    return Ranking(query_id, tuple(chunk_ids[i] for i in order[:end]), tuple(rounded[:end].tolist()))


def in_order(rows: Ints, scores: Doubles) -> tuple[Ints, Doubles]:
    """``rows`` [n] in rank order with their rounded scores; equal ones are in the order of the chunks."""
    # Python rounds to the nearest decimal, numpy by multiplication; no -0.0
    rounded = np.array([round(score, DECIMALS) for score in scores.tolist()], dtype=np.float64) + 0.0
    order = np.lexsort((rows, -rounded))
    return rows[order], rounded[order]
