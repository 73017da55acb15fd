"""Put ranked documents in order: all queries together, to the depth that the measures need."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from harness.measures.ragged import AnyArray, Bools, Floats, Ints, head, offsets_of, slices

_BLOCK_CELLS = 250_000
TieKey = Callable[[Ints], AnyArray]
"""For rows of the run a number each; of equal scores the row with the higher number comes first."""


def rank_rows(
    query: AnyArray, n_queries: int, score: Floats, depth: int | None, tie_key: TieKey | None = None
) -> tuple[Ints, Ints]:
    """The rows of every query by score, highest first, at most ``depth`` of them: (rows, offsets).

    ``query`` and ``score`` [N] come in any order. Equal scores keep their order, or go by ``tie_key``, which
    is asked only for rows that tie. Scores must not be NaN. Time is O(N) for a run in order, O(N log N) at
    worst.
    """
    rows, offsets = group_rows(query, n_queries)
    if rows is None:
        return rank_grouped(score, offsets, depth, tie_key)
    key = None if tie_key is None else lambda chosen: tie_key(rows[chosen])
    order, offsets = rank_grouped(score[rows], offsets, depth, key)
    return rows[order], offsets


def rank_grouped(
    score: Floats, offsets: Ints, depth: int | None, tie_key: TieKey | None = None
) -> tuple[Ints, Ints]:
    """The same where the rows are query by query, query i's from ``offsets[i]`` on."""
    if _first_or_flagged(score[1:] < score[:-1], offsets).all():
        return head(offsets, depth)
    # in rectangular blocks of queries of similar length, so that one call sorts many
    counts = np.diff(offsets)
    kept = counts if depth is None else np.minimum(counts, depth)
    kept_offsets = offsets_of(kept)
    order = np.empty(kept_offsets[-1], dtype=np.int64)
    for queries in length_blocks(counts):
        falling, keep = falling_rows(score, offsets, queries), int(kept[queries].max())
        place, tied = _top(falling, counts[queries], keep)
        if tied.any():
            index = offsets[queries[tied]][:, None] + np.arange(falling.shape[1])
            inside = np.arange(falling.shape[1]) < counts[queries[tied]][:, None]
            place[tied] = _with_ties(falling[tied], index, inside, tie_key)[:, :keep]
        chosen = offsets[queries][:, None] + place
        order[slices(kept_offsets[queries], kept[queries])] = chosen[np.arange(keep) < kept[queries][:, None]]
    return order, kept_offsets


def group_rows(query: AnyArray, n_queries: int) -> tuple[Ints | None, Ints]:
    """The rows query by query, in their order within each (None if they come so), and the offsets."""
    offsets = offsets_of(np.bincount(query, minlength=n_queries))
    if not (query[1:] < query[:-1]).any():
        return None, offsets
    # query and row in one number: sorting these is stable, and twice as fast as an indirect stable sort
    packed = (query.astype(np.int64) << 32) | np.arange(len(query))
    packed.sort()
    return packed & 0xFFFFFFFF, offsets


def tie_groups(score: Floats, offsets: Ints) -> Ints:
    """For ordered scores, laid end to end, the number of each one's group of equals within its query."""
    return np.cumsum(_first_or_flagged(score[1:] != score[:-1], offsets)) - 1


def _first_or_flagged(flags: Bools, offsets: Ints) -> Bools:
    """Whether each is the first of its query or has a flag; ``flags`` are those of all but the very first."""
    firsts = np.append(True, flags)[: offsets[-1]]
    firsts[offsets[:-1][np.diff(offsets) > 0]] = True
    return firsts


def falling_rows(score: Floats, offsets: Ints, queries: Ints) -> Floats:
    """The negated scores of some queries, a row each, filled up with what sorts last: [queries, longest]."""
    counts = np.diff(offsets)[queries]
    width, first, last = int(counts.max()), offsets[queries[0]], offsets[queries[-1] + 1]
    if last - first == len(queries) * width and counts.min() == width:
        # queries of one length that stand side by side, as is usual: no index of every score is needed
        return -score[first:last].reshape(len(queries), width)
    column = np.arange(width)
    index = np.minimum(offsets[queries][:, None] + column, len(score) - 1)
    # NaN sorts after infinity, and five times as slowly
    filler = np.nan if score.min() == -np.inf else np.inf
    return np.where(column < counts[:, None], -score[index], filler)


def length_blocks(counts: Ints) -> Iterator[Ints]:
    """Queries with at least one row, those of similar length together, in runs of bounded size."""
    queries = np.flatnonzero(counts)
    queries = queries[np.argsort(counts[queries], kind="stable")]
    first = 0
    while first < len(queries):
        longest = counts[queries[first:]]
        fits = np.searchsorted(np.arange(1, len(longest) + 1) * longest, _BLOCK_CELLS, side="right")
        last = first + max(1, int(fits))
        yield queries[first:last]
        first = last


def _top(falling: Floats, counts: Ints, keep: int) -> tuple[Ints, Bools]:
    """The columns of each row's ``keep`` lowest values, in order, and which rows have equals there.

    The columns of these rows are for the caller to find. Only the first ``counts`` [rows] values of a row are
    scores, and only those can be equal.
    """
    # sorting values takes a third of the time of sorting their places, and the highest decide on both
    best = np.sort(falling, axis=1)[:, : keep + 1]
    equal = (best[:, 1:] == best[:, :-1]) & (np.arange(1, best.shape[1]) < counts[:, None])
    tied = equal.any(axis=1)
    if counts.min() < keep:
        return np.argsort(falling, axis=1)[:, :keep], tied
    place = np.zeros((len(falling), keep), dtype=np.int64)
    place[~tied] = _columns_up_to(falling[~tied], best[~tied, keep - 1], keep)
    return place, tied


def _columns_up_to(falling: Floats, highest: Floats, keep: int) -> Ints:
    """The columns of each row's values up to its ``highest``, in order; of these there are ``keep``."""
    rows, width = falling.shape
    chosen = np.flatnonzero(falling <= highest[:, None]).reshape(rows, keep)
    order = np.argsort(falling.ravel()[chosen], axis=1)
    columns: Ints = np.take_along_axis(chosen, order, axis=1) % width
    return columns


def _with_ties(falling: Floats, index: Ints, inside: Bools, tie_key: TieKey | None) -> Ints:
    if tie_key is None:
        return np.argsort(falling, axis=1, kind="stable")
    keys = np.zeros(falling.shape, dtype=np.int64)
    keys[inside] = tie_key(index[inside])
    by_key = np.argsort(-keys, axis=1, kind="stable")
    by_score = np.argsort(np.take_along_axis(falling, by_key, axis=1), axis=1, kind="stable")
    return np.take_along_axis(by_key, by_score, axis=1)
