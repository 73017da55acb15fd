"""The draws of passages to label, and their record: without it no estimate is valid.

Items are drawn with chances in proportion to their size, so that the chance of each one is known: priority
sampling (Duffield, Lund and Thorup, JACM 2007; sequential Poisson sampling, Ohlsson 1998). Every item gets a
random number over its size, and those with the smallest are taken. Given the first one that is not taken, an
item was in with probability min(1, size · that number), and no two of them are correlated. So a batch may end
after any of its items.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Base64Bytes, BaseModel, Field, ValidationError

from harness.labels.ordering.estimate import OrderEstimate, estimate, sizes
from harness.labels.ordering.pool import STORED, UNKNOWN, Batch, DrawnItem, ItemPool, PoolItem, make_pool
from harness.measures import Bools, Floats
from harness.store import write_text
from harness.values import LabelError

BATCH = 25
_VERSION = 2


def draw(
    ids: Sequence[str],
    size: Floats,
    count: int,
    open_: Bools,
    known: frozenset[str],
    rng: np.random.Generator,
) -> Batch:
    """Draw ``count`` of the items ``ids`` [P] that are ``open_`` [P]; ``known`` is kept with the batch.

    Raises ValueError if there is nothing to draw from or a size is not above 0.
    """
    stored = np.asarray(size, dtype=STORED)
    if not open_.any() or count < 1 or not (stored > 0).all():
        raise ValueError("a draw takes items, each of a size above 0")
    exact = stored.astype(np.float64)
    places = np.where(open_, (1 - rng.random(len(ids))) / exact, np.inf)
    order = np.argsort(places, kind="stable")[: int(open_.sum())]
    drawn = tuple(DrawnItem(ids[item], float(exact[item]), float(places[item])) for item in order[:count])
    beyond = float(places[order[count]]) if count < len(order) else None
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    return Batch(drawn, beyond, stored[by_id].tobytes(), known)


@dataclass(frozen=True, slots=True)
class Design:
    """The batches drawn from one pool, which ``pool`` names by its hash."""

    pool: str
    batches: tuple[Batch, ...] = ()

    def pending(self, labels: Container[str], skipped: Container[str] = ()) -> list[str]:
        """The items of the last batch that are neither graded nor skipped, in their order."""
        last = [one.item_id for batch in self.batches[-1:] for one in batch.drawn]
        return [name for name in last if name not in labels and name not in skipped]


def begun(pool: ItemPool) -> Design:
    """A design without draws; its name is a hash of the items, the settings and the cutoff."""
    parts = [sorted(pool.ids), list(pool.settings), pool.k, [float(step) for step in pool.steps]]
    return Design(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32])


def draw_more(
    pool: ItemPool,
    labels: Mapping[str, int],
    design: Design,
    count: int = BATCH,
    seed: int = 0,
    skipped: Container[str] = (),
    now: OrderEstimate | None = None,
) -> Design:
    """The design with another batch of ``count`` items that are neither graded nor skipped.

    ``now`` is the estimate by the same labels, where it is known already. The random numbers depend on the
    pool, the number of the batch and ``seed`` alone. A design of which all is graded comes back as it is.
    Raises LabelError if the design belongs to another pool.
    """
    if design.pool != begun(pool).pool:
        raise LabelError("The order was drawn for other passages or settings: begin a new one.")
    grades = pool.grades(labels)
    known = frozenset(name for name, grade in zip(pool.ids, grades, strict=True) if grade != UNKNOWN)
    open_ = np.array([name not in known and name not in skipped for name in pool.ids])
    if not open_.any():
        return design
    now = now or estimate(pool, labels, design.batches, skipped)
    source = f"{design.pool} {len(design.batches)} {seed}".encode()
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(source).digest()[:8], "big"))
    batch = draw(pool.ids, sizes(now, open_, count), count, open_, known, rng)
    return replace(design, batches=(*design.batches, batch))


class _StoredBatch(BaseModel):
    """A batch in the record; of the known items those that the one before did not hold."""

    drawn: Annotated[tuple[DrawnItem, ...], Field(min_length=1)]
    beyond: float | None
    sizes: Base64Bytes
    newly_known: frozenset[str]


class _StoredDesign(BaseModel):
    version: int
    pool: str
    batches: tuple[_StoredBatch, ...]


def to_json(design: Design) -> str:
    """The design as text."""
    before: frozenset[str] = frozenset()
    batches = []
    for one in design.batches:
        drawn, new = [asdict(item) for item in one.drawn], sorted(one.known - before)
        sizes = b64encode(one.sizes).decode()
        batches.append({"drawn": drawn, "beyond": one.beyond, "sizes": sizes, "newly_known": new})
        before = before | one.known
    return json.dumps({"version": _VERSION, "pool": design.pool, "batches": batches}, indent=1) + "\n"


def from_json(text: str, source: Path) -> Design:
    """A design from text; raises LabelError that names ``source`` for anything else."""
    try:
        stored = _StoredDesign.model_validate_json(text)
        before: frozenset[str] = frozenset()
        batches = []
        for one in stored.batches:
            before = before | one.newly_known
            read = np.frombuffer(one.sizes, STORED)
            if not len(read) or not (np.isfinite(read) & (read > 0)).all():
                raise ValueError("sizes that are none")
            batches.append(Batch(one.drawn, one.beyond, one.sizes, before))
        if len({len(one.sizes) for one in batches}) > 1:
            raise ValueError("batches of different pools")
    except (ValidationError, ValueError) as error:
        raise LabelError(
            f"{source} is damaged: it is not the record of an order of labelling. Remove it to begin a new "
            "one; labels are kept."
        ) from error
    if stored.version != _VERSION:
        raise LabelError(f"{source} was written by another version: remove it to begin a new order.")
    return Design(stored.pool, tuple(batches))


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
    batch: int = BATCH

    def order(
        self, items: Sequence[PoolItem], labels: Mapping[str, int], skipped: Container[str] = ()
    ) -> list[str]:
        """The rest of the batch that was drawn last; where that is done, a new one, which is kept first."""
        pool = self.pool(items)
        design = self.design(pool)
        if pending := design.pending(labels, skipped):
            return pending
        drawn = draw_more(pool, labels, design, self.batch, skipped=skipped)
        if drawn != design:
            write_text(self.record, to_json(drawn))
        return drawn.pending(labels, skipped)

    def drawn(self, items: Sequence[PoolItem]) -> list[str]:
        """All that was drawn so far, in the order of the draws."""
        batches = self.design(self.pool(items)).batches
        return list(dict.fromkeys(one.item_id for batch in batches for one in batch.drawn))

    def estimate(
        self, items: Sequence[PoolItem], labels: Mapping[str, int], skipped: Container[str] = ()
    ) -> OrderEstimate:
        """The scores by these labels and the draws on record."""
        pool = self.pool(items)
        return estimate(pool, labels, self.design(pool).batches, skipped)

    def pool(self, items: Sequence[PoolItem]) -> ItemPool:
        """The items as arrays."""
        return make_pool(items, self.settings, k=self.k)

    def design(self, pool: ItemPool) -> Design:
        """The draws on record; none if there is no record or it belongs to another pool."""
        try:
            text = self.record.read_text(encoding="utf-8")
        except FileNotFoundError:
            return begun(pool)
        except (OSError, UnicodeDecodeError) as error:
            raise LabelError(f"{self.record} cannot be read: {error}") from error
        found = from_json(text, self.record)
        if found.pool != begun(pool).pool:
            return begun(pool)
        if any(len(one.sizes) != STORED.itemsize * len(pool.ids) for one in found.batches):
            raise LabelError(
                f"{self.record} is damaged: it lacks items of its own pool. Remove it to begin a new order; "
                "labels are kept."
            )
        return found
