"""The kinds of questions that a test set should hold, in which shares, and a balanced choice of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.labels.testset.testset_rows import Candidate

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
# those that a user's prompt without kinds brings
OWN = "own"


def quotas(count: int, kinds: Sequence[str] = tuple(KINDS)) -> dict[str, int]:
    """How many of each kind make ``count``, by largest remainder; shares of missing kinds are spread."""
    whole = sum(KINDS[kind][0] for kind in kinds)
    exact = {kind: count * KINDS[kind][0] / whole for kind in kinds}
    wanted = {kind: int(share) for kind, share in exact.items()}
    left = sorted(kinds, key=lambda kind: wanted[kind] - exact[kind])
    for kind in left[: count - sum(wanted.values())]:
        wanted[kind] += 1
    return wanted


def balanced(
    candidates: Sequence[Candidate], count: int, leading: set[str], alike: dict[str, set[str]]
) -> set[str]:
    """The ids of up to ``count`` questions: kinds in shares, documents evenly.

    What people have marked stays as they marked it. ``leading`` are ids of leading questions, which are taken
    only where others do not suffice; ``alike`` names the near-duplicates of a question, of which one is
    taken.
    """
    kept = {candidate.query_id for candidate in candidates if candidate.keep == "yes"}
    # known kinds in their shares, others in proportion to how many there are
    there = Counter(candidate.kind for candidate in candidates)
    share = {kind: KINDS[kind][0] if kind in KINDS else there[kind] / there.total() for kind in there}
    whole = sum(share.values())
    quota = {kind: max(1, round(count * part / whole)) for kind, part in share.items()}
    kinds = Counter(candidate.kind for candidate in candidates if candidate.query_id in kept)
    documents = Counter(candidate.document for candidate in candidates if candidate.query_id in kept)

    def rank(candidate: Candidate) -> tuple[bool, bool, float, int]:
        filled = kinds[candidate.kind] / quota[candidate.kind]
        return filled >= 1, candidate.query_id in leading, filled, documents[candidate.document]

    while len(kept) < count:
        fitting = [
            candidate
            for candidate in candidates
            if not candidate.keep
            and candidate.query_id not in kept
            and not alike.get(candidate.query_id, set()) & kept
        ]
        if not fitting:
            break
        # the first of equals: candidates stay in their order
        best = min(fitting, key=rank)
        kept.add(best.query_id)
        kinds[best.kind] += 1
        documents[best.document] += 1
    return kept
