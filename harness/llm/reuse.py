"""Which answers of the ledger stand for a call that would be made today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.llm.form import ENDED_BY_ITSELF, FINAL_REASONS, Form, Malformed
from harness.llm.records import Ledger
from harness.types import Answered, Asked

LIMIT = "max_tokens"


def keys_of(ledger: Ledger, asked: Asked) -> list[str]:
    """The key of a call, then those of the same call under other limits of length, the largest first."""
    return [ledger.key(call) for call in (asked, *_under_other_limits(ledger, asked))]


def find_settled(ledger: Ledger, asked: Asked, form: Form, *, ask_again: bool = False) -> Answered | None:
    """The answer in the ledger that settles a call; a usable one before one that is not.

    Besides the answer to the very same call it may be one that was given under another ``max_tokens`` and
    that this limit would not have changed. ``ask_again``: one that cannot be used settles nothing.
    """
    found: list[Answered] = []
    for call in (asked, *_under_other_limits(ledger, asked)):
        entry = ledger.find(ledger.key(call))
        if entry is not None and (call is asked or _stands(entry, asked.parameters[LIMIT])):
            found.append(_as_read_today(entry, form))
    unusable = found[0] if found and not ask_again else None
    return next((one for one in found if one.usable), unusable)


def _under_other_limits(ledger: Ledger, asked: Asked) -> Iterator[Asked]:
    own = asked.parameters.get(LIMIT)
    if not isinstance(own, int):
        return
    others = [
        other
        for other in ledger.parameters(asked.model, asked.prompt_sha)
        if isinstance(other.get(LIMIT), int)
        and other[LIMIT] != own
        and {**other, LIMIT: own} == asked.parameters
    ]
    for other in sorted(others, key=lambda other: -other[LIMIT]):
        yield replace(asked, parameters=other)


def _stands(entry: Answered, limit: int) -> bool:
    """Whether an answer, given under another limit of length, would have been the same under ``limit``."""
    if entry.reason in FINAL_REASONS:
        return True
    used, own = entry.completion_tokens, entry.parameters[LIMIT]
    said = (entry.finish or "").lower()
    ended = said in ENDED_BY_ITSELF if said else used is not None and used < own
    return ended and (limit >= own or (used is not None and used <= limit))


def _as_read_today(entry: Answered, form: Form) -> Answered:
    """An answer whose end was not recorded, without its grades where they are of one that was cut off.

    Earlier versions took grades from such answers, and from those with two grades in two forms.
    """
    if entry.grades is None or entry.finish is not None:
        return entry
    read = form.read(entry, entry.raw)
    if entry.completion_tokens is not None and entry.completion_tokens == entry.parameters.get(LIMIT):
        read = Malformed("truncated")
    if isinstance(read, Malformed) and read.reason in {"truncated", "unfinished_thought", "ambiguous"}:
        return replace(entry, grades=None, reason=read.reason)
    return entry
