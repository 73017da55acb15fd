"""What a rater grades next: the order, what is done of it, and how long the rest will take."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.label_page.items import Item, Label
from harness.label_page.order import Order

# labels after which the order is asked for anew
AGAIN = 25
# with fewer, a median says little
_LEAST_TIMES = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is. ``seconds`` is the median an item, None until there are enough to say."""

    done: int
    total: int
    seconds: float | None

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest will take at this pace; None where nothing is known."""
        return None if self.seconds is None else self.seconds * (self.total - self.done)


@dataclass(slots=True)
class _Line:
    ids: list[str]
    place: dict[str, int]
    at: int
    # what the order has named; the rest of the pool comes behind it
    given: frozenset[str]


class Queues:
    """The order of each rater. ``order_of`` makes it for a name; ``items`` are those of the pool."""

    def __init__(self, items: Sequence[Item], order_of: Callable[[str], Order]) -> None:
        self._items = list(items)
        self._ids = [item.item_id for item in items]
        self._order_of = order_of
        self._lines: dict[str, _Line] = {}
        self._lock = threading.Lock()

    def ordered(
        self,
        rater: str,
        labels: Callable[[], Sequence[Label]],
        event: int,
        done: frozenset[str] = frozenset(),
    ) -> list[str]:
        """The ids in the order of a rater; asked for anew when ``event`` is 25 labels on.

        Also where something was said since, and all that the order had named is ``done``.
        """
        with self._lock:
            line = self._lines.get(rater)
            if (
                line is None
                or event - line.at >= AGAIN
                or (event > line.at and line.given and line.given <= done)
            ):
                line = self._lines[rater] = self._asked(rater, labels(), event)
            return line.ids

    def place(self, rater: str, item_id: str) -> int | None:
        """The place of an item in the order of a rater, from 0; None where it is not in the pool."""
        line = self._lines.get(rater)
        return None if line is None else line.place.get(item_id)

    def named(self, rater: str) -> int:
        """How many items the order of a rater has named; they come before the rest of the pool."""
        line = self._lines.get(rater)
        return 0 if line is None else len(line.given)

    def _asked(self, rater: str, labels: Sequence[Label], event: int) -> _Line:
        known = set(self._ids)
        given = dict.fromkeys(self._order_of(rater).order(self._items, labels))
        ids = [item_id for item_id in given if item_id in known]
        ids += [item_id for item_id in self._ids if item_id not in given]
        return _Line(
            ids, {item_id: place for place, item_id in enumerate(ids)}, event, frozenset(given) & known
        )


def next_open(
    ids: Sequence[str], done: frozenset[str], after: int = -1, first: int | None = None
) -> str | None:
    """The first item after a place that is not done, else the first of all; None where all are done.

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


def progress(done: int, total: int, seconds: Sequence[float]) -> Progress:
    """Progress with the median of the latest times, where there are five or more."""
    return Progress(done, total, median(seconds) if len(seconds) >= _LEAST_TIMES else None)
