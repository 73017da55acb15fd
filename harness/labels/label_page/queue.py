"""The next items of a rater: the order, the progress, and how long the rest will take."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.labels.label_page.items import Item, ItemRating

# labels after which the order is asked for again
AGAIN = 25
# with fewer, a median is unreliable
_LEAST_TIMES = 5

Order = Callable[[str, Sequence[Item], Sequence[ItemRating]], list[str]]
"""The ids of the items for a rater, next first, given all labels so far. It shows nothing of scores, ranks or
settings. An id that is missing comes after all that are there; the page skips what the rater has done."""


def usual_order(rater: str, items: Sequence[Item], labels: Sequence[ItemRating], seed: int = 0) -> list[str]:
    """The highest priority first; without one, question after question, shuffled for each rater."""
    place = {query_id: number for number, query_id in enumerate(dict.fromkeys(one.query_id for one in items))}

    def key(item: Item) -> tuple[bool, float, int, bytes]:
        # a hash, so that an item added later does not change the order of the others
        shuffled = hashlib.sha256(f"{seed}\n{rater}\n{item.item_id}".encode()).digest()
        return item.priority is None, -(item.priority or 0.0), place[item.query_id], shuffled

    return [item.item_id for item in sorted(items, key=key)]


def as_listed(rater: str, items: Sequence[Item], labels: Sequence[ItemRating]) -> list[str]:
    """In the order of the pool, for every rater: used if the pool was ordered on purpose."""
    return [item.item_id for item in items]


@dataclass(frozen=True, slots=True)
class RaterQueue:
    """The ``ids`` in the order of one rater, as of an ``event``, and the ``place`` of each.

    ``named`` are those that the order has named; they come before the rest of the pool.
    """

    ids: list[str]
    place: dict[str, int]
    named: frozenset[str]
    event: int


class Queues:
    """The order of each rater over the ``items`` of a pool."""

    def __init__(self, items: Sequence[Item], order: Order) -> None:
        self._items = list(items)
        self._order = order
        self._queues: dict[str, RaterQueue] = {}
        self._lock = threading.Lock()

    def queue_of(
        self,
        rater: str,
        labels: Callable[[], Sequence[ItemRating]],
        event: int,
        done: frozenset[str] = frozenset(),
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
                queue = self._queues[rater] = self._asked(rater, labels(), event)
            return queue

    def _asked(self, rater: str, labels: Sequence[ItemRating], event: int) -> RaterQueue:
        pool = dict.fromkeys(item.item_id for item in self._items)
        named = [one for one in dict.fromkeys(self._order(rater, self._items, labels)) if one in pool]
        ids = list(dict.fromkeys([*named, *pool]))
        return RaterQueue(ids, {item_id: place for place, item_id in enumerate(ids)}, frozenset(named), event)


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


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a rater.

    ``seconds`` is the median an item, ``remaining`` what the rest takes at this pace; None until there are
    enough times to say.
    """

    done: int
    total: int
    seconds: float | None
    remaining: float | None


def progress(done: int, total: int, times: Sequence[float]) -> Progress:
    """Progress with the median of the latest times in seconds, where there are five or more."""
    seconds = median(times) if len(times) >= _LEAST_TIMES else None
    return Progress(done, total, seconds, None if seconds is None else seconds * (total - done))
