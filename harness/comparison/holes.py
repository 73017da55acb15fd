"""What is unjudged among the first ranks, and what judging it could change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# With a smaller share of the first ranks judged than this it is said.
ENOUGH_JUDGED = 0.8


@dataclass(frozen=True, slots=True)
class Holes:
    """How much of the first ``depth`` ranks is judged.

    ``shares`` has the mean share of every setting by ``measure``, such as judged@10. ``upper`` has the mean
    of the highest value that judging the rest could give, by ``bound``, such as ndcg_exp_upper@10; it is
    empty where the measure that decides has no such bound among the scores.
    """

    measure: str
    depth: int
    shares: Mapping[str, float]
    bound: str = ""
    upper: Mapping[str, float] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Whether under some setting less is judged than should be."""
        return min(self.shares.values(), default=1.0) < ENOUGH_JUDGED

    def could_pass(self, settings: Sequence[str], mean: float) -> tuple[str, ...]:
        """Those of ``settings`` that judging the rest could bring above a ``mean``."""
        return tuple(name for name in settings if self.upper.get(name, mean) > mean)
