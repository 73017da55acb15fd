"""Ragged arrays: the lists of all queries laid end to end, with offsets saying where each begins.

List ``i`` is ``values[offsets[i]:offsets[i + 1]]``; a list may be empty. Every measure is vectorised over all
queries through these few functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
Lists = tuple[Ints, Ints]
"""The numbers of all lists, and the offsets of these."""


def offsets_of(counts: AnyArray) -> Ints:
    """Where each list begins, given how long each is: shape [n] → [n + 1]."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def owners(offsets: Ints) -> Ints:
    """For every element the index of the list it is in."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def positions(offsets: Ints) -> Ints:
    """For every element its 0-based position within its list."""
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def slices(starts: AnyArray, counts: AnyArray) -> Ints:
    """The indices ``starts[i], starts[i] + 1, … starts[i] + counts[i] - 1`` of all i, end to end."""
    bases: Ints = np.repeat(starts, counts)
    return positions(offsets_of(counts)) + bases


def head(offsets: Ints, k: int | None) -> tuple[Ints, Ints]:
    """The indices of the first ``k`` elements of every list (all where None), and their offsets."""
    if k is None:
        return np.arange(offsets[-1]), offsets
    counts = np.minimum(np.diff(offsets), k)
    return slices(offsets[:-1], counts), offsets_of(counts)


def segment_sum(values: AnyArray, offsets: Ints) -> Floats:
    """The sum of every list; 0 for an empty one."""
    sums = np.zeros(len(offsets) - 1)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        sums[filled] = np.add.reduceat(values.astype(np.float64, copy=False), offsets[filled])
    return sums


def before(values: AnyArray, offsets: Ints) -> Floats:
    """For every element the sum of the values (of flags the count) before it within its list."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    start: Floats = np.repeat(total[offsets[:-1]], np.diff(offsets))
    return total[:-1] - start


def sorted_descending(values: Ints, owner: Ints, n_lists: int) -> Lists:
    """Group values by owner, highest first within each."""
    order = np.lexsort((-values, owner))
    return values[order], offsets_of(np.bincount(owner, minlength=n_lists))


def mean_within(values: Floats, groups: Ints) -> Floats:
    """Every value replaced by the mean of its group; groups are numbered in order, 0 and up."""
    means: Floats = np.bincount(groups, values) / np.bincount(groups)
    return means[groups]


def share_of(part: AnyArray, whole: AnyArray, empty: float = 0.0) -> Floats:
    """Each part over its whole; ``empty`` where the whole is 0."""
    share: Floats = np.divide(part, whole, out=np.full(len(part), empty), where=whole > 0)
    return share


def place_in(names: Iterable[str], among: Iterable[str], missing: int = -1) -> Ints:
    """For every name its place among others, ``missing`` for one that is not there."""
    place = {name: i for i, name in enumerate(among)}
    return np.array([place.get(name, missing) for name in names], dtype=np.int64)


def repeated(names: Iterable[str]) -> str:
    """The first name that has been before; raises StopIteration if there is none."""
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
