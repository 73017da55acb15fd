"""The full scan: the true nearest chunks, to compare an approximate index with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.depth import Doubles, Ints, SearchDepth
from harness.steps.search.tools import Spread, VectorRows
from harness.values import Ranking

Floats = NDArray[np.float32]

# float32 sums differ between libraries by less than this share of the score
_SLACK = 1e-5
# scores held in memory at once
_CELLS = 4_000_000
# chunks of a block
_ROWS = 16_384


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
    chunks: VectorRows,
    distance: str,
    depth: SearchDepth,
    norms: Floats | None = None,
    spread: Spread | None = None,
) -> list[Nearest]:
    """The nearest chunks of every query.

    ``queries`` [Q, d] and ``chunks`` [N ≥ 1, d]; ``distance`` is ``cosine``, ``l2`` or ``ip``; ``depth`` says
    how many are wanted; ``norms`` [N] are the lengths of the chunks' vectors, where they are known. Chunks
    are read once, a block at a time, and each block is scored for a part of the queries at a time. Only what
    may be among the nearest so far is kept, so memory does not grow with the chunks. ``spread`` scores
    blocks elsewhere, in any order.
    """
    candidates = _Candidates.none(len(queries))
    if spread is not None:
        for near in spread(partial(_scan_block, queries, distance, depth), _Blocks(chunks)):
            candidates = _Candidates.near([candidates, near], depth)
        return candidates.nearest(depth)
    for begin in range(0, len(chunks), _ROWS):
        part = slice(begin, begin + _ROWS)
        block = np.asarray(chunks[part])
        lengths = np.linalg.norm(block, axis=1) if norms is None else norms[part]
        candidates = _scanned(queries, block, lengths, begin, distance, depth, candidates)
    return candidates.nearest(depth)


def _scanned(
    queries: Floats,
    block: Floats,
    norms: Floats,
    begin: int,
    distance: str,
    depth: SearchDepth,
    candidates: _Candidates,
) -> _Candidates:
    """What was found before, and the block [R, d] of chunks from ``begin`` on; ``norms`` [R] are its own."""
    lengths = depth.lengths[begin : begin + len(block)]
    step = max(1, _CELLS // len(block))
    new = [candidates]
    for first in range(0, len(queries), step):
        scores = _scores(queries[first : first + step], block, norms, distance)
        cut = candidates.cut[first : first + step]
        if np.isneginf(cut).any():
            cut = np.maximum(cut, _lowest(scores, depth, lengths))
        query, row = np.nonzero(scores >= cut[:, None])
        new.append(_Candidates(query + first, row + begin, scores[query, row], candidates.cut))
    return _Candidates.near(new, depth)


@dataclass(frozen=True, slots=True)
class _Blocks(Sequence[tuple[int, Floats]]):
    """The chunks as blocks with their beginnings, read when asked for."""

    chunks: VectorRows

    def __len__(self) -> int:
        return math.ceil(len(self.chunks) / _ROWS)

    def __getitem__(self, place: Any) -> Any:
        begin = place * _ROWS
        return begin, np.asarray(self.chunks[begin : begin + _ROWS])


def _scan_block(queries: Floats, distance: str, depth: SearchDepth, part: tuple[int, Floats]) -> _Candidates:
    """The candidates of one block, whatever the others have."""
    begin, block = part
    norms, none = np.linalg.norm(block, axis=1), _Candidates.none(len(queries))
    return _scanned(queries, block, norms, begin, distance, depth, none)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What may be among the nearest: ``query``, ``row`` and ``score`` [C], by query and falling score.

    Below ``cut`` [Q] no chunk of a query can be among its nearest.
    """

    query: Ints
    row: Ints
    score: Floats
    cut: Floats

    @classmethod
    def none(cls, queries: int) -> _Candidates:
        """Nothing yet."""
        nothing = np.zeros(0, dtype=np.int64)
        cut = np.full(queries, -np.inf, dtype=np.float32)
        return cls(nothing, nothing, np.zeros(0, dtype=np.float32), cut)

    @classmethod
    def near(cls, parts: Sequence[_Candidates], depth: SearchDepth) -> _Candidates:
        """Those of all parts, which may come in any order, that may still be among the nearest."""
        query = np.concatenate([part.query for part in parts])
        row = np.concatenate([part.row for part in parts])
        score = np.concatenate([part.score for part in parts])
        # equal scores stay in the order of the chunks
        order = np.lexsort((row, -score, query))
        sorted_all = cls(query[order], row[order], score[order], parts[0].cut)
        _, kth, full = sorted_all.depths(depth)
        cut = np.where(full, kth - slack(kth), -np.inf).astype(np.float32)
        near = sorted_all.score >= cut[sorted_all.query]
        return cls(sorted_all.query[near], sorted_all.row[near], sorted_all.score[near], cut)

    def depths(self, depth: SearchDepth) -> tuple[Ints, Doubles, NDArray[np.bool_]]:
        """How many are wanted for each query, the score of the last of them, and whether there are enough."""
        counts = np.bincount(self.query, minlength=len(self.cut))
        starts = np.cumsum(counts) - counts
        budget, weight = depth.top_k, np.ones(len(self.row), dtype=np.int64)
        if depth.top_chars is not None:
            budget, weight = depth.top_chars, depth.lengths[self.row]
        total = np.concatenate([[0], np.cumsum(weight)])
        before = total[:-1] - total[starts][self.query]
        wanted = np.bincount(self.query[before < budget], minlength=len(self.cut))
        kth = self.score[starts + wanted - 1].astype(np.float64)
        return wanted, kth, total[starts + counts] - total[starts] >= budget

    def nearest(self, depth: SearchDepth) -> list[Nearest]:
        """The result for every query."""
        wanted, kth, _ = self.depths(depth)
        ends = np.cumsum(np.bincount(self.query, minlength=len(self.cut)))[:-1]
        rows_by_query = zip(wanted.tolist(), kth.tolist(), np.split(self.row, ends), strict=True)
        return [Nearest(k, score, np.sort(rows)) for k, score, rows in rows_by_query]


def _lowest(scores: Floats, depth: SearchDepth, lengths: Ints) -> Doubles:
    """A score for each query [Q] below which no chunk of a block [Q, R] is wanted, -inf if none is known."""
    count = depth.usual if depth.top_chars is None else 2 * depth.usual
    if count > scores.shape[1]:
        return np.full(len(scores), -np.inf)
    last = np.partition(scores, -count, axis=1)[:, -count].astype(np.float64)
    cut: Doubles = last - slack(last)
    if depth.top_chars is not None:
        enough = (scores >= last[:, None]) @ lengths >= depth.top_chars
        cut[~enough] = -np.inf
    return cut


def slack(score: Any) -> Any:
    """By how much two float32 computations of a score, or of each of many, may differ."""
    return _SLACK * np.maximum(1.0, np.abs(score))


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
    vector, many = query.astype(np.float64), chunks.astype(np.float64)
    scores: Doubles = (many * vector).sum(axis=1)
    if distance == "l2":
        scores = -((many - vector) ** 2).sum(axis=1)
    if distance == "cosine":
        scores /= np.linalg.norm(vector) * np.linalg.norm(many, axis=1) + 1e-30
    return scores


def _scores(queries: Floats, chunks: Floats, norms: Floats, distance: str) -> Floats:
    """Similarities [Q, N], higher is better: cosine, inner product, or −squared L2."""
    scores: Floats = queries @ chunks.T
    if distance == "cosine":
        scores /= np.linalg.norm(queries, axis=1)[:, None] * norms + np.float32(1e-30)
    elif distance == "l2":
        scores = 2 * scores - norms**2 - (queries**2).sum(axis=1)[:, None]
    return scores
