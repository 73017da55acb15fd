"""The pool: every item that some setting ranks high enough to count, and its rank in each setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.comparison import Floats, Ints
from harness.measures import gain_exp, gain_lin, log2_discount
from harness.values import MAX_GRADE, LabelError

Gain = Literal["exp", "lin"]
UNKNOWN = -1


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


def make_pool(
    items: Sequence[PoolItem],
    settings: Sequence[str],
    *,
    k: int = 10,
    gain: Gain = "exp",
    max_grade: int = MAX_GRADE,
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
    count = [0] * len(queries)
    slot = np.zeros(len(kept), dtype=np.int64)
    for place, of in enumerate(query):
        slot[place] = count[of]
        count[of] += 1
    ranks = np.array([[one.ranks.get(name, k + 1) for one in kept] for name in settings], dtype=np.int64)
    discount = np.where(ranks <= k, log2_discount((ranks - 1).ravel()).reshape(ranks.shape), 0.0)
    worth = gain_exp if gain == "exp" else gain_lin
    return ItemPool(
        tuple(settings),
        queries,
        tuple(one.item_id for one in kept),
        query,
        slot,
        discount,
        np.array([np.nan if one.judge is None else one.judge for one in kept]),
        np.diff(worth(np.arange(max_grade + 1))),
        np.concatenate([[0.0], np.cumsum(log2_discount(np.arange(k)))]),
        k,
    )
