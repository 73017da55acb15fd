"""Values of endpoints: bought once, stored with their cost, and never requested by a plan."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.models import ServedEncoder, ServedEstimate, ServedPairs, Spending, fetch
from harness.models import ServedRequest as ServedRequest
from harness.running.compute import Computed
from harness.running.context import Context, NotStoredError
from harness.steps import PendingCalls, PendingCallsError
from harness.store import KeyValue, Turn
from harness.values import StoreError

Served = ServedEncoder | ServedPairs
# Before the numbers of an item: its share of the tokens and of the requests that brought it, in float32.
_SHARES = 2
_HEADER = 4 * _SHARES
_POLL = 0.2


def compute_served(name: str, items: Mapping[bytes, Any], model: Served, context: Context) -> Computed:
    """The numbers of every item by its key: those that are kept, and the others from the endpoint.

    Each reply is on disk before the next step. Runs that ask one endpoint with one cache take turns, so that
    no run buys what another is buying. Raises PendingCallsError if the run may not ask.
    """
    with _opened(name, model, context) as store:
        known = store.get(list(items))
        missing = [key for key in items if key not in known]
        if missing and not context.may_compute:
            raise NotStoredError(name, missing)
        if missing and not context.may_ask:
            raise PendingCallsError(pending_call([items[key] for key in missing], len(known), model))
        seen = context.looked_up.setdefault(model.fingerprint, set())
        spending = context.served.setdefault(model.endpoint.model, Spending())
        spending.from_ledger += len(known.keys() - seen)
        seen |= items.keys()
        if missing:
            with _turn(store, model, context):
                known |= store.get(missing)
                missing = [key for key in missing if key not in known]
                wanted = [items[key] for key in missing]
                known |= _bought(name, missing, wanted, model, store, context)
        context.count(f"{name}_computed", len(missing))
        return Computed({key: raw[_HEADER:] for key, raw in known.items()}, frozenset(missing))


def pending_call(missing: Sequence[Any], known: int, model: Served) -> PendingCalls:
    """The cost of the missing items; nothing is sent."""
    calls = tokens = 0
    for asked in model.requests(missing):
        calls += 1
        tokens += asked.tokens
    price = model.endpoint.cost(tokens, calls)
    estimate = ServedEstimate(len(missing) + known, known, calls, tokens, price, model.noun)
    return PendingCalls(
        model.endpoint.model, model.fingerprint, estimate, model.endpoint.problem(), "endpoint"
    )


def shares(name: str, keys: Sequence[bytes], model: Served, context: Context) -> tuple[float, float]:
    """The tokens and the requests, in part, that the items of these keys took, each counted once."""
    with _opened(name, model, context) as store:
        found = store.get(list(dict.fromkeys(keys)))
    read = [np.frombuffer(raw[:_HEADER], dtype=np.float32).astype(np.float64) for raw in found.values()]
    tokens, requests = np.sum(read, axis=0) if read else (0.0, 0.0)
    return float(tokens), float(requests)


def _bought(
    name: str, keys: Sequence[bytes], items: Sequence[Any], model: Served, store: KeyValue, context: Context
) -> dict[bytes, bytes]:
    """Request all items; each reply is stored immediately."""
    found: dict[bytes, bytes] = {}
    weights = [max(1, model.tokens(item)) for item in items]
    before = store.any()
    width = None if before is None else len(before) // 4 - _SHARES

    def keep(asked: ServedRequest, rows: list[Any], used: int) -> None:
        whole = sum(weights[place] for place in asked.items)
        new = {}
        for place, row in zip(asked.items, rows, strict=True):
            share = [used * weights[place] / whole, 1 / len(asked.items)]
            header = np.array(share, dtype=np.float32).tobytes()
            new[keys[place]] = header + np.ascontiguousarray(row, dtype=np.float32).tobytes()
        store.put(new)
        if not store.get(list(new)):
            raise _not_kept(model)
        found.update(new)
        task.advance(len(new))

    with context.reporter.task(f"{name} by {model.endpoint.model}", len(keys)) as task:
        spending = context.served[model.endpoint.model]
        fetch(model.endpoint, model.requests(items, width), keep, spending)
    return found


def _opened(name: str, model: Served, context: Context) -> KeyValue:
    path = context.cache.served(name, model.fingerprint)
    return KeyValue(path, context.faults, f"{name} that were paid for", durable=True)


@contextmanager
def _turn(store: KeyValue, model: Served, context: Context) -> Iterator[None]:
    """Wait until no other run asks this endpoint with this cache."""
    if not store.lasting:
        raise _not_kept(model)
    turn = Turn(context.cache.paid / f"{model.fingerprint[:32]}.turn")
    noted = False

    def taken() -> bool:
        try:
            return turn.take()
        except OSError as error:
            raise _not_kept(model) from error

    try:
        while not taken():
            if not noted:
                noted = True
                context.reporter.note(
                    f"Another run is asking {model.endpoint.model} with this cache. This run waits for its "
                    "turn and reuses what the other has paid for."
                )
            time.sleep(_POLL)
        yield
    finally:
        turn.end()


def _not_kept(model: Served) -> StoreError:
    return StoreError(
        f"What {model.endpoint.model} gives costs money, and the cache cannot keep it. Set `cache` "
        "to a writable folder, and run again."
    )
