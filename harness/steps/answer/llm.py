"""A language model answers from the passages that were found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from harness.models import LlmStepConfig, Prompt, Request, prompts_of, text_of
from harness.steps.answer import AnswerConfig, Answerer, AnswerInput, AnswerReply
from harness.steps.answer.citations import read_citations, without_citations
from harness.steps.search.needs import answers_of
from harness.values import LlmAnswer, Run

FOLDER = Path(__file__).parent / "prompts"


class AnswerPrompt(Prompt):
    """A prompt file of an answerer, which shows ``{{ query }}`` and ``{{ passages }}``."""

    cites: bool = Field(
        False, description="Whether it asks for citations such as [1]; only then are they read."
    )


class LlmAnswerConfig(LlmStepConfig, AnswerConfig):
    """A language model answers from the passages; its answers are paid once and kept in the ledger."""

    load = prompts_of(FOLDER, AnswerPrompt, "an answer", ("query", "passages"), ("count",))
    kind: Literal["llm"] = "llm"
    model: str | None = Field(
        None, min_length=1, description="The model in place of `endpoint.model`; a list is a sweep."
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="In place of `endpoint.temperature`; a list is a sweep."
    )
    prompt: AnswerPrompt = Field(
        "cited",
        validate_default=True,
        description="`cited`, `cited_zh` (with citations such as [1]), `plain`, `plain_zh` (without), "
        "`abilities`, `abilities_zh` (with the phrases by which RGB tells that a model refuses or sees "
        "an error), `abilities_unwarned`, `abilities_unwarned_zh` (the same without the warning that "
        "passages may be wrong), or the path of your own file: it ends in `.yaml`, has `{{ query }}` and "
        "`{{ passages }}`, and says "
        "`cites: true` where it asks for citations.",
    )

    @model_validator(mode="before")
    @classmethod
    def _one_model(cls, fields: Any) -> Any:
        """The endpoint need not name a model where ``model`` does."""
        endpoint = fields.get("endpoint") if isinstance(fields, dict) else None
        if isinstance(endpoint, dict) and "model" not in endpoint and fields.get("model") is not None:
            return {**fields, "endpoint": {**endpoint, "model": fields["model"]}}
        return fields

    @property
    def asked(self) -> LlmAnswerConfig:
        """The same with ``model`` and ``temperature`` where the endpoint has them."""
        facts = {"model": self.model, "temperature": self.temperature}
        update = {key: value for key, value in facts.items() if value is not None}
        endpoint = self.endpoint.model_copy(update=update)
        return self.model_copy(update={"endpoint": endpoint, "model": None, "temperature": None})

    @property
    def longest_answer(self) -> int:
        """That of all tokens it may have."""
        return self.endpoint.longest_answer

    @property
    def asked_model(self) -> str:
        """The name of the model that answers."""
        return self.model or self.endpoint.model


class LlmAnswerer(Answerer[LlmAnswerConfig]):
    """Asks once a question and set of passages; an unusable answer counts as none, with the reason."""

    asks = True

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return f"{self.config.prompt.name} by {self.config.asked_model}"

    def run(self, inputs: Sequence[AnswerInput]) -> Run[list[AnswerReply]]:
        """The model's words about every question."""
        prompt = self.config.prompt
        about = [(question.question, question.passages) for question in inputs]
        request = Request(self.config.asked, prompt.form, about, prompt.name, "answer")
        answers = yield from answers_of(request)
        return [_reply(answer, question, prompt) for answer, question in zip(answers, inputs, strict=True)]


def _reply(answer: LlmAnswer, answer_input: AnswerInput, prompt: AnswerPrompt) -> AnswerReply:
    text = text_of(answer)
    reason = "" if text is not None else answer.reason or "no_words"
    if text is not None and prompt.cites and not without_citations(text):
        text, reason = None, "only_citations"
    cited, bad = read_citations(text or "", len(answer_input.passages)) if prompt.cites else ((), 0)
    return AnswerReply(
        text=text,
        reason=reason,
        cited=cited,
        bad_citations=bad,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        price=answer.price,
        seconds=answer.seconds,
    )
