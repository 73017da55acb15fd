"""The full scan: the true nearest chunks, to compare an approximate index with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.values import Ranking

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

# float32 sums differ between libraries by less than this share of the score
_SLACK = 1e-5
# scores held in memory at once
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Nearest:
    """The true ``k`` nearest chunks of one query.

    ``kth`` is the score of the k-th; ``rows`` [≥ k] are all chunks that reach it within float32 error, all
    that tie at the cut among them.
    """

    k: int
    kth: float
    rows: Ints


def scan(
    queries: Floats,
    chunks: Floats,
    distance: str,
    depth: Callable[[Floats], int],
    norms: Floats | None = None,
) -> Iterator[Nearest]:
    """The nearest chunks of every query, one query after the other.

    ``queries`` [Q, d] and ``chunks`` [N, d]; ``distance`` is ``cosine``, ``l2`` or ``ip``; ``depth`` says
    from the scores [N] of a query how many of its chunks are wanted, 1..N. A block of queries is scored at a
    time, so memory does not grow with their number. ``norms`` [N] are the lengths of the chunks' vectors,
    where they are known.
    """
    norms = np.linalg.norm(chunks, axis=1) if norms is None else norms
    step = max(1, _CELLS // len(chunks))
    for begin in range(0, len(queries), step):
        for scores in _scores(queries[begin : begin + step], chunks, norms, distance):
            k = depth(scores)
            kth = float(np.partition(scores, -k)[-k])
            yield Nearest(k, kth, np.flatnonzero(scores >= kth - slack(kth)))


def slack(score: float) -> float:
    """By how much two float32 computations of ``score`` may differ."""
    return _SLACK * max(1.0, abs(score))


def exact_share(rankings: Sequence[Ranking], nearest: Sequence[Nearest]) -> float | None:
    """The share of the true nearest chunks that an index returned: its recall against a full scan.

    ``nearest`` is that of each ranking's query. A returned chunk counts when its score reaches that of the
    true k-th, so that ties do not count against the index. None if nothing was returned.
    """
    hits = total = 0
    for ranking, true in zip(rankings, nearest, strict=True):
        hits += sum(score >= true.kth - slack(true.kth) for score in ranking.scores)
        total += len(ranking.scores)
    return hits / total if total else None


def found_share(
    rankings: Sequence[Ranking], chunk_ids: Sequence[str], nearest: Sequence[Nearest]
) -> float | None:
    """The share of the true nearest chunks that an index returned, whatever scores it gave them.

    For an index whose scores are estimates, or that returns fewer than it is asked for. Chunks that tie at
    the true cut count as near. None if there was nothing to find.
    """
    hits = total = 0
    for ranking, true in zip(rankings, nearest, strict=True):
        near = {chunk_ids[row] for row in true.rows}
        hits += min(true.k, len(near.intersection(ranking.chunk_ids)))
        total += true.k
    return hits / total if total else None


def similarities(query: Floats, chunks: Floats, distance: str) -> Doubles:
    """The similarity of a query [d] to each chunk [n, d] in double precision, as in ``scan``."""
    one, many = query.astype(np.float64), chunks.astype(np.float64)
    scores: Doubles = (many * one).sum(axis=1)
    if distance == "l2":
        scores = -((many - one) ** 2).sum(axis=1)
    if distance == "cosine":
        scores /= np.linalg.norm(one) * np.linalg.norm(many, axis=1) + 1e-30
    return scores


def _scores(queries: Floats, chunks: Floats, norms: Floats, distance: str) -> Floats:
    """Similarities [Q, N], higher is better: cosine, inner product, or −squared L2."""
    scores: Floats = queries @ chunks.T
    if distance == "cosine":
        scores /= np.linalg.norm(queries, axis=1)[:, None] * norms + np.float32(1e-30)
    elif distance == "l2":
        scores = 2 * scores - norms**2 - (queries**2).sum(axis=1)[:, None]
    return scores
