"""The order of labelling, and how firm the verdict is, for callers that need no statistics."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.labels.ordering.design import BATCH, Design, begun, draw_more, from_json, pool_name, to_json
from harness.labels.ordering.estimate import OrderEstimate, estimate
from harness.labels.ordering.firmness import Firmness, firmness
from harness.labels.ordering.pool import Gain, ItemPool, PoolItem, make_pool
from harness.store import write_text
from harness.values import MAX_GRADE, LabelError


@dataclass(frozen=True, slots=True)
class ByVerdict:
    """The order that settles soonest which setting is best; ``record`` is the file that keeps the draws.

    Passages come in batches of ``batch``. They must be graded in the order given, or skipped: the draws are
    what intervals rest on. Where items or settings have changed since, a new order begins, and what is
    labelled counts as known.
    """

    settings: tuple[str, ...]
    record: Path
    k: int = 10
    gain: Gain = "exp"
    max_grade: int = MAX_GRADE
    batch: int = BATCH
    seed: int = 0

    def order(
        self, items: Sequence[PoolItem], labels: Mapping[str, int], skipped: Container[str] = ()
    ) -> list[str]:
        """The rest of the batch that was drawn last; where that is done, a new one, which is kept first."""
        pool = self.pool(items)
        design = self.design(pool)
        pending = design.pending(labels, skipped)
        if not pending:
            drawn = draw_more(pool, labels, design, self.batch, self.seed, skipped)
            if drawn != design:
                write_text(self.record, to_json(drawn))
            pending = drawn.pending(labels, skipped)
        return list(pending)

    def drawn(self, items: Sequence[PoolItem]) -> list[str]:
        """All that was drawn so far, in the order of the draws."""
        batches = self.design(self.pool(items)).batches
        return list(dict.fromkeys(one.item_id for batch in batches for one in batch.drawn))

    def firmness(
        self, items: Sequence[PoolItem], labels: Mapping[str, int], skipped: Container[str] = ()
    ) -> Firmness:
        """How firm the verdict by these labels is."""
        return firmness(self.estimate(items, labels, skipped))

    def estimate(
        self, items: Sequence[PoolItem], labels: Mapping[str, int], skipped: Container[str] = ()
    ) -> OrderEstimate:
        """The scores by these labels and the draws on record."""
        pool = self.pool(items)
        return estimate(pool, labels, self.design(pool).batches, skipped)

    def pool(self, items: Sequence[PoolItem]) -> ItemPool:
        """The items as arrays."""
        return make_pool(items, self.settings, k=self.k, gain=self.gain, max_grade=self.max_grade)

    def design(self, pool: ItemPool) -> Design:
        """The draws on record; none if there is no record or it belongs to another pool."""
        try:
            text = self.record.read_text(encoding="utf-8")
        except FileNotFoundError:
            return begun(pool)
        except (OSError, UnicodeDecodeError) as error:
            raise LabelError(f"{self.record} cannot be read: {error}") from error
        found = from_json(text, self.record)
        if found.pool != pool_name(pool):
            return begun(pool)
        if not found.fits(pool):
            raise LabelError(
                f"{self.record} is damaged: it lacks items of its own pool. Remove it to begin a new order; "
                "labels are kept."
            )
        return found
