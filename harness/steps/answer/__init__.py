"""Answerers: a question and passages → an answer. One file per kind."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, model_validator

from harness.models import EncoderConfig
from harness.values import Amount, KindAt, Kinds, Run, StageConfig, Step

Order = Literal["rank", "reverse", "edges"]


class AnswerConfig(StageConfig):
    """Base of the configurations of answerers: how much of a ranking is read, and in which order."""

    top_n: Annotated[int | None, Amount(unset="all")] = Field(
        5, ge=1, description="How many passages are read at most; null: as many as `max_tokens` allows."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="The passages have at most so many tokens together, counted by the setting's "
        "`tokenizer`. They are read whole: the first that does not fit ends the list.",
    )
    order: Order = Field(
        "rank",
        description="The order of the passages in the prompt: best first (`rank`), best last (`reverse`), or "
        "the best at both ends and the worst in the middle (`edges`).",
    )
    max_failed: float = Field(
        0.1,
        ge=0,
        le=1,
        description="The share of questions that may stay without an answer because a call failed; beyond "
        "it the run ends. A question without an answer is never scored as 0.",
    )

    @model_validator(mode="after")
    def _has_a_limit(self) -> AnswerConfig:
        if self.top_n is None and self.max_tokens is None:
            raise ValueError("top_n and max_tokens are both null: set one, or all of a ranking would be read")
        return self

    @property
    def encoders(self) -> tuple[EncoderConfig, ...]:
        """The encoders that it uses."""
        return ()

    @property
    def longest_answer(self) -> int:
        """The most characters of an answer that a plan cannot know; 0: about those of a golden one."""
        return 0


def passages_read(config: AnswerConfig, lengths: Sequence[int]) -> list[int]:
    """The ranks, from 0, of the passages that are read, in the order in which they are read.

    ``lengths`` are the tokens of the ranked passages, best first. The order ``edges`` puts ranks 1, 3, 5 …
    first and … 6, 4, 2 after them (Liu et al., Lost in the middle, TACL 2024: what is in the middle is used
    least).
    """
    ranks = list(range(len(lengths)))[: config.top_n]
    if config.max_tokens is not None:
        ranks = ranks[: bisect_right(list(accumulate(lengths[: len(ranks)])), config.max_tokens)]
    if config.order == "edges":
        return [*ranks[::2], *reversed(ranks[1::2])]
    return ranks[::-1] if config.order == "reverse" else ranks


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """A question, and the texts of the passages in the order in which they are read."""

    query_id: str
    question: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """The outcome of asking. ``text`` None: no answer, and ``reason`` says why.

    ``cited`` are 0-based indexes into the passages, in the order of their first mention; ``bad_citations``
    counts marks that look like a citation and name no passage that was read. Tokens, ``price`` (None:
    unknown) and ``seconds`` are those of the call that brought the answer, whenever it was made; None if
    no language model was asked.
    """

    text: str | None
    reason: str = ""
    cited: tuple[int, ...] = ()
    bad_citations: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    price: float | None = None
    seconds: float | None = None


Config = TypeVar("Config", bound=AnswerConfig)


class Answerer(Step[Config]):
    """Questions with passages → one reply each, in their order. A failure is a reply without a text.

    ``asks``: it asks a language model, which costs money.
    """

    asks: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the answerer, for tables and messages."""

    @abstractmethod
    def run(self, inputs: Sequence[AnswerInput]) -> list[AnswerReply] | Run[list[AnswerReply]]:
        """The replies, or a generator that yields needs; every question has at least one passage."""


ANSWERERS: Kinds[Answerer[Any]] = Kinds(
    "answer",
    KindAt("llm", "LlmAnswerConfig", "LlmAnswerer"),
    KindAt("extractive", "ExtractiveConfig", "ExtractiveAnswerer"),
    home=__name__,
)
