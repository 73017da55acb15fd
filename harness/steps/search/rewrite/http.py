"""A rewriter behind HTTP: a user-defined service returns the texts to search for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import model_validator

from harness.steps.custom.sending import kept_or_asked
from harness.steps.custom.service import ServiceConfig, one_of
from harness.steps.search.step import Identity, Rewriter, RewriterConfig
from harness.steps.search.tools import Tools
from harness.values import Query, counted, encodable


class HttpRewriterConfig(ServiceConfig, RewriterConfig):
    """A service of your own rewrites the questions."""

    kind: Literal["http"] = "http"

    @model_validator(mode="after")
    def _check_request(self) -> HttpRewriterConfig:
        one_of(self.request, "query", "queries", ())
        return self


class HttpRewriter(Rewriter[HttpRewriterConfig]):
    """``response`` finds the text for a question, or a list of texts for several, in their order."""

    def identity(self) -> Identity:
        """The settings of the user, and the request to the service."""
        return ["http", *self.config.service_facts()]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """Ask for the questions whose rewriting is not kept."""
        keys = {query.text: tools.key("rewriting", self.identity(), query.text) for query in queries}
        texts = {key: text for text, key in keys.items()}
        rewritten = kept_or_asked(self.config, texts, tools, "rewrite", lambda asked: {}, self._texts)
        return [replace(query, text=str(rewritten[keys[query.text]])) for query in queries]

    def _texts(self, answer: Any, asked: Sequence[str]) -> list[str]:
        if not isinstance(answer, list) or len(answer) != len(asked):
            returned = counted(len(answer), "text") if isinstance(answer, list) else type(answer).__name__
            raise self.config.broken(f"returned {returned} for {counted(len(asked), 'question')}")
        for text in answer:
            if not isinstance(text, str):
                raise self.config.broken(f"returned {repr(text)[:60]}, which is not text")
        return list(map(encodable, answer))
