"""Run a model over many items, keep each result, and give the same numbers after an interrupted run.

A float that a model computes depends, in its last digits, on what else is in the batch. So the batches are
planned once over the items that are new, the plan is kept, and a run that was killed goes on with the
same batches.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness import models
from harness.comparison import sentence_of
from harness.models import LocalEncoder, ServedEstimate, Spending
from harness.running.engine import LocalEngine, ModelJob, keep_rate, run_of, speed_of, value_bytes
from harness.running.note_wordings import RUN
from harness.running.session import Session
from harness.steps import LocalModelScorer, PairScorer, PendingCalls
from harness.store import KeyValue, Lock, key_of, turn
from harness.values import StoreError, worded

Floats = NDArray[np.float32]
Items = Mapping[bytes, Any]
"""Distinct texts or pairs by their digests."""
Hold = Literal["all", "unkept", "none"]
_AT_ONCE = 64
# rows of vectors read at once
_ROWS_AT_ONCE = 4_096


def digest(*texts: str) -> bytes:
    """The key of an item made of texts."""
    parts = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
    return parts[0] if len(parts) == 1 else hashlib.sha256(b"".join(parts)).digest()


def length_of(item: str | Sequence[str]) -> int:
    """The characters of a text or a pair."""
    return len(item) if isinstance(item, str) else sum(map(len, item))


@dataclass(frozen=True, slots=True)
class Computed:
    """The bytes of every key, mostly float32, and which keys were not known before.

    Those that are in the cache alone are empty here.
    """

    values: dict[bytes, bytes]
    new: frozenset[bytes]

    def floats(self, key: bytes) -> Floats:
        """The value of one key."""
        return np.frombuffer(self.values[key], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class ModelPass(ABC):
    """A model that gives every item a value: ``name`` is what they are called, ``path`` where they are."""

    name: str
    fingerprint: str
    path: Path
    session: Session = field(compare=False)

    @abstractmethod
    def __call__(self, items: Items) -> Computed:
        """The value of every item: the stored one, else computed or bought, and stored."""

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those keys whose value is in the file; computes nothing."""
        if not self.path.exists():
            return set()
        with self.session.values(self.name, self.path) as store:
            return store.present(keys)

    def speed(self, worker: tuple[str, float, float]) -> float | None:
        """Characters a second by one such worker, in all runs from here; None if none has computed."""
        return speed_of(self.path, worker, self.session.artifacts)


@dataclass(frozen=True, slots=True)
class LocalPass(ModelPass):
    """By a model that runs here, or by workers that have the same one.

    ``hold`` says which values stay in memory: all, those that the cache cannot keep, or none, as they are too
    large. What is not held is left in the file, to be read when needed.
    """

    model: LocalEncoder | PairScorer
    hold: Hold = "all"

    def __call__(self, items: Items) -> Computed:
        """The value of every item; each batch is stored as soon as it is done."""
        session = self.session
        with session.values(self.name, self.path) as store:
            keys, model = list(items), self.model
            hold = "all" if self.hold == "unkept" and not store.lasting else self.hold
            stored = store.get(keys) if hold == "all" else dict.fromkeys(store.present(keys), b"")
            missing = [key for key in keys if key not in stored]
            session.notes.counts[f"{self.name}_computed"] += len(missing)
            if not missing:
                return Computed(stored, frozenset())
            # what was damaged was computed among all that is asked for now, or among more
            lost = keys if store.damaged & items.keys() else missing
            planned = self._plan(keys, lost)
            batches = model.batches([items[key] for key in planned])
            whole = ([planned[place] for place in places] for places in batches)
            groups = [keys for keys in whole if any(key not in stored for key in keys)]
            parts = [[items[key] for key in keys] for keys in groups]
            run, job, engine = run_of(model), None, session.engine
            if isinstance(model, LocalEncoder | LocalModelScorer):
                job = ModelJob(model.config, model.fingerprint)
            else:
                # code of a user
                engine = LocalEngine()
            kept, characters, seconds = True, 0, 0.0
            with session.notes.reporter.task(self.name.replace("_", " "), len(missing)) as task:
                for part in engine.map(job or run, parts, run, task):
                    batch = groups[part.index]
                    new = sum(key not in stored for key in batch)
                    computed = {key: value_bytes(value) for key, value in zip(batch, part.value, strict=True)}
                    stored_now = store.put(computed)
                    kept = kept and stored_now
                    held = hold == "all" or (hold == "unkept" and not stored_now)
                    stored |= computed if held else dict.fromkeys(computed, b"")
                    task.advance(new)
                    characters += sum(map(length_of, parts[part.index]))
                    seconds += part.seconds
            if job is not None:
                keep_rate(self.path, characters, seconds, session.engine, session.artifacts)
            if not kept and all(warning.code != "cache.batches" for warning in session.notes.warnings):
                session.notes.warn(sentence_of("cache.batches"))
        return Computed(stored, frozenset(missing))

    def _plan(self, items: list[bytes], missing: list[bytes]) -> list[bytes]:
        """The keys that were missing when this work was begun: those missing now, or more after a kill."""
        key = key_of(self.name, self.path.name, hashlib.sha256(b"".join(items)).hexdigest())
        stored = self.session.artifacts.get("plan", key)
        if stored is not None:
            planned = [bytes.fromhex(text) for text in stored]
            if set(missing) <= set(planned):
                return planned
        self.session.artifacts.put("plan", key, [item.hex() for item in missing])
        return missing


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The values of keys that have been computed, in their order; read again from the file at each iteration.

    ``held`` are those in memory. ``values[places]`` are vectors, float32 [places, dimension]. Raises
    StoreError if the file does not have what is not held, as in a cache that cannot be written to.
    """

    model: ModelPass
    keys: Sequence[bytes]
    held: Mapping[bytes, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[bytes]:
        return self._read(self.keys)

    def __getitem__(self, places: slice | NDArray[np.int64]) -> Floats:
        keys = self.keys[places] if isinstance(places, slice) else [self.keys[at] for at in places.tolist()]
        rows: Floats = np.zeros((0, 0), dtype=np.float32)
        for at, value in enumerate(self._read(keys, _ROWS_AT_ONCE)):
            if at == 0:
                rows = np.empty((len(keys), len(value) // rows.itemsize), dtype=np.float32)
            rows[at] = np.frombuffer(value, dtype=np.float32)
        return rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or np.float32, copy=False)

    def _read(self, keys: Sequence[bytes], at_once: int = _AT_ONCE) -> Iterator[bytes]:
        if all(map(self.held.get, keys)):
            yield from (self.held[key] for key in keys)
            return
        with self.model.session.values(self.model.name, self.model.path) as store:
            for start in range(0, len(keys), at_once):
                part = keys[start : start + at_once]
                values = {key: value for key in part if (value := self.held.get(key))}
                values |= store.get([key for key in dict.fromkeys(part) if key not in values])
                if not values.keys() >= set(part):
                    raise StoreError(
                        f"{self.model.path} does not contain all computed {self.model.name}. They are too "
                        "large for memory: set `cache` to a writable folder, and run again."
                    )
                yield from (values[key] for key in part)


# Before the numbers of an item: its share of the tokens and of the requests that brought it, in float32.
_SHARES = 2
_HEADER = 4 * _SHARES
_POLL = 0.2


@dataclass(frozen=True, slots=True)
class ServedPass(ModelPass):
    """By a model behind an endpoint, whose numbers cost money and are kept for good."""

    model: models.ServedEncoder | models.ServedPairs

    def __call__(self, items: Items) -> Computed:
        """The numbers of every item: those that are kept, and the others from the endpoint.

        Each reply is on disk before the next step. Runs that ask one endpoint with one cache take turns, so
        that no run buys what another is buying.
        """
        session = self.session
        with self._opened() as store:
            stored = store.get(list(items))
            missing = [key for key in items if key not in stored]
            if missing:
                session.refuse_unless_asking(self.model.endpoint.model)
            seen = session.notes.bills.looked_up.setdefault(self.model.fingerprint, set())
            spending = session.notes.bills.served.setdefault(self.model.endpoint.model, Spending())
            spending.from_ledger += len(stored.keys() - seen)
            seen |= items.keys()
            if missing:
                with self._turn(store):
                    stored |= store.get(missing)
                    missing = [key for key in missing if key not in stored]
                    stored |= self._bought({key: items[key] for key in missing}, store, spending)
            session.notes.counts[f"{self.name}_computed"] += len(missing)
            return Computed({key: raw[_HEADER:] for key, raw in stored.items()}, frozenset(missing))

    def pending(self, missing: Sequence[Any], stored: int) -> PendingCalls:
        """The cost of the missing items; nothing is sent."""
        requests, endpoint = list(self.model.requests(missing)), self.model.endpoint
        calls, tokens = len(requests), sum(request.tokens for request in requests)
        price = endpoint.cost(tokens, calls)
        estimate = ServedEstimate(len(missing) + stored, stored, calls, tokens, price, self.model.noun)
        return PendingCalls(endpoint.model, self.model.fingerprint, estimate, endpoint.problem(), "endpoint")

    def cost(self, keys: Iterable[bytes]) -> float | None:
        """What the items of these keys cost, each counted once, by the tokens and requests that they took."""
        with self._opened() as store:
            stored = store.get(list(dict.fromkeys(keys)))
        read = [np.frombuffer(raw[:_HEADER], dtype=np.float32).astype(np.float64) for raw in stored.values()]
        tokens, requests = np.sum(read, axis=0) if read else (0.0, 0.0)
        return self.model.endpoint.cost(float(tokens), float(requests))

    def _bought(self, items: Items, store: KeyValue, spending: Spending) -> dict[bytes, bytes]:
        """Request all items; each reply is stored immediately."""
        values: dict[bytes, bytes] = {}
        keys, wanted, model = list(items), list(items.values()), self.model
        weights = [max(1, model.tokens(item)) for item in wanted]
        before = store.any()
        width = None if before is None else len(before) // 4 - _SHARES

        def keep(request: models.ServedRequest, rows: list[Any], used: int) -> None:
            whole = sum(weights[place] for place in request.items)
            new = {}
            for place, row in zip(request.items, rows, strict=True):
                share = [used * weights[place] / whole, 1 / len(request.items)]
                new[keys[place]] = value_bytes(share) + value_bytes(row)
            store.put(new)
            if not store.get(list(new)):
                raise self._not_kept()
            values.update(new)
            task.advance(len(new))

        with self.session.notes.reporter.task(f"{self.name} by {model.endpoint.model}", len(keys)) as task:
            models.fetch(model.endpoint, model.requests(wanted, width), keep, spending)
        return values

    def _opened(self) -> KeyValue:
        return KeyValue(self.path, self.session.faults, f"{self.name} that were paid for", durable=True)

    @contextmanager
    def _turn(self, store: KeyValue) -> Iterator[None]:
        """Wait until no other run asks this endpoint with this cache."""
        if not store.lasting:
            raise self._not_kept()
        path = self.session.cache.paid / f"{self.model.fingerprint[:32]}.turn"

        def taken() -> Lock | None:
            try:
                return turn(path)
            except OSError as error:
                raise self._not_kept() from error

        held = taken()
        if held is None:
            waiting = worded(RUN, "endpoint.turn", model=self.model.endpoint.model)
            self.session.notes.reporter.note(waiting)
            while (held := taken()) is None:
                time.sleep(_POLL)
        with held:
            yield

    def _not_kept(self) -> StoreError:
        return StoreError(
            f"What {self.model.endpoint.model} gives costs money, and the cache cannot keep it. Set `cache` "
            "to a writable folder, and run again."
        )
