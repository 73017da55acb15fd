"""Answers of trials marked as RGB publishes it: by lower-cased substrings and by phrases.

Source: Chen et al., AAAI 2024, and the script evalue.py of its repository. A refused question is marked as
refused whatever else the answer says; detection is only marked for counterfactual trials.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.measures import refuses
from harness.running.abilities.trial import Golden, Trial

REJECTS = ("信息不足", "insufficient information")
DETECTS = ("事实性错误", "factual errors")


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """How an answer is marked. ``parts``: which parts of the golden answer it has; none if it refuses."""

    rejects: bool
    detects: bool
    parts: tuple[bool, ...]

    @property
    def right(self) -> bool:
        """Whether it holds every part of the golden answer."""
        return bool(self.parts) and all(self.parts)


def mark(trial: Trial, answer: str, *, any_refusal: bool = False) -> MarkedAnswer:
    """Mark the answer of a trial; ``any_refusal`` also counts refusals in other words than RGB's."""
    rejects = any(phrase in answer for phrase in REJECTS) or (any_refusal and refuses(answer))
    detects = any(phrase in answer for phrase in DETECTS)
    return MarkedAnswer(rejects, detects, () if rejects else parts_in(trial.golden, answer))


def parts_in(golden: Golden, answer: str) -> tuple[bool, ...]:
    """Which parts are in the answer, in lower case, by one of their alternatives."""
    lowered = answer.lower()
    return tuple(any(one.lower() in lowered for one in part) for part in golden)
