"""One trial of an ability: a question, the passages that are shown, and what a right answer holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Ability = Literal["noise", "rejection", "integration", "counterfactual"]
ABILITIES: tuple[Ability, ...] = get_args(Ability)
Golden = tuple[tuple[str, ...], ...]
"""The parts of the answer, each as its alternatives: all parts are asked for, one alternative of each."""


@dataclass(frozen=True, slots=True)
class Trial:
    """``rate`` is the share of passages that are noise: 1 for rejection.

    ``golden`` has at least one part, each with at least one alternative that is not blank. ``changed`` says
    what was made false in the passages of a counterfactual trial, '' where the source does not tell.
    """

    trial_id: str
    ability: Ability
    rate: float
    question: str
    passages: tuple[str, ...]
    golden: Golden
    changed: str = ""

    def __post_init__(self) -> None:
        """Refuse a trial that could not be marked: no passage, no golden answer."""
        if not self.passages or any(not text.strip() for text in self.passages):
            raise ValueError(f"{self.trial_id}: shows no passage, or a blank one")
        if not self.golden or any(not part or not all(map(str.strip, part)) for part in self.golden):
            raise ValueError(f"{self.trial_id}: a part of the golden answer is missing or blank")
