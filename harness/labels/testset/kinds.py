"""The kinds of questions that a test set should hold, and in which shares."""

from __future__ import annotations

from collections.abc import Sequence

# name -> (share of the questions, what it is)
KINDS: dict[str, tuple[float, str]] = {
    "fact": (0.30, "one fact that is in one place"),
    "table": (0.15, "a cell of a table"),
    "two_places": (0.12, "needs two passages together"),
    "comparison": (0.12, "compares two things, years or parties"),
    "paraphrase": (0.13, "one fact, asked in words that the document does not use"),
    "other": (0.08, "a fact next to a similar one of another year or entity"),
    "unanswerable": (0.10, "sounds right, and the documents do not answer it"),
}
# questions of a user without a kind
GIVEN = "given"


def quotas(count: int, kinds: Sequence[str] = tuple(KINDS)) -> dict[str, int]:
    """How many of each kind make ``count``, by largest remainder; shares of missing kinds are spread."""
    whole = sum(KINDS[kind][0] for kind in kinds)
    exact = {kind: count * KINDS[kind][0] / whole for kind in kinds}
    found = {kind: int(share) for kind, share in exact.items()}
    left = sorted(kinds, key=lambda kind: found[kind] - exact[kind])
    for kind in left[: count - sum(found.values())]:
        found[kind] += 1
    return found
