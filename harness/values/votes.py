"""What several raters say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def most_frequent(grades: Sequence[int]) -> int:
    """The most frequent grade; of equals the lower, as doubt goes to the lower grade."""
    counts = Counter(grades)
    return min(counts, key=lambda grade: (-counts[grade], grade))


def vote_of(grades: Sequence[int | None]) -> int | None:
    """The most frequent grade of raters; None unless more than half of them have given one."""
    given = [grade for grade in grades if grade is not None]
    return most_frequent(given) if 2 * len(given) > len(grades) else None
