"""JSON that others wrote, read within limits: an endpoint, a service, a browser."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

MOST_BYTES = 512_000_000
"""A larger reply is refused while it arrives."""
MOST_BYTES_OF_CHAT = 16_000_000
"""One completion, with the probabilities of all its tokens."""
DEEPEST = 64
_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
# Only a number that looks like one of these may be too large for a float.
_BEYOND = re.compile(r"[eE]\+?\d{3}|\d{200}")


class UntrustedJsonError(ValueError):
    """Text that is no JSON, or JSON that is too large, too deep or ambiguous; the message says which.

    ``at``: where it stops being JSON; None where it is JSON that is refused.
    """

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


class NamedTwiceError(UntrustedJsonError):
    """An object names a field twice: which of the two was meant is unknown."""


def read_json(content: bytes | str, most_bytes: int = MOST_BYTES) -> Any:
    """The value of a JSON text; raises UntrustedJsonError.

    Refuses more than ``most_bytes``, more than DEEPEST levels, NaN and numbers like 1e999, and an
    object that names a field twice (NamedTwiceError). Python's own reader keeps the last and recurses as
    deep as it can.
    """
    if len(content) > most_bytes:
        raise UntrustedJsonError(f"it is larger than {most_bytes:,} bytes")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UntrustedJsonError(f"it is not JSON: {error}", 0) from None
    # a call of Python for every number: only where one might be too large
    decoder = _CAREFUL if _BEYOND.search(text) else _QUICK
    return _read(lambda: (decoder.decode(text), len(text)), text, 0)[0]


def read_json_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at a place of a short text, and where it ends; rules as of ``read_json``."""
    return _read(lambda: _CAREFUL.raw_decode(text, at), text, at)


def _read(decode: Callable[[], tuple[Any, int]], text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = decode()
    except UntrustedJsonError:
        raise
    except RecursionError:
        raise UntrustedJsonError(_TOO_DEEP) from None
    # also of a whole number with more digits than Python reads, which has no place
    except ValueError as error:
        raise UntrustedJsonError(f"it is not JSON: {error}", getattr(error, "pos", None)) from None
    if text.count("[", at, end) + text.count("{", at, end) > DEEPEST:
        _refuse_depth(value)
    return value, end


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise NamedTwiceError(f"it names the field {twice[:60]!r} twice")
    return fields


_NO_ERROR = {"", "none", "null", "no", "n/a", "false", "0"}


def reports_error(value: dict[str, Any]) -> bool:
    """Whether an object says that its values were not made, in one of the ways that servers and models do."""
    fields = {name.casefold(): field for name, field in value.items()}
    named = [fields.get(name) for name in ("error", "errors", "error_message")]
    if any(field and str(field).casefold() not in _NO_ERROR for field in named):
        return True
    status = str(fields.get("status", "")).casefold()
    return status in {"error", "failed", "failure"} or fields.get("success") is False


def _refuse_number(name: str) -> float:
    raise UntrustedJsonError(f"it holds {name[:40]}, no finite number")


def _finite(digits: str) -> float:
    return value if math.isfinite(value := float(digits)) else _refuse_number(digits)


_QUICK = json.JSONDecoder(object_pairs_hook=_named_once, parse_constant=_refuse_number)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_named_once,
    parse_constant=_refuse_number,
    parse_float=_finite,
)


def _refuse_depth(value: Any) -> None:
    """Level by level rather than by recursion, so that no depth can end the process."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            inner += [part for part in parts if isinstance(part, dict | list)]
        if not inner:
            return
        level = inner
    raise UntrustedJsonError(_TOO_DEEP)
