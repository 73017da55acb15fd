"""Checks of every reply: as many items as requested, each once, each a finite number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.models.served.fetching import UnusableError
from harness.values import SINGLE, finite

_MOST_TOKENS = 10**9


def in_order(items: Any, count: int, field: str, noun: str) -> list[Any]:
    """The ``field`` of every item by its ``index``, in whatever order they came; raises UnusableError."""
    if not isinstance(items, list):
        raise UnusableError(f"a reply without a list of {noun}")
    if len(items) != count:
        raise UnusableError(f"{len(items)} {noun} for {count} texts")
    found: dict[int, Any] = {}
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count or index in found:
            raise UnusableError(f"{noun} whose index does not say which text each is of")
        found[index] = item.get(field)
    return [found[index] for index in range(count)]


def numbers(row: Any, noun: str) -> NDArray[np.float32]:
    """A list of finite numbers in single precision; raises UnusableError."""
    if not isinstance(row, list) or not row:
        raise UnusableError(f"a {noun} that is not a list of numbers")
    return np.array([number(value, noun) for value in row], dtype=np.float32)


def number(value: Any, noun: str) -> float:
    """A number that is finite in single precision; raises UnusableError."""
    found = finite(value, SINGLE)
    if found is None:
        raise UnusableError(f"a {noun} that holds no finite number")
    return found


def tokens_used(data: Any) -> int | None:
    """The tokens that a reply says it used; None if it says nothing."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None
    for name in ("total_tokens", "prompt_tokens"):
        count = usage.get(name)
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS:
            return count
    return None
