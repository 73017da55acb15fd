"""The record of the draws: which items were drawn, with which chances. Without it no estimate is valid."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.labels.ordering.drawing import STORED, Batch, DrawnItem, draw
from harness.labels.ordering.estimate import OrderEstimate, estimate
from harness.labels.ordering.pool import UNKNOWN, ItemPool
from harness.labels.ordering.sizes import sizes
from harness.values import LabelError

BATCH = 25
_VERSION = 2


@dataclass(frozen=True, slots=True)
class Design:
    """The batches drawn from one pool, which ``pool`` names by its hash."""

    pool: str
    batches: tuple[Batch, ...] = ()

    def fits(self, pool: ItemPool) -> bool:
        """Whether every batch holds a size for each item of a pool."""
        return all(len(one.sizes) == STORED.itemsize * len(pool.ids) for one in self.batches)

    def pending(self, labels: Container[str], skipped: Container[str] = ()) -> tuple[str, ...]:
        """The items of the last batch that are neither graded nor skipped, in their order."""
        if not self.batches:
            return ()
        last = [one.item_id for one in self.batches[-1].drawn]
        return tuple(name for name in last if name not in labels and name not in skipped)


def pool_name(pool: ItemPool) -> str:
    """A hash of what a design belongs to: the items, the settings and the cutoff."""
    parts = [sorted(pool.ids), list(pool.settings), pool.k, [float(step) for step in pool.steps]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def begun(pool: ItemPool) -> Design:
    """A design without draws."""
    return Design(pool_name(pool))


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
    if design.pool != pool_name(pool):
        raise LabelError("The order was drawn for other passages or settings: begin a new one.")
    grades = pool.grades(labels)
    known = frozenset(name for i, name in enumerate(pool.ids) if grades[i] != UNKNOWN)
    open_ = np.array([name not in known and name not in skipped for name in pool.ids])
    if not open_.any():
        return design
    now = now or estimate(pool, labels, design.batches, skipped)
    size = sizes(now, open_, count)
    source = f"{design.pool} {len(design.batches)} {seed}".encode()
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(source).digest()[:8], "big"))
    batch = draw(pool.ids, size, count, open_, known, rng)
    return replace(design, batches=(*design.batches, batch))


def to_json(design: Design) -> str:
    """The design as text; of the known items each batch holds those that the one before did not."""
    before: frozenset[str] = frozenset()
    batches = []
    for one in design.batches:
        drawn = [asdict(item) for item in one.drawn]
        new = sorted(one.known - before)
        batches.append(
            {"drawn": drawn, "beyond": one.beyond, "sizes": b64encode(one.sizes).decode(), "newly_known": new}
        )
        before = before | one.known
    return json.dumps({"version": _VERSION, "pool": design.pool, "batches": batches}, indent=1) + "\n"


def from_json(text: str, source: Path) -> Design:
    """A design from text; raises LabelError that names ``source`` for anything else."""
    try:
        found = json.loads(text)
        if found["version"] != _VERSION:
            raise LabelError(f"{source} was written by another version: remove it to begin a new order.")
        before: frozenset[str] = frozenset()
        batches = []
        for one in found["batches"]:
            before = before | frozenset(map(str, one["newly_known"]))
            batches.append(_batch(one, before))
        if len({len(one.sizes) for one in batches}) > 1:
            raise ValueError("batches of different pools")
        return Design(str(found["pool"]), tuple(batches))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabelError(
            f"{source} is damaged: it is not the record of an order of labelling. Remove it to begin a new "
            "one; labels are kept."
        ) from error


def _batch(one: Mapping[str, Any], known: frozenset[str]) -> Batch:
    drawn = tuple(DrawnItem(str(d["item_id"]), float(d["size"]), float(d["place"])) for d in one["drawn"])
    beyond = None if one["beyond"] is None else float(one["beyond"])
    sizes = b64decode(one["sizes"], validate=True)
    read = np.frombuffer(sizes, STORED)
    if not len(read) or not (np.isfinite(read) & (read > 0)).all():
        raise ValueError("sizes that are none")
    if not drawn or any(item.size <= 0 for item in drawn):
        raise ValueError("a batch without draws")
    return Batch(drawn, beyond, sizes, known)
