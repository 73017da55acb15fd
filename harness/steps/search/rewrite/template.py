"""Put the question into a fixed sentence, such as the instruction a model was trained with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, field_validator

from harness.steps.search.step import Rewriter, RewriterConfig
from harness.values import Query

_PLACE = "{query}"


class TemplateConfig(RewriterConfig):
    """A fixed sentence around every question."""

    kind: Literal["template"] = "template"
    template: str = Field(description="The text that is asked; `{query}` stands for the question.")

    @field_validator("template")
    @classmethod
    def _holds_the_question(cls, text: str) -> str:
        if _PLACE not in text:
            raise ValueError("the template must hold {query}, where the question goes")
        return text


class TemplateRewriter(Rewriter[TemplateConfig]):
    """Replaces ``{query}``; braces elsewhere stay as they are."""

    repeatable = True

    def run(self, queries: Sequence[Query]) -> list[Query]:
        """Every question within the template."""
        return [replace(query, text=self.config.template.replace(_PLACE, query.text)) for query in queries]
