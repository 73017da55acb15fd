"""The settings that judges share, and those of the LLM judge."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from harness.judge.sampling import Combine
from harness.kinds import StageConfig
from harness.llm.endpoint import Endpoint
from harness.llm.money import Price


class PoolConfig(StageConfig):
    """What is judged: the union over all settings of each query's highest ranked chunks.

    ``unit: passage`` judges the sentence-aligned passages that it touches, which are the same for every
    chunking; ``unit: chunk`` judges each chunk of that union.
    """

    unit: Literal["chunk", "passage"] = Field(
        "passage",
        description="`passage`: passages of the document that retrieved text touches, the same for every "
        "chunking; `chunk`: each retrieved chunk, as the prompt `seed_list` needs it.",
    )
    depth: int = Field(10, ge=1, description="How many chunks of every ranking go into the pool.")
    passage_chars: int = Field(
        600,
        ge=100,
        le=4000,
        description="The length of a passage, about; a wide character, such as a Chinese one, counts as two.",
    )


class LlmConfig(StageConfig):
    """A judge that asks a language model."""

    kind: Literal["llm"] = "llm"
    prompt: str = Field(
        "pointwise",
        description="`pointwise`, `umbrela`, `listwise`, `seed_list`, each also with `_zh`; "
        "`umbrela_published`; or a path ending in .yaml.",
    )
    endpoint: Endpoint = Field(description="Where the model is served.")
    pool: PoolConfig = Field(PoolConfig(), description="What is judged.")
    samples: int = Field(
        1,
        ge=1,
        le=25,
        description="How often each call is repeated (for a list prompt: in so many orders).",
    )
    combine: Combine = Field("majority", description="How samples become one grade.")
    max_unscored: float = Field(
        0.02, ge=0, le=1, description="The share of pairs without a grade above which the run fails."
    )
    max_cost: float | None = Field(
        None, gt=0, description="What one run may spend, in the currency of `prices`; it can be resumed."
    )
    max_calls: int | None = Field(None, gt=0, description="How many requests one run may make.")
    prices: dict[str, Price] = Field(
        default_factory=dict, description="The price table, by model name; without it costs are unknown."
    )
    answers_per_call: int = Field(
        2, ge=1, le=10, description="How many unusable answers are paid for before a call is given up."
    )
    ask_again: bool = Field(
        False, description="Ask calls anew that earlier runs have settled without a grade."
    )
    breaker: int = Field(
        30,
        ge=2,
        description="After so many calls in a row without a grade the run stops: at once if the endpoint "
        "answers uselessly or refuses, else after `breaker_seconds`.",
    )
    breaker_seconds: float | None = Field(
        None,
        ge=0,
        description="How many seconds an outage of the endpoint may last; null: as long as "
        "`endpoint.deadline`.",
    )

    @property
    def price(self) -> Price | None:
        """The price of the model, where the table has it."""
        return self.prices.get(self.endpoint.model)

    @property
    def longest_outage(self) -> float:
        """How many seconds an endpoint may not answer at all."""
        return self.endpoint.deadline if self.breaker_seconds is None else self.breaker_seconds

    @model_validator(mode="after")
    def _a_limit_needs_a_price(self) -> LlmConfig:
        if self.max_cost is not None and self.price is None:
            raise ValueError(
                f"max_cost needs the price of {self.endpoint.model!r} in prices: without it nothing can "
                "be counted"
            )
        return self

    @model_validator(mode="after")
    def _a_recipe_as_it_was(self) -> LlmConfig:
        if self.prompt.startswith("seed_list") and self.pool.unit != "chunk":
            raise ValueError(
                f"{self.prompt} reproduces a recipe that scores retrieved chunks, best rank first: "
                "set pool.unit to chunk"
            )
        return self

    @model_validator(mode="after")
    def _words_as_published(self) -> LlmConfig:
        if self.prompt == "umbrela_published" and self.endpoint.structured != "none":
            raise ValueError(
                "umbrela_published asks for its answer in words: set endpoint.structured to none"
            )
        return self

    @model_validator(mode="after")
    def _samples_that_can_differ(self) -> LlmConfig:
        if (
            self.samples > 1
            and self.endpoint.temperature == 0
            and self.prompt.startswith(("pointwise", "umbrela"))
        ):
            raise ValueError(
                "several samples at temperature 0 are one opinion paid several times: set "
                "endpoint.temperature above 0"
            )
        return self
