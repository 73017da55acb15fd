"""Labelling to settle a comparison: the next passages of every rater, and how firm the verdict is so far."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.labels.label_page.queue import Items
from harness.labels.label_page.ratings import ItemRating, only_skipped, settle
from harness.labels.label_page.state import PageState
from harness.labels.labelling.passages import PassageToGrade
from harness.labels.labelling.retrieved import LabelPool, by_labels
from harness.values import Judgment

# labels after which the verdict is computed again while it is shown
AGAIN = 10


def open_passages(label_pool: LabelPool) -> list[PassageToGrade]:
    """The passages that have no grade in the labels file and were not skipped there, question by question."""
    closed = label_pool.graded().keys() | label_pool.skipped
    place = {name: number for number, name in enumerate(label_pool.opened.questions)}
    left = (one for one in label_pool.wanted if one.name not in closed)
    return sorted(left, key=lambda one: place[one.query_id])


class LiveVerdict:
    """The order and the verdict of one pool, by its labels file and the ratings of the page.

    All raters grade the same passages: the rater who is ahead triggers the next draw, the others follow. A
    passage counts with the grade that its raters agree on, or that was decided. One on which they differ, or
    that was only skipped, counts as skipped until that changes.
    """

    def __init__(self, label_pool: LabelPool, state: PageState) -> None:
        self._label_pool, self._state = label_pool, state
        # the names of passages in the order of labelling, and their ids on the page
        self._page_id = {one.name: one.item_id for one in label_pool.wanted}
        self._drawing, self._lock = threading.Lock(), threading.Lock()
        self._working, self._at = False, -1
        self._latest: dict[str, Any] = {}
        # a damaged record of draws is an error before anybody labels
        label_pool.order.drawn(label_pool.items)

    def next_ids(self, rater: str, items: Items, labels: Sequence[ItemRating]) -> list[str]:
        """All that was drawn; where this rater has done all of it, another batch is drawn and comes last."""
        done = {one.item_id for one in labels if one.rater == rater and one.rating.done}
        with self._drawing:
            names = self._label_pool.order.drawn(self._label_pool.items)
            drawn = [item_id for name in names if (item_id := self._page_id[name]) in items]
            if done.issuperset(drawn):
                more = self._label_pool.next_names(*self._known(labels))
                drawn += [self._page_id[name] for name in more]
            return drawn

    def so_far(self, fresh: bool) -> dict[str, Any]:
        """The verdict that was computed last, and whether another is under way; never waits for one.

        It is computed in a thread: where 10 items were rated since the last time, or any and ``fresh``.
        """
        event = self._state.latest()
        with self._lock:
            since = event - self._at
            if not self._working and (self._at < 0 or since >= AGAIN or (fresh and since > 0)):
                self._working = True
                threading.Thread(target=self._compute, args=(event,), daemon=True).start()
            return {**self._latest, "working": self._working}

    def _compute(self, event: int) -> None:
        try:
            found, stop = by_labels(self._label_pool, *self._known(self._state.labels()))
            shown: dict[str, Any] = {name: getattr(found, name) for name in ("measure", "sentences", "means")}
            shown["stop"] = stop
        except Exception as error:  # no one else would report it
            shown = {"problem": f"The verdict cannot be computed: {error}. Labels are saved all the same."}
        with self._lock:
            self._latest, self._at, self._working = shown, event, False

    def _known(self, labels: Sequence[ItemRating]) -> tuple[list[Judgment], frozenset[str]]:
        """The grades of the page, and the names of passages that will get none."""
        items = self._state.items(wanted=False)
        settled = settle(labels, self._state.decisions())
        graded: list[Judgment] = [
            replace(items[name], grade=one.grade) for name, one in settled.items() if one.grade is not None
        ]
        unsettled = only_skipped(labels) | {name for name, one in settled.items() if one.grade is None}
        return graded, frozenset(name for name, item_id in self._page_id.items() if item_id in unsettled)
