"""Scored chunks → a ranking, the same on every machine: a number of chunks or a length of text deep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.step import RetrieverConfig
from harness.values import Ranking

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

# Scores keep this many decimals: below it, sums depend on the machine and would reorder ties.
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SearchDepth:
    """``top_k`` chunks, or, with ``top_chars``, the best chunks up to the one that fills so many characters.

    Chunkings are searched equally deep when they are searched for the same amount of text: 50 chunks of 180
    characters hold less than a budget of 10,000, and what lies beyond is lost to depth, not to the retriever.
    ``lengths`` [N] are in characters.
    """

    top_k: int
    top_chars: int | None
    lengths: Ints

    @classmethod
    def of(cls, config: RetrieverConfig, lengths: Sequence[int]) -> SearchDepth:
        """The depth that a configuration asks for among passages of these lengths."""
        return cls(config.top_k, config.top_chars, np.array(lengths, dtype=np.int64))

    @property
    def usual(self) -> int:
        """About how many chunks a ranking has: as many of mean length as are wanted, 1 at least."""
        if self.top_chars is None:
            return max(1, min(self.top_k, len(self.lengths)))
        mean = max(1.0, float(self.lengths.mean())) if len(self.lengths) else 1.0
        return max(1, min(len(self.lengths), int(np.ceil(self.top_chars / mean))))

    @property
    def most(self) -> int:
        """The most chunks that a ranking can have: with ``top_chars``, as many of the shortest as fill it."""
        return self.of_ranked(np.sort(self.lengths))

    def of_ranked(self, lengths: Ints) -> int:
        """How many chunks of a ranking are wanted, given their lengths [n] in rank order."""
        if self.top_chars is None:
            return min(self.top_k, len(lengths))
        return min(int(np.searchsorted(np.cumsum(lengths), self.top_chars)) + 1, len(lengths))


def cut(ranking: Ranking, config: RetrieverConfig, length: Mapping[str, int]) -> Ranking:
    """The beginning of a ranking, as deep as ``config`` asks for; ``length`` has characters by chunk id."""
    lengths = np.array([length[chunk_id] for chunk_id in ranking.chunk_ids], dtype=np.int64)
    end = SearchDepth(config.top_k, config.top_chars, lengths).of_ranked(lengths)
    return Ranking(ranking.query_id, ranking.chunk_ids[:end], ranking.scores[:end])


def ranked(
    query_id: str, rows: Ints, scores: Doubles, depth: SearchDepth, chunk_ids: Sequence[str]
) -> Ranking:
    """The best of the chunks ``rows`` [n] by their ``scores`` [n], as deep as is asked for."""
    order, rounded = best(rows, scores, depth)
    return Ranking(query_id, tuple(chunk_ids[i] for i in order), tuple(rounded.tolist()))


def best(rows: Ints, scores: Doubles, depth: SearchDepth) -> tuple[Ints, Doubles]:
    """The best of the chunks ``rows`` [n], as deep as is asked for, as ``in_order`` gives them.

    What cannot be among them is not sorted.
    """
    wanted = depth.usual
    while True:
        near_scores, all_rows = scores, rows
        if wanted < len(scores):
            # what is lower than the last one wanted by two units of the last decimal is below it rounded
            cut = np.partition(scores, -wanted)[-wanted] - 2 * 10.0**-DECIMALS
            near = scores >= cut
            near_scores, all_rows = scores[near], rows[near]
        order, rounded = in_order(all_rows, near_scores)
        end = depth.of_ranked(depth.lengths[order])
        # all that are kept may be too few to fill a number of characters
        filled = end <= wanted and (depth.top_chars is None or end < len(order))
        if filled or len(near_scores) == len(scores):
            return order[:end], rounded[:end]
        wanted *= 4


def in_order(rows: Ints, scores: Doubles) -> tuple[Ints, Doubles]:
    """``rows`` [n] in rank order with their rounded scores; equal ones are in the order of the chunks."""
    # Python rounds to the nearest decimal, numpy by multiplication; no -0.0
    rounded = np.array([round(score, DECIMALS) for score in scores.tolist()], dtype=np.float64) + 0.0
    order = np.lexsort((rows, -rounded))
    return rows[order], rounded[order]
