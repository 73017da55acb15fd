"""A language model rewrites the questions: to statements, to hypothetical passages, or as you word it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, field_validator

from harness.errors import LlmError
from harness.llm import Endpoint, ModelConfig, text_of
from harness.search.rewrite.prompt import load_prompt
from harness.search.step import Identity, Rewriter, RewriterConfig
from harness.search.tools import Tools
from harness.types import Query

_SHOWN = 5


class LlmRewriterConfig(ModelConfig, RewriterConfig):
    """A language model rewrites every question; its answers are paid once and kept in the ledger."""

    kind: Literal["llm"] = "llm"
    endpoint: Endpoint = Field(
        description="Where the model is served; its keys are those of `relevance.endpoint`."
    )
    prompt: str = Field(
        "declarative",
        description="`declarative`, `declarative_zh` (a statement), `hyde`, `hyde_zh` (a hypothetical "
        "passage), or the path of your own file: it ends in `.yaml`, and its `user` part has `{{ query }}`.",
    )
    with_question: bool = Field(
        False, description="Ask the question too, on the line before what was made of it."
    )
    on_failure: Literal["fail", "as_asked"] = Field(
        "fail",
        description="A question without a usable rewriting ends the run, or is asked as it is (`as_asked`), "
        "and the run tells which.",
    )

    @field_validator("prompt")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        load_prompt(name)
        return name


class LlmRewriter(Rewriter[LlmRewriterConfig]):
    """Gao et al., Precise zero-shot dense retrieval without relevance labels, ACL 2023, for `hyde`.

    With the question before the passage: Wang et al., Query2doc, EMNLP 2023.
    """

    def identity(self) -> Identity:
        """The prompt, the model and its parameters, and what becomes of an answer."""
        c = self.config
        asked = [c.endpoint.model, c.endpoint.parameters()]
        return ["llm", load_prompt(c.prompt).form.sha256, asked, c.with_question, c.on_failure]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """The model's words for every question; raises LlmError where one has none and that is a failure."""
        prompt = load_prompt(self.config.prompt)
        name = f"{prompt.id} v{prompt.version}"
        answers = tools.answers(self.config, prompt.form, [query.text for query in queries], name)
        texts = [text_of(answer) for answer in answers]
        failed = [
            f"{query.query_id} ({answer.reason or 'no words'})"
            for query, answer, text in zip(queries, answers, texts, strict=True)
            if text is None
        ]
        if failed:
            self._tell(failed, len(queries), tools)
        return [
            query if text is None else replace(query, text=self._asked(query.text, text))
            for query, text in zip(queries, texts, strict=True)
        ]

    def _asked(self, question: str, text: str) -> str:
        return f"{question}\n{text}" if self.config.with_question else text

    def _tell(self, failed: Sequence[str], total: int, tools: Tools) -> None:
        c = self.config
        said = f"{len(failed)} of {total} queries have no usable rewriting by {c.endpoint.model}"
        if c.on_failure == "as_asked":
            tools.reporter.warn(f"{said} and are asked as they are: {', '.join(failed)}.")
            return
        more = ", …" if len(failed) > _SHOWN else ""
        raise LlmError(
            f"{said}: {', '.join(failed[:_SHOWN])}{more}. Set `rewrite.on_failure: as_asked` to ask them as "
            "they are, `rewrite.ask_again: true` to ask the model anew, or name another prompt or model. "
            "Every other answer is in the ledger."
        )
