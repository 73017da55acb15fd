"""Which answers of the ledger stand for a call that would be made today."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.judge.parsing import Malformed
from harness.judge.prompting import Prompt, read_grades
from harness.judge.records import Ledger
from harness.llm.reply import ENDED_BY_ITSELF, FINAL_REASONS
from harness.types import Answered, Asked

LIMIT = "max_tokens"


def keys_of(ledger: Ledger, asked: Asked) -> list[str]:
    """The key of a call, then those of the same call under other limits of length, the largest first."""
    return [ledger.key(call) for call in (asked, *_under_other_limits(ledger, asked))]


def find_answer(ledger: Ledger, asked: Asked, prompt: Prompt) -> tuple[str, Answered] | None:
    """The answer in the ledger that settles a call, and its key; one with grades before one without.

    Besides the answer to the very same call it may be one that was given under another ``max_tokens`` and
    that this limit would not have changed.
    """
    found: list[tuple[str, Answered]] = []
    for call in (asked, *_under_other_limits(ledger, asked)):
        key = ledger.key(call)
        entry = ledger.find(key)
        if entry is not None and (call is asked or _stands(entry, asked.parameters[LIMIT])):
            found.append((key, _as_read_today(entry, prompt)))
    return next((one for one in found if one[1].grades is not None), found[0] if found else None)


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


def _as_read_today(entry: Answered, prompt: Prompt) -> Answered:
    """An answer whose end was not recorded, without its grades where they are of one that was cut off.

    Earlier versions took grades from such answers, and from those with two grades in two forms.
    """
    if entry.grades is None or entry.finish is not None:
        return entry
    read = read_grades(prompt, entry.raw, len(entry.passages))
    if entry.completion_tokens is not None and entry.completion_tokens == entry.parameters.get(LIMIT):
        read = Malformed("truncated")
    if isinstance(read, Malformed) and read.reason in {"truncated", "unfinished_thought", "ambiguous"}:
        return replace(entry, grades=None, reason=read.reason)
    return entry
