"""Shared by steps that call a language model for many items: keys, and handling of failed calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator

from harness.models.llm.config import ModelConfig
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.form import About, Form
from harness.models.llm.prompt import Prompt
from harness.values import ConfigError, LlmError, Reporter

_SHOWN = 5

Purpose = Literal["rewriting", "filter", "context", "endpoint", "answer", "measuring"]
"""The use of the answers; a request to an ``endpoint`` is one for vectors or scores."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a step to ``model``: one prompt about each of ``about``, worded by ``form``.

    ``name`` is that of the prompt, ``sample`` the number of the repetition.
    """

    model: ModelConfig
    form: Form
    about: Sequence[About]
    name: str
    purpose: Purpose
    sample: int = 0


class LlmStepConfig(ModelConfig, ABC):
    """Base of the configurations of steps that call a language model by the file of their ``prompt``.

    The field ``prompt`` is declared by each kind. It holds the content of the file, read when the
    configuration is, and is written as the name by which the file was asked for.
    """

    endpoint: Endpoint = Field(
        description="Where the model is served; its keys are those of `relevance.endpoint`."
    )

    @classmethod
    @abstractmethod
    def load(cls, name: str) -> Prompt:
        """Read the prompt of this name; raises ConfigError for one that cannot be used."""

    @field_validator("prompt", mode="before", check_fields=False)
    @classmethod
    def _read(cls, prompt: Any) -> Prompt:
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

    ``lacking`` are the words for what they lack, ``key`` the section and the value of ``on_failure`` that
    lets the run go on, ``done`` and ``to_do`` what then becomes of them.
    """

    lacking: str
    key: tuple[str, str]
    done: str
    to_do: str

    def report(
        self, config: LlmStepConfig, goes_on: bool, failed: Sequence[str], total: int, reporter: Reporter
    ) -> None:
        """Warn that ``failed`` of ``total`` have no usable answer; raises LlmError unless the run goes on."""
        message = f"{len(failed)} of {total} {self.lacking} by {config.endpoint.model}"
        if goes_on:
            reporter.warn(f"{message} and {self.done}: {', '.join(failed)}.")
            return
        section, value = self.key
        more = ", …" if len(failed) > _SHOWN else ""
        raise LlmError(
            f"{message}: {', '.join(failed[:_SHOWN])}{more}. Set `{section}.on_failure: {value}` to "
            f"{self.to_do}, `{section}.ask_again: true` to ask the model again, or name another prompt or "
            "model. Every other answer is in the ledger."
        )
