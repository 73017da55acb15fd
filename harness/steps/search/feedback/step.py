"""The interface of feedback: the terms of a query and of the chunks it found first → weighted terms."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field

from harness.values import StageConfig, Step

Weights = dict[int, float]
"""The weight of each term, by its number."""

# Raised when the same chunks give different terms.
_VERSION = 1


class FeedbackConfig(StageConfig):
    """Base of the configurations of feedback: where terms are taken from, and how many."""

    kind: str
    fb_docs: int = Field(10, ge=1, description="How many top chunks of the first search contribute terms.")
    fb_terms: int = Field(
        10, ge=1, description="How many terms they contribute, including the question's own."
    )
    weight: float = Field(
        0.5,
        ge=0,
        le=1,
        description="The weight of the question's own terms; the rest goes to terms of the chunks. 1: no "
        "feedback.",
    )
    max_share: float = Field(
        0.1, gt=0, le=1, description="Terms in more than this share of all chunks are not used."
    )


@dataclass(frozen=True, slots=True)
class FoundFirst:
    """A chunk of the first search: its terms with repetitions, and its score, which is above 0."""

    terms: Sequence[int]
    score: float


Configured = TypeVar("Configured", bound=FeedbackConfig)


class Feedback(Step[Configured]):
    """Makes weighted terms of a query and what was found for it. Pure."""

    def identity(self) -> list[Any]:
        """Everything besides query and chunks that decides the terms."""
        return [_VERSION, self.config.model_dump(mode="json")]

    @abstractmethod
    def question(self, counts: Mapping[int, int]) -> Weights:
        """The query's terms on the scale of the method, from how often it has each."""

    @abstractmethod
    def model(self, found: Sequence[FoundFirst]) -> Weights:
        """The weight of each term of the chunks [≥ 1], on any scale."""

    @abstractmethod
    def size(self, weights: Mapping[int, float]) -> float:
        """The norm by which the method makes weights comparable."""

    def expand(
        self, asked: Sequence[int], found: Sequence[FoundFirst], shares: Mapping[int, float]
    ) -> Weights:
        """The terms to search for and what each counts; ``shares`` are the shares of chunks that hold them.

        On the scale of the query's own terms, each of which counts as often as it is asked for without
        feedback. Equal weights are settled by the numbers of the terms.
        """
        counts = Counter(asked)
        offered = {
            term: value for term, value in self.model(found).items() if shares[term] <= self.config.max_share
        }
        best = dict(sorted(offered.items(), key=lambda one: (-one[1], one[0]))[: self.config.fb_terms])
        own, scale = self.question(counts), self.size({term: float(n) for term, n in counts.items()})
        total = self.size(best)
        weight = self.config.weight if total else 1.0
        weighed = {term: weight * value for term, value in own.items()}
        for term, value in best.items():
            weighed[term] = weighed.get(term, 0.0) + (1 - weight) * value / total
        return {term: scale * value for term, value in weighed.items() if value > 0}
