"""A balanced choice: kinds in shares, documents evenly, no near-duplicates, leading questions last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.labels.testset.kinds import KINDS
from harness.labels.testset.rows import Candidate


def balanced(
    candidates: Sequence[Candidate], count: int, leading: set[str], alike: dict[str, set[str]]
) -> set[str]:
    """The ids of up to ``count`` questions; what people have marked stays as they marked it.

    ``leading`` are ids of leading questions, which are taken only where others do not suffice; ``alike``
    names the near-duplicates of a question, of which one is taken.
    """
    kept = {one.query_id for one in candidates if one.keep == "yes"}
    free = [one for one in candidates if not one.keep]
    quota = _quotas(candidates, count)
    kinds = Counter(one.kind for one in candidates if one.query_id in kept)
    documents = Counter(one.document for one in candidates if one.query_id in kept)
    for within in (True, False):
        while len(kept) < count:
            fitting = [
                one
                for one in free
                if one.query_id not in kept
                and not alike.get(one.query_id, set()) & kept
                and (kinds[one.kind] < quota[one.kind] or not within)
            ]
            if not fitting:
                break
            # the first of equals: candidates stay in their order
            best = min(
                fitting,
                key=lambda one: (
                    one.query_id in leading,
                    kinds[one.kind] / max(1, quota[one.kind]),
                    documents[one.document],
                ),
            )
            kept.add(best.query_id)
            kinds[best.kind] += 1
            documents[best.document] += 1
    return kept


def _quotas(candidates: Sequence[Candidate], count: int) -> dict[str, int]:
    """How many of each kind: known kinds in their shares, others in proportion to how many there are."""
    there = Counter(one.kind for one in candidates)
    share = {kind: KINDS[kind][0] if kind in KINDS else there[kind] / there.total() for kind in there}
    whole = sum(share.values())
    return {kind: max(1, round(count * part / whole)) for kind, part in share.items()}
