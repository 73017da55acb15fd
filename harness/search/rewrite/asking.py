"""What rewriters by a language model share: their keys, the call, and what becomes of a failed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, TypeVar

from pydantic import Field, field_validator

from harness.llm import TextForm, text_of
from harness.llm.asking import AskingConfig, Failing
from harness.search.rewrite.prompt import RewritePrompt, load_prompt
from harness.search.step import Identity, RewriterConfig
from harness.search.tools import Tools
from harness.types import Query

_FAILING = Failing(
    "queries have no usable rewriting",
    ("rewrite", "as_asked"),
    "are asked as they are",
    "ask them as they are",
)

T = TypeVar("T")


class RewritingConfig(AskingConfig, RewriterConfig):
    """Base of the configurations of rewriters that ask a language model about every query."""

    takes_number: ClassVar[bool] = False
    prompt: str
    on_failure: Literal["fail", "as_asked"] = Field(
        "fail",
        description="A question without a usable rewriting ends the run, or is asked as it is (`as_asked`), "
        "and the run tells which.",
    )

    @staticmethod
    def load(name: str) -> RewritePrompt:
        """The prompt of this name."""
        return load_prompt(name)

    @field_validator("prompt")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        if cls.load(name).takes_number and not cls.takes_number:
            raise ValueError(
                f"the prompt {name} asks for {{{{ n }}}} things, one a line, as the kinds multi_query and "
                "decomposition read them"
            )
        return name


def identity_of(config: RewritingConfig, form: TextForm) -> Identity:
    """The prompt, the model and its parameters, and what becomes of an answer that cannot be used."""
    return [form.sha256, [config.endpoint.model, config.endpoint.parameters()], config.on_failure]


def ask_about(
    config: RewritingConfig,
    prompt: RewritePrompt,
    form: TextForm,
    queries: Sequence[Query],
    tools: Tools,
    read: Callable[[str], T | None],
) -> list[T | None]:
    """What ``read`` makes of the model's words about each query; None where nothing can be made of them.

    Raises LlmError that names such queries, unless they are to be asked as they are.
    """
    answers = tools.answers(config, form, [query.text for query in queries], prompt.name)
    words = [text_of(answer) for answer in answers]
    found = [None if text is None else read(text) for text in words]
    failed = [
        f"{query.query_id} ({answer.reason or 'no words'})"
        for query, answer, one in zip(queries, answers, found, strict=True)
        if one is None
    ]
    if failed:
        _FAILING.report(config, config.on_failure == "as_asked", failed, len(queries), tools.reporter)
    return found
