"""The warnings of a run as lines of a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from harness.values import ResultWarning

# Of one kind; the rest is counted. All are in record.json and verdict.json.
_SHOWN = 3


def warning_lines(warnings: Sequence[ResultWarning]) -> list[str]:
    """One line for each warning, the first few of a kind."""
    by_kind: dict[str, list[str]] = {}
    for one in warnings:
        by_kind.setdefault(one.kind, []).append(one.text if one.text.endswith(".") else f"{one.text}.")
    lines = []
    for kind, texts in by_kind.items():
        lines += texts[:_SHOWN]
        if more := len(texts) - _SHOWN if len(texts) > _SHOWN else 0:
            lines.append(f"{more} more on {kind}: the list warnings of record.json has all.")
    return lines
