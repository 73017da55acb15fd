"""Run a model over many items, keep each result, and give the same numbers after an interrupted run.

A float that a model computes depends, in its last digits, on what else is in the batch. So the batches are
planned once over the items that are new, the plan is kept, and a run that was killed goes on with the
same batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.running.context import Context, NotStoredError
from harness.store import key_of
from harness.values import StoreError

Floats = NDArray[np.float32]
_AT_ONCE = 64


def digest(*texts: str) -> bytes:
    """The key of an item made of texts."""
    parts = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return parts[0] if len(parts) == 1 else hashlib.sha256(b"".join(parts)).digest()


@dataclass(frozen=True, slots=True)
class Computed:
    """The bytes of every key, mostly float32, and which keys were not known before."""

    values: dict[bytes, bytes]
    new: frozenset[bytes]

    def floats(self, key: bytes) -> Floats:
        """The value of one key."""
        return np.frombuffer(self.values[key], dtype=np.float32)


def compute_new(
    name: str,
    items: Mapping[bytes, Any],
    path: Path,
    batches: Callable[[Sequence[Any]], Iterable[list[int]]],
    run: Callable[[Sequence[Any]], Iterable[Floats | bytes]],
    context: Context,
    *,
    hold: bool = True,
) -> Computed:
    """The value of every item by its key: from the file at ``path`` where it is there, else by ``run``.

    ``batches`` groups the places of items, ``run`` computes one such group, a value an item. Each batch is
    stored as soon as it is done. ``hold`` False: the values are left in the file, to be read when needed.
    """
    with context.values(name, path) as store:
        keys = list(items)
        known = store.get(keys) if hold else dict.fromkeys(store.present(keys), b"")
        missing = [key for key in keys if key not in known]
        if missing and not context.may_compute:
            raise NotStoredError(name, missing)
        context.count(f"{name}_computed", len(missing))
        if missing:
            # what was damaged was computed among all that is asked for now, or among more
            lost = keys if store.damaged & items.keys() else missing
            planned = _plan(name, path, keys, lost, context)
            kept = True
            with context.reporter.task(name.replace("_", " "), len(missing)) as task:
                for places in batches([items[key] for key in planned]):
                    batch = [planned[place] for place in places]
                    new = sum(key not in known for key in batch)
                    if not new:
                        continue
                    values = run([items[key] for key in batch])
                    done = {key: _bytes(value) for key, value in zip(batch, values, strict=True)}
                    kept = store.put(done) and kept
                    known |= done if hold else dict.fromkeys(done, b"")
                    task.advance(new)
            if not kept:
                _warn_of_other_batches(context)
        return Computed(known, frozenset(missing))


def _warn_of_other_batches(context: Context) -> None:
    text = (
        "A model computed what the cache cannot keep. When needed again, it is computed in other batches, so "
        "scores may differ in their last digits from those of a run with a cache. Make the cache writable to "
        "get the same numbers."
    )
    if all(one.text != text for one in context.warnings):
        context.warn("cache", text)


def _bytes(value: Floats | bytes) -> bytes:
    return value if isinstance(value, bytes) else np.ascontiguousarray(value, dtype=np.float32).tobytes()


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The values of keys that have been computed, in their order; read again from the file at each iteration.

    Raises StoreError if the file does not have them, as in a cache that cannot be written to.
    """

    name: str
    keys: Sequence[bytes]
    path: Path
    context: Context

    def __iter__(self) -> Iterator[bytes]:
        with self.context.values(self.name, self.path) as store:
            for start in range(0, len(self.keys), _AT_ONCE):
                part = self.keys[start : start + _AT_ONCE]
                found = store.get(list(dict.fromkeys(part)))
                if not found.keys() >= set(part):
                    raise StoreError(
                        f"{self.path} does not contain all computed {self.name}. They are too "
                        "large for memory: set `cache` to a writable folder, and run again."
                    )
                yield from (found[key] for key in part)


def is_computed(name: str, keys: Iterable[bytes], path: Path, context: Context) -> set[bytes]:
    """Those keys whose value is in the file at ``path``; computes nothing."""
    if not path.exists():
        return set()
    with context.values(name, path) as store:
        return store.present(keys)


def _plan(name: str, path: Path, items: list[bytes], missing: list[bytes], context: Context) -> list[bytes]:
    """The keys that were missing when this work was first begun: those missing now, or more after a kill."""
    key = key_of(name, path.name, hashlib.sha256(b"".join(items)).hexdigest())
    stored = context.artifacts.get("plan", key)
    if stored is not None:
        planned = [bytes.fromhex(text) for text in stored]
        if set(missing) <= set(planned):
            return planned
    context.artifacts.put("plan", key, [item.hex() for item in missing])
    return missing
