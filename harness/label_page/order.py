"""In which order a rater sees the items. The order shows nothing of scores, ranks or settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.label_page.items import Item, Label


class Order(Protocol):
    """Decides what to label next."""

    def order(self, items: Sequence[Item], labels: Sequence[Label]) -> list[str]:
        """The ids of ``items``, next first, given all labels so far.

        Called when a rater begins and again after every 25 labels. An id that is missing from the list comes
        after all that are in it; what the rater has done already is passed over by the page.
        """
        ...


@dataclass(frozen=True, slots=True)
class ByQuestion:
    """Question after question as they stand in the pool, the passages of each shuffled for each rater."""

    rater: str
    seed: int = 0

    def order(self, items: Sequence[Item], labels: Sequence[Label]) -> list[str]:
        """The ids by question; labels change nothing."""
        place: dict[str, int] = {}
        for item in items:
            place.setdefault(item.query_id, len(place))
        ranked = sorted(items, key=lambda item: (place[item.query_id], self._shuffled(item.item_id)))
        return [item.item_id for item in ranked]

    def _shuffled(self, item_id: str) -> bytes:
        # a hash, so that an item that is added later leaves the order of the others as it was
        return hashlib.sha256(f"{self.seed}\n{self.rater}\n{item_id}".encode()).digest()


@dataclass(frozen=True, slots=True)
class ByPriority:
    """The highest priority first; items without one come last, by question. Equal ones are shuffled."""

    rater: str
    seed: int = 0

    def order(self, items: Sequence[Item], labels: Sequence[Label]) -> list[str]:
        """The ids by priority; labels change nothing."""
        priority = {item.item_id: item.priority for item in items}
        ranked = ByQuestion(self.rater, self.seed).order(items, labels)

        def key(item_id: str) -> tuple[bool, float]:
            value = priority[item_id]
            return value is None, 0.0 if value is None else -value

        return sorted(ranked, key=key)


@dataclass(frozen=True, slots=True)
class AsListed:
    """As they stand in the pool, for everybody: where the pool was ordered on purpose."""

    def order(self, items: Sequence[Item], labels: Sequence[Label]) -> list[str]:
        """The ids as they are given; labels change nothing."""
        return [item.item_id for item in items]


def usual_order(items: Sequence[Item], rater: str, seed: int = 0) -> Order:
    """By priority where the pool has any, else by question."""
    if any(item.priority is not None for item in items):
        return ByPriority(rater, seed)
    return ByQuestion(rater, seed)
