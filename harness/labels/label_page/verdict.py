"""Labelling to settle a comparison: the next passages of every rater, and how firm the verdict is so far."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from harness.labels.label_page.export import only_skipped
from harness.labels.label_page.items import Item, ItemRating, item_id
from harness.labels.label_page.settled import settle
from harness.labels.label_page.state import PageState
from harness.labels.labelling.label_pool import LabelPool
from harness.labels.labelling.next_labels import by_labels, firmness_of
from harness.labels.labelling.unjudged import GradedSpan, PassageToGrade

# labels after which the verdict is computed again while it is shown
AGAIN = 10


def open_passages(label_pool: LabelPool) -> list[PassageToGrade]:
    """The passages that have no grade in the labels file and were not skipped there, question by question."""
    graded = label_pool.graded()
    left = [one for one in label_pool.wanted if one.name not in graded.keys() | label_pool.skipped]
    place = {name: number for number, name in enumerate(label_pool.opened.questions)}
    return sorted(left, key=lambda one: place[one.query_id])


class LiveVerdict:
    """The order and the verdict of one pool, by its labels file and the ratings of the page.

    All raters grade the same passages: the rater who is ahead triggers the next draw, the others follow. A
    passage counts with the grade that its raters agree on, or that was decided. One on which they differ, or
    that was only skipped, counts as skipped until that changes.
    """

    def __init__(self, label_pool: LabelPool, state: PageState) -> None:
        self._label_pool, self._state = label_pool, state
        self._page_id = {
            one.name: item_id(one.query_id, one.doc_id, one.start, one.end) for one in label_pool.wanted
        }
        self._name = {page: name for name, page in self._page_id.items()}
        self._drawing, self._lock = threading.Lock(), threading.Lock()
        self._working, self._at = False, -1
        self._latest: dict[str, Any] = {}
        # a damaged record of draws is an error before anybody labels
        label_pool.order.design(label_pool.order.pool(label_pool.items))

    def next_ids(self, rater: str, items: Sequence[Item], labels: Sequence[ItemRating]) -> list[str]:
        """All that was drawn; where this rater has done all of it, another batch is drawn and comes last."""
        order, label_pool = self._label_pool.order, self._label_pool
        done = {one.item_id for one in labels if one.rater == rater and one.rating.done}
        asked = {one.item_id for one in items}
        with self._drawing:
            design = order.design(order.pool(label_pool.items))
            known = dict.fromkeys(
                self._page_id[one.item_id] for batch in design.batches for one in batch.drawn
            )
            drawn = [one for one in known if one in asked]
            if done.issuperset(drawn):
                graded, skipped = self._known(labels)
                names = order.order(label_pool.items, label_pool.graded(graded), label_pool.skipped | skipped)
                drawn += [self._page_id[name] for name in names]
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
            graded, skipped = self._known(self._state.labels())
            now = firmness_of(self._label_pool, graded, skipped)
            found = by_labels(now, self._label_pool.order.k)
            shown: dict[str, Any] = {name: getattr(found, name) for name in ("measure", "sentences", "means")}
            shown["stop"] = now.firm.stop
        except Exception as error:  # no one else would report it
            shown = {"problem": f"The verdict cannot be computed: {error}. Labels are saved all the same."}
        with self._lock:
            self._latest, self._at, self._working = shown, event, False

    def _known(self, labels: Sequence[ItemRating]) -> tuple[list[GradedSpan], frozenset[str]]:
        """The grades of the page as graded ranges, and the names of passages that will get no grade."""
        items = {one.item_id: one for one in self._state.items(wanted=False)}
        settled = settle(labels, self._state.decisions())
        graded = [
            (items[name].query_id, items[name].doc_id, (items[name].start, items[name].end), one.grade)
            for name, one in settled.items()
            if one.grade is not None
        ]
        unsettled = only_skipped(labels) | {name for name, one in settled.items() if one.grade is None}
        return graded, frozenset(self._name[one] for one in unsettled if one in self._name)
