"""A rewriter behind HTTP: a user-defined service returns the texts to search for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import model_validator

from harness.models import fill
from harness.steps.custom.code import broken_contract
from harness.steps.custom.sending import Message, send
from harness.steps.custom.service import ServiceConfig, one_of
from harness.steps.search.query_steps import Rewriter, RewriterConfig
from harness.steps.search.step import Identity
from harness.steps.search.tools import PendingServiceError, Tools
from harness.values import Query, counted


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
        c = self.config
        texts = list(dict.fromkeys(query.text for query in queries))
        keys = {text: tools.key("rewriting", self.identity(), text) for text in texts}
        rewritten = {text: tools.kept("answer", keys[text]) for text in texts}
        missing = [text for text in texts if rewritten[text] is None]
        if missing and not tools.may_ask:
            raise PendingServiceError(c.url)
        size = c.batch_size if c.asks_several else 1
        groups = [missing[start : start + size] for start in range(0, len(missing), size)]

        def keep(place: int, answer: Any) -> None:
            for text, one in zip(groups[place], self._texts(answer, len(groups[place])), strict=True):
                tools.keep("answer", keys[text], one)
                rewritten[text] = one

        bodies = [fill(c.request, {"query": group[0], "queries": group}) for group in groups]
        with tools.timed("rewrite"):
            send(c, [Message(body, c.url, c.method, c.response) for body in bodies], keep)
        return [replace(query, text=str(rewritten[query.text])) for query in queries]

    def _texts(self, answer: Any, count: int) -> list[str]:
        who = f"http: {self.config.url}"
        texts = answer if self.config.asks_several else [answer]
        if not isinstance(texts, list) or len(texts) != count:
            returned = counted(len(texts), "text") if isinstance(texts, list) else type(texts).__name__
            raise broken_contract(who, f"returned {returned} for {counted(count, 'question')}")
        for text in texts:
            if not isinstance(text, str):
                raise broken_contract(who, f"returned {str(text)[:60]!r}, which is not text")
        return texts
