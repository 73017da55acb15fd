"""The settings of a language model: endpoint, prices and limits; those of steps that call one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import Field, field_serializer, field_validator, model_validator

from harness.models.llm.endpoint import Endpoint
from harness.models.llm.money import Price
from harness.values import ConfigError, LlmAnswer, LlmError, Reporter, StageConfig, worded

if TYPE_CHECKING:
    from harness.models.llm.form import About, Form, Talk
    from harness.models.llm.prompt import Prompt

_SHOWN = 5

T = TypeVar("T")

Purpose = Literal[
    "rewriting", "filter", "context", "reading", "naming", "endpoint", "reranking", "answer", "measuring"
]
"""The use of the answers; a request to an ``endpoint`` is one for vectors or scores."""


class ModelConfig(StageConfig):
    """A language model, and the limits of one run that asks it."""

    asks_language_model: ClassVar[bool] = True
    gone: ClassVar[Mapping[str, str]] = {
        "batch": "batches are asked for at the endpoint: write endpoint: {batch: true} in place of it."
    }

    endpoint: Endpoint = Field(description="Where the model is served; an endpoint of a language model.")
    max_cost: float | None = Field(
        None,
        gt=0,
        description="The most that one run may spend, in the currency of `prices`; it can be resumed.",
    )
    max_calls: int | None = Field(None, gt=0, description="The maximum number of requests of one run.")
    prices: dict[str, Price] = Field(
        default_factory=dict, description="The price table, by model name; without it costs are unknown."
    )
    answers_per_call: int = Field(
        2, ge=1, le=10, description="How many unusable answers are paid for before giving up on a call."
    )
    ask_again: bool = Field(
        False, description="Repeat calls that earlier runs closed without a usable answer."
    )
    breaker: int = Field(
        30,
        ge=2,
        description="The run stops after this many calls in a row without a usable answer: at once if the "
        "endpoint gives unusable answers or refuses, otherwise after `breaker_seconds`. Replies that are no "
        "completion are counted apart; two are enough where there has been no usable answer.",
    )
    breaker_seconds: float | None = Field(
        None,
        ge=0,
        description="How many seconds an outage of the endpoint may last; null: as long as "
        "`endpoint.deadline`.",
    )

    @property
    def asked_model(self) -> str:
        """The name of the model that is asked."""
        return self.endpoint.model

    @property
    def price(self) -> Price | None:
        """The price of a call, in a batch where that is how it is asked; None if no table has it."""
        return self.batch_price if self.endpoint.batch else self.prices.get(self.asked_model)

    @property
    def batch_price(self) -> Price | None:
        """The price of a call in a batch, however calls are asked now."""
        price = self.prices.get(self.asked_model)
        return price and price.in_batches()

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The cost of so many tokens; None without a price."""
        return self.price.of(prompt_tokens, completion_tokens) if self.price else None

    @property
    def longest_outage(self) -> float:
        """How many seconds an endpoint may not answer at all."""
        return self.endpoint.deadline if self.breaker_seconds is None else self.breaker_seconds

    @model_validator(mode="after")
    def _a_limit_needs_a_price(self) -> ModelConfig:
        if self.max_cost is not None and self.price is None:
            raise ValueError(
                f"max_cost needs the price of {self.endpoint.model!r} in prices: without it the cost cannot "
                "be counted"
            )
        return self


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a step to ``model``: one prompt about each of ``about``, worded by ``form``.

    ``name`` is that of the prompt, ``samples`` how often each is asked. ``talk`` begins what is asked about
    each in place of the one prompt.
    """

    model: ModelConfig
    form: Form
    about: Sequence[About]
    name: str
    purpose: Purpose
    samples: int = 1
    talk: Callable[[About], Talk[Any]] | None = None


class LlmStepConfig(ModelConfig):
    """Base of the configurations of steps that call a language model by the file of their ``prompt``.

    The field ``prompt`` is declared by each kind. It holds the content of the file, read when the
    configuration is, and is written as the name by which the file was asked for.
    """

    load: ClassVar[Callable[[str], Prompt]]
    """Reads the prompt of a name; raises ConfigError for one that cannot be used."""

    @field_validator("prompt", mode="before", check_fields=False)
    @classmethod
    def _read(cls, prompt: Any) -> Prompt:
        from harness.models.llm.prompt import Prompt

        if isinstance(prompt, Prompt):
            return prompt
        if not isinstance(prompt, str):
            raise ValueError("must be the name of a prompt or the path of a .yaml file")
        try:
            return cls.load(prompt)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @field_serializer("prompt", check_fields=False)
    def _named(self, prompt: Prompt) -> str:
        return prompt.asked_for


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """How a step reports and treats items without a usable answer.

    ``words`` are sentences with the codes ``SECTION.failed``, where ``on_failure`` has the value that lets
    the run go on, and ``SECTION.fatal``, where the run ends.
    """

    words: Mapping[str, str]
    section: str
    value: str

    def usable(
        self,
        config: LlmStepConfig,
        names: Iterable[str],
        answers: Sequence[LlmAnswer],
        read: Callable[[str], T | None],
        reporter: Reporter,
    ) -> list[T | None]:
        """What ``read`` makes of the words of each answer, None for an unusable one.

        Those are reported by their ``names``, as ``report`` does.
        """
        from harness.models.llm.form import text_of

        words = map(text_of, answers)
        values = [None if text is None else read(text) for text in words]
        failed = {
            name: answer.reason or "no words"
            for name, answer, value in zip(names, answers, values, strict=True)
            if value is None
        }
        self.report(config, failed, len(values), reporter)
        return values

    def report(
        self, config: LlmStepConfig, failed: Mapping[str, str], total: int, reporter: Reporter
    ) -> None:
        """Warn of those of ``total`` that ``failed``, with their reasons; LlmError unless the run goes on."""
        if not failed:
            return
        named = [f"{name} ({reason})" for name, reason in failed.items()]
        about = {"failed": len(named), "total": total, "model": config.endpoint.model}
        if getattr(config, "on_failure", "") == self.value:
            reporter.warn(worded(self.words, f"{self.section}.failed", **about, items=", ".join(named)))
            return
        more = ", …" if len(named) > _SHOWN else ""
        raise LlmError(
            worded(self.words, f"{self.section}.fatal", **about, items=f"{', '.join(named[:_SHOWN])}{more}")
        )
