"""A language model rewrites the question, or writes a passage that might answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from harness.steps.search.rewrite.prompted import PromptedConfig, RewritePrompt, ask_about
from harness.steps.search.step import Identity, Rewriter
from harness.values import Query, Run


class LlmRewriterConfig(PromptedConfig):
    """A language model rewrites every question; its answers are paid once and kept in the ledger."""

    kind: Literal["llm"] = "llm"
    prompt: RewritePrompt = Field(
        "declarative",
        validate_default=True,
        description="`declarative`, `declarative_zh` (a statement), `hyde`, `hyde_zh` (a hypothetical "
        "passage), or the path of your own file: it ends in `.yaml`, and its `user` part has `{{ query }}`.",
    )
    with_question: bool = Field(
        False, description="Search with the question too, on the line before its rewritten form."
    )


class LlmRewriter(Rewriter[LlmRewriterConfig]):
    """Gao et al., Precise zero-shot dense retrieval without relevance labels, ACL 2023, for `hyde`.

    With the question before the passage: Wang et al., Query2doc, EMNLP 2023.
    """

    repeatable = True

    def identity(self) -> Identity:
        """The prompt, the model and its parameters, and the handling of an answer."""
        c = self.config
        endpoint = [c.endpoint.model, c.endpoint.parameters()]
        return ["llm", c.prompt.form.sha256, endpoint, c.with_question, c.on_failure]

    def run(self, queries: Sequence[Query]) -> Run[list[Query]]:
        """The model's words for every question; raises LlmError if one has none and that is a failure."""
        texts = yield from ask_about(self.config, self.config.prompt.form, queries, read=str)
        return [
            query if text is None else replace(query, text=self._asked(query.text, text))
            for query, text in zip(queries, texts, strict=True)
        ]

    def _asked(self, question: str, text: str) -> str:
        return f"{question}\n{text}" if self.config.with_question else text
