"""Why queries have no value, in words: unanswerable, never graded, or graded with nothing relevant."""

from __future__ import annotations

from collections.abc import Mapping

from harness.values import listed

WHY = {
    "unanswerable": "unanswerable",
    "ungraded": "never graded",
    "irrelevant": "graded, with nothing relevant",
}
"""The reasons for which a query is left out, as they are called in tables, and in words."""


def left_out_words(counts: Mapping[str, int]) -> str:
    """A sentence on how many queries are left out for each reason; '' if none are."""
    parts = [f"{count:,} {words}" for why, words in WHY.items() if (count := counts.get(why))]
    return f"Left out: {listed(parts, len(parts))}." if parts else ""
