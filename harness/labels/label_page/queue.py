"""The next items of a rater: the order, the progress, and how long the rest will take."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.labels.label_page.ratings import ItemRating
from harness.labels.labelling.passages import PassageToGrade

# labels after which the order is asked for again
AGAIN = 25
# with fewer, a median is unreliable
_LEAST_TIMES = 5

Items = Mapping[str, PassageToGrade]
Order = Callable[[str, Items, Sequence[ItemRating]], list[str]]
"""The ids of the items for a rater, next first, given all labels so far. It shows nothing of scores, ranks or
settings. An id that is missing comes after all that are there; the page skips what the rater has done."""


def usual_order(rater: str, items: Items, labels: Sequence[ItemRating], seed: int = 0) -> list[str]:
    """The highest priority first; without one, question after question, shuffled for each rater."""
    queries = dict.fromkeys(one.query_id for one in items.values())
    place = {query_id: number for number, query_id in enumerate(queries)}

    def key(item_id: str) -> tuple[bool, float, int, bytes]:
        item = items[item_id]
        # a hash, so that an item added later does not change the order of the others
        shuffled = hashlib.sha256(f"{seed}\n{rater}\n{item_id}".encode()).digest()
        return item.priority is None, -(item.priority or 0.0), place[item.query_id], shuffled

    return sorted(items, key=key)


def as_listed(rater: str, items: Items, labels: Sequence[ItemRating]) -> list[str]:
    """In the order of the pool, for every rater: used if the pool was ordered on purpose."""
    return list(items)


@dataclass(frozen=True, slots=True)
class RaterQueue:
    """The ``ids`` in the order of one rater, as of an ``event``.

    ``named`` are those that the order has named; they come before the rest of the pool.
    """

    ids: list[str]
    named: frozenset[str]
    event: int


class Queues:
    """The order of each rater over the ``items`` of a pool."""

    def __init__(self, items: Items, order: Order) -> None:
        self._items, self._order = items, order
        self._queues: dict[str, RaterQueue] = {}
        self._lock = threading.Lock()

    def queue_of(
        self, rater: str, labels: Callable[[], Sequence[ItemRating]], event: int, done: frozenset[str]
    ) -> RaterQueue:
        """The order of a rater; asked for again when ``event`` is 25 labels on.

        Also where something was rated since, and all that the order had named is ``done``.
        """
        with self._lock:
            queue = self._queues.get(rater)
            if (
                queue is None
                or event - queue.event >= AGAIN
                or (event > queue.event and queue.named and queue.named <= done)
            ):
                order = self._order(rater, self._items, labels())
                named = dict.fromkeys(one for one in order if one in self._items)
                ids = list(dict.fromkeys((*named, *self._items)))
                queue = self._queues[rater] = RaterQueue(ids, frozenset(named), event)
            return queue


def next_open(
    ids: Sequence[str], done: frozenset[str], after: int = -1, first: int | None = None
) -> str | None:
    """The first item after a place that is not done, else the first of all; None if all are done.

    The first ``first`` items (None: all) come before the others, wherever the place is.
    """
    end = len(ids) if first is None else first
    places = (
        *range(after + 1, end),
        *range(min(after + 1, end)),
        *range(max(after + 1, end), len(ids)),
        *range(end, after + 1),
    )
    return next((ids[place] for place in places if ids[place] not in done), None)


def progress(done: int, total: int, times: Iterable[float]) -> dict[str, float | None]:
    """How many items are done of how many, the median of the latest times, and what the rest takes so.

    In seconds, and None unless there are five times or more.
    """
    known = list(times)
    seconds = median(known) if len(known) >= _LEAST_TIMES else None
    remaining = None if seconds is None else seconds * (total - done)
    return {"done": done, "total": total, "seconds": seconds, "remaining": remaining}
