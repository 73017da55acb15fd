"""The order of a rater: the next items, the progress, and how long the rest will take."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from harness.labels.labelling.passages import PassageToGrade

# with fewer, a median is unreliable
_LEAST_TIMES = 5

Items = Mapping[str, PassageToGrade]
Order = Callable[[str, Items], list[str]]
"""The ids of all items for a rater, next first. It shows nothing of scores, ranks or settings."""


def usual_order(rater: str, items: Items, seed: int = 0) -> list[str]:
    """The highest priority first; without one, question after question, shuffled for each rater."""
    queries = dict.fromkeys(one.query_id for one in items.values())
    place = {query_id: number for number, query_id in enumerate(queries)}

    def key(item_id: str) -> tuple[bool, float, int, bytes]:
        item = items[item_id]
        # a hash, so that an item added later does not change the order of the others
        shuffled = hashlib.sha256(f"{seed}\n{rater}\n{item_id}".encode()).digest()
        return item.priority is None, -(item.priority or 0.0), place[item.query_id], shuffled

    return sorted(items, key=key)


def as_listed(rater: str, items: Items) -> list[str]:
    """In the order of the pool, for every rater: used if the pool was ordered on purpose."""
    return list(items)


def next_open(ids: Sequence[str], done: frozenset[str], after: int = -1) -> str | None:
    """The first item after a place that is not done, else the first of all; None if all are done."""
    return next((one for one in (*ids[after + 1 :], *ids[: after + 1]) if one not in done), None)


def progress(done: int, total: int, times: Iterable[float]) -> dict[str, float | None]:
    """How many items are done of how many, the median of the latest times, and what the rest takes so.

    In seconds, and None unless there are five times or more.
    """
    known = list(times)
    seconds = median(known) if len(known) >= _LEAST_TIMES else None
    remaining = None if seconds is None else seconds * (total - done)
    return {"done": done, "total": total, "seconds": seconds, "remaining": remaining}
