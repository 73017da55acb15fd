"""The interface of feedback: the terms of a query and of the chunks it found first → weighted terms."""

from __future__ import annotations

from abc import abstractmethod
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
    def expand(
        self, asked: Sequence[int], found: Sequence[FoundFirst], shares: Mapping[int, float]
    ) -> Weights:
        """The terms to search for and what each counts; ``shares`` are the shares of chunks that hold them.

        On the scale of the query's own terms, each of which counts as often as it is asked for without
        feedback. Equal weights are settled by the numbers of the terms.
        """
