"""A language model finds what a question names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.rewrite.entities import NamingConfig, NamingRewriter
from harness.steps.search.rewrite.prompted import (
    PromptedConfig,
    RewritePrompt,
    ask_about,
    identity_of,
    lines_of,
)
from harness.steps.search.step import Identity
from harness.steps.search.tools import Tools
from harness.values import Query

_NONE = frozenset({"none", "none.", "n/a", "无", "无。", "没有"})


class LlmEntitiesConfig(PromptedConfig, NamingConfig):
    """Asks for what a question names, as a language model finds it; meant for one of several routes."""

    kind: Literal["llm_entities"] = "llm_entities"
    prompt: RewritePrompt = Field(
        "entities",
        validate_default=True,
        description="`entities`, `entities_zh`, or the path of your own file; the model answers with one "
        "name per line, or `none`.",
    )


class LlmEntitiesRewriter(NamingRewriter[LlmEntitiesConfig]):
    """The names, one after the other, are the query; an answer of `none` is not a failure."""

    def identity(self) -> Identity:
        """The prompt, the model, and the handling of a question without names."""
        c = self.config
        return [c.kind, identity_of(c, c.prompt.form), c.without]

    def names(self, queries: Sequence[Query], tools: Tools) -> list[list[str] | None]:
        """The names that the model finds; raises LlmError as `llm` does."""
        return ask_about(self.config, self.config.prompt.form, queries, tools, names_of)


def names_of(text: str) -> list[str] | None:
    """The names in an answer, one a line, [] for an answer of none; None for no words."""
    lines = lines_of(text)
    return [line for line in lines if line.lower() not in _NONE] if lines else None
