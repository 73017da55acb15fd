"""What rewriters by a language model share: their keys, the call, and what becomes of a failed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, TypeVar

from pydantic import Field, field_validator

from harness.errors import LlmError
from harness.llm import Endpoint, ModelConfig, TextForm, text_of
from harness.search.rewrite.prompt import RewritePrompt, load_prompt
from harness.search.step import Identity, RewriterConfig
from harness.search.tools import Tools
from harness.types import Query

_SHOWN = 5

T = TypeVar("T")


class AskingConfig(ModelConfig, RewriterConfig):
    """Base of the configurations of rewriters that ask a language model about every query."""

    endpoint: Endpoint = Field(
        description="Where the model is served; its keys are those of `relevance.endpoint`."
    )
    takes_number: ClassVar[bool] = False
    prompt: str
    on_failure: Literal["fail", "as_asked"] = Field(
        "fail",
        description="A question without a usable rewriting ends the run, or is asked as it is (`as_asked`), "
        "and the run tells which.",
    )

    @field_validator("prompt")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        if load_prompt(name).takes_number and not cls.takes_number:
            raise ValueError(
                f"the prompt {name} asks for {{{{ n }}}} things, one a line, as the kinds multi_query and "
                "decomposition read them"
            )
        return name


def identity_of(config: AskingConfig, form: TextForm) -> Identity:
    """The prompt, the model and its parameters, and what becomes of an answer that cannot be used."""
    return [form.sha256, [config.endpoint.model, config.endpoint.parameters()], config.on_failure]


def ask_about(
    config: AskingConfig,
    prompt: RewritePrompt,
    form: TextForm,
    queries: Sequence[Query],
    tools: Tools,
    read: Callable[[str], T | None],
) -> list[T | None]:
    """What ``read`` makes of the model's words about each query; None where nothing can be made of them.

    Raises LlmError that names such queries, unless they are to be asked as they are.
    """
    name = f"{prompt.id} v{prompt.version}"
    answers = tools.answers(config, form, [query.text for query in queries], name)
    words = [text_of(answer) for answer in answers]
    found = [None if text is None else read(text) for text in words]
    failed = [
        f"{query.query_id} ({answer.reason or 'no words'})"
        for query, answer, one in zip(queries, answers, found, strict=True)
        if one is None
    ]
    if failed:
        _tell(config, failed, len(queries), tools)
    return found


def _tell(config: AskingConfig, failed: Sequence[str], total: int, tools: Tools) -> None:
    said = f"{len(failed)} of {total} queries have no usable rewriting by {config.endpoint.model}"
    if config.on_failure == "as_asked":
        tools.reporter.warn(f"{said} and are asked as they are: {', '.join(failed)}.")
        return
    more = ", …" if len(failed) > _SHOWN else ""
    raise LlmError(
        f"{said}: {', '.join(failed[:_SHOWN])}{more}. Set `rewrite.on_failure: as_asked` to ask them as "
        "they are, `rewrite.ask_again: true` to ask the model again, or name another prompt or model. "
        "Every other answer is in the ledger."
    )
