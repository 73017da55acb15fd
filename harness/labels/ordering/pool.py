"""The pool: every item that some setting ranks high enough to count, its rank in each, and what was drawn."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from harness.measures import Floats, Ints, gain_exp, log2_discount
from harness.values import MAX_GRADE, LabelError

UNKNOWN = -1
# the sizes of a batch as they are kept
STORED = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class PoolItem:
    """One thing to grade: a passage of a query, with the first rank that each setting gives it.

    ``ranks`` maps settings to 1-based ranks; a setting that does not rank it is missing. ``judge`` is the
    grade of a language model, None if there is none.
    """

    item_id: str
    query_id: str
    ranks: Mapping[str, int]
    judge: float | None = None


@dataclass(frozen=True, slots=True)
class ItemPool:
    """Items as arrays: S settings, Q queries, P items, query after query.

    ``query`` [P] is the number of an item's query, ``slot`` [P] its place among the items of that query.
    ``discount`` [S, P] is what its rank is worth to each setting, 0 below ``k``. ``judge`` [P] is NaN if
    no model has graded. ``steps`` [G] is what each grade 1..G gains over the one below; ``top`` [k + 1] sums
    of the first discounts.
    """

    settings: tuple[str, ...]
    queries: tuple[str, ...]
    ids: tuple[str, ...]
    query: Ints
    slot: Ints
    discount: Floats
    judge: Floats
    steps: Floats
    top: Floats
    k: int

    @property
    def width(self) -> int:
        """The most items of one query."""
        return int(self.slot.max(initial=-1)) + 1

    def grades(self, labels: Mapping[str, int]) -> Ints:
        """The grade of every item [P], -1 if there is none; raises LabelError for one off the scale.

        Grades below 0, which TREC gives to spam, count as 0.
        """
        most = len(self.steps)
        found = np.array(
            [max(labels[one], 0) if one in labels else UNKNOWN for one in self.ids], dtype=np.int64
        )
        if found.max(initial=0) > most:
            name = self.ids[int(found.argmax())]
            raise LabelError(f"{name} has grade {found.max()}; the scale ends at {most}. Correct the grade.")
        return found


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """One item of a batch: its ``size``, and its random number over that, the ``place``."""

    item_id: str
    size: Annotated[float, Field(gt=0)]
    place: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Items in the order in which they are to be graded."""

    drawn: tuple[DrawnItem, ...]
    # the place of the first item that was not drawn, None if all were
    beyond: float | None
    # of all items of the pool in the order of their ids, as 32-bit numbers, little end first; items that
    # could not be drawn have the size that they would have had
    sizes: bytes
    # the items that had grades when it was drawn and could not be drawn
    known: frozenset[str]

    def done(self, labels: Container[str], skipped: Container[str] = ()) -> int:
        """How many of its items are graded or skipped without a gap from the first."""
        for count, one in enumerate(self.drawn):
            if one.item_id not in labels and one.item_id not in skipped:
                return count
        return len(self.drawn)

    def chances(self, count: int) -> Floats:
        """The chance of each item of the pool [P] to be among the first ``count``, had none been known.

        In the order of their ids.
        """
        sizes = np.frombuffer(self.sizes, STORED).astype(np.float64)
        edge = self.beyond if count == len(self.drawn) else self.drawn[count].place
        return np.ones(len(sizes)) if edge is None else np.minimum(1.0, sizes * edge)


def make_pool(
    items: Sequence[PoolItem], settings: Sequence[str], *, k: int = 10, max_grade: int = MAX_GRADE
) -> ItemPool:
    """Arrays of the items that some setting has among its first ``k``; raises LabelError if none is.

    Items of one query keep their order. Items further down stay out: they move no ranking, and whether they
    belong to the ideal is beyond this pool.
    """
    kept = [one for one in items if any(rank <= k for rank in one.ranks.values())]
    if not kept or not settings:
        raise LabelError(f"No setting ranks anything among its first {k}: there is nothing to label.")
    if len({one.item_id for one in kept}) < len(kept):
        raise LabelError("An item is in the pool twice: every passage of a query needs an id of its own.")
    queries = tuple(dict.fromkeys(one.query_id for one in kept))
    number = {name: place for place, name in enumerate(queries)}
    kept.sort(key=lambda one: number[one.query_id])
    query = np.array([number[one.query_id] for one in kept], dtype=np.int64)
    slot = np.arange(len(kept)) - np.searchsorted(query, query)
    ranks = np.array([[one.ranks.get(name, k + 1) for one in kept] for name in settings], dtype=np.int64)
    discount = np.where(ranks <= k, log2_discount((ranks - 1).ravel()).reshape(ranks.shape), 0.0)
    return ItemPool(
        tuple(settings),
        queries,
        tuple(one.item_id for one in kept),
        query,
        slot,
        discount,
        np.array([np.nan if one.judge is None else one.judge for one in kept]),
        np.diff(gain_exp(np.arange(max_grade + 1))),
        np.concatenate([[0.0], np.cumsum(log2_discount(np.arange(k)))]),
        k,
    )
