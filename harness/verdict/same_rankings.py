"""What is said of settings that a verdict on rankings cannot tell apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.text.numbers import counted, listed

_NAMED = 3


def same_ranking_notes(settings: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The caveat that settings tie because they differ only in how they answer; none where none do.

    ``settings`` are configured settings as plain values, by what they are called.
    """
    same = [names for names in ranked_alike(settings) if len(names) > 1]
    if not same:
        return ()
    shown = "; ".join(listed(names, 4) for names in same[:_NAMED])
    more = len(same) - _NAMED
    rest = f"; and {counted(more, 'more group')}" if more > 0 else ""
    return (
        f"Settings that differ only in `answer` have the same rankings, so they tie here: {shown}{rest}. "
        "Choose between them by their answers.",
    )


def ranked_alike(settings: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The settings in groups that have the same rankings, as they differ at most in ``answer``."""
    groups: dict[str, list[str]] = {}
    for called, setting in settings.items():
        own = {key: value for key, value in setting.items() if key not in ("name", "answer")}
        groups.setdefault(json.dumps(own, sort_keys=True, default=str), []).append(called)
    return list(groups.values())
