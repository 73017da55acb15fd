"""What is warned of batches of calls, each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

BATCHES: Mapping[str, str] = {
    "batch.cancelled": "Batch {batch} was cancelled: {answered} of {calls} calls were answered.",
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
