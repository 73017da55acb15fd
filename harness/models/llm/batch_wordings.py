"""What is said of batches of calls, and of calls that wait for another run: each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

BATCHES: Mapping[str, str] = {
    "batch.cancelled": "Batch {batch} was cancelled: {answered} of {calls} calls were answered.",
    "batch.sent": (
        "Batch {batch}: {calls} sent to {model}, to be answered within {window}. You can stop waiting at any "
        "time; the same command goes on from there."
    ),
    "batch.sent before": (
        "Batch {batch} of {made_at}, {calls}, was sent before: its answers are collected, and none of its "
        "calls is made twice."
    ),
    "batch.unknown": (
        "It is not known whether a batch was made of file {file}: waits {seconds} s, since the endpoint may "
        "not list it yet."
    ),
    "batch.left.one": (
        "1 call goes on at the endpoint ({batches}). The same command collects the answers; `harness judge "
        "batches` shows how far they are, and cancels them with --cancel."
    ),
    "batch.left": (
        "{count} calls go on at the endpoint ({batches}). The same command collects the answers; `harness "
        "judge batches` shows how far they are, and cancels them with --cancel."
    ),
    "ledger.turn": (
        "Another run is asking {model} with this ledger. This run uses its answers and waits for its turn, "
        "so that nothing is paid for twice."
    ),
    # what a service calls its end, such as expired
    "batch.ended": "Batch {batch} has {status}: {answered} of {calls} calls were answered.",
    "batch.strangers.one": (
        "Batch {batch}: 1 answer to a request that it does not contain, which is ignored."
    ),
    "batch.strangers": (
        "Batch {batch}: {count} answers to requests that it does not contain, which are ignored."
    ),
    "batch.double.one": "Batch {batch}: 1 request with two different answers, which is made again.",
    "batch.double": "Batch {batch}: {count} requests with two different answers, which are made again.",
    "batch.broken.one": "Batch {batch}: 1 unreadable line, whose request is made again.",
    "batch.broken": "Batch {batch}: {count} unreadable lines, whose requests are made again.",
}
