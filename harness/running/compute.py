"""Run a model over many items so that what is done is kept, and a run cut short ends with the same numbers.

A float that a model computes depends, in its last digits, on what else is in the batch. So the batches are
planned once over the items that are new, the plan is kept, and a run that was killed goes on with the very
same batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.running.context import Context
from harness.store import key_of

Floats = NDArray[np.float32]
Batches = Callable[[Sequence[int]], Iterable[list[int]]]


def digest(*texts: str) -> bytes:
    """The key of an item made of texts."""
    parts = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return parts[0] if len(parts) == 1 else hashlib.sha256(b"".join(parts)).digest()


@dataclass(frozen=True, slots=True)
class Computed:
    """The float32 bytes of every key, and which keys were not known before."""

    values: dict[bytes, bytes]
    new: frozenset[bytes]

    def floats(self, key: bytes) -> Floats:
        """The value of one key."""
        return np.frombuffer(self.values[key], dtype=np.float32)


def compute_new(
    name: str,
    keys: Sequence[bytes],
    path: Path,
    batches: Batches,
    run: Callable[[list[int]], Floats],
    context: Context,
) -> Computed:
    """The float32 value of every key: from the file at ``path`` where it is there, else by ``run``.

    ``batches`` groups indices into ``keys``, ``run`` computes one such group, [items, …]. Each batch is
    stored as soon as it is done.
    """
    with context.values(name, path) as store:
        first_index = {key: i for i, key in reversed(list(enumerate(keys)))}
        known = store.get(list(first_index))
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        context.count(f"{name}_computed", len(missing))
        if missing:
            # what was damaged was computed among all that is asked for now, or among more
            lost = list(first_index) if store.damaged & first_index.keys() else missing
            planned = [first_index[key] for key in _plan(name, path, list(first_index), lost, context)]
            with context.reporter.task(name.replace("_", " "), len(missing)) as task:
                for positions in batches(planned):
                    batch = [planned[p] for p in positions]
                    new = [i for i in batch if keys[i] not in known]
                    if not new:
                        continue
                    values = np.ascontiguousarray(run(batch), dtype=np.float32)
                    done = {keys[i]: value.tobytes() for i, value in zip(batch, values, strict=True)}
                    store.put(done)
                    known |= done
                    task.advance(len(new))
        return Computed(known, frozenset(missing))


def is_computed(name: str, keys: Iterable[bytes], path: Path, context: Context) -> set[bytes]:
    """Those keys whose value is in the file at ``path``; computes nothing."""
    if not path.exists():
        return set()
    with context.values(name, path) as store:
        return set(store.get(list(keys)))


def _plan(name: str, path: Path, items: list[bytes], missing: list[bytes], context: Context) -> list[bytes]:
    """What was missing when this work was first begun: what is missing now, or more after a kill."""
    key = key_of(name, path.name, hashlib.sha256(b"".join(items)).hexdigest())
    stored = context.artifacts.get("plan", key)
    if stored is not None:
        planned = [bytes.fromhex(text) for text in stored]
        if set(missing) <= set(planned):
            return planned
    context.artifacts.put("plan", key, [item.hex() for item in missing])
    return missing
