"""Rewriters of the user's own: a function, or a service behind HTTP that returns the texts to search for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from harness.steps.custom.code import Broken, CodeConfig, call_function
from harness.steps.custom.sending import kept_or_asked
from harness.steps.custom.service import ServiceConfig
from harness.steps.search.step import Identity, Rewriter, RewriterConfig
from harness.steps.search.tools import Tools
from harness.values import Query, counted, encodable


class PythonRewriterConfig(CodeConfig, RewriterConfig):
    """Your own function rewrites the questions."""

    kind: Literal["python"] = "python"


class PythonRewriter(Rewriter[PythonRewriterConfig]):
    """Calls ``function(questions, **arguments)``, which returns as many texts in the same order."""

    own_code = True

    def identity(self) -> Identity:
        """The settings of the user."""
        c = self.config
        return ["python", c.call, c.version, c.arguments]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """The cached texts, else call it and check the result."""
        key = tools.key("rewriting", self.identity(), [query.text for query in queries])
        known = tools.kept("answer", key)
        if known is None:
            known = self._asked(queries)
            tools.keep("answer", key, known)
        return [replace(query, text=text) for query, text in zip(queries, known, strict=True)]

    def again(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """Call it, whatever is kept."""
        texts = self._asked(queries)
        return [(replace(query, text=text),) for query, text in zip(queries, texts, strict=True)]

    def _asked(self, queries: Sequence[Query]) -> list[str]:
        c = self.config
        answer = call_function(c.call, [query.text for query in queries], **c.arguments)
        return _texts(answer, len(queries), c.broken)


class HttpRewriterConfig(ServiceConfig, RewriterConfig):
    """A service of your own rewrites the questions."""

    kind: Literal["http"] = "http"


class HttpRewriter(Rewriter[HttpRewriterConfig]):
    """``response`` finds the text for a question, or a list of texts for several, in their order."""

    def identity(self) -> Identity:
        """The settings of the user, and the request to the service."""
        return ["http", *self.config.service_facts()]

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """Ask for the questions whose rewriting is not kept."""
        c = self.config
        keys = {query.text: tools.key("rewriting", self.identity(), query.text) for query in queries}

        def read(answer: Any, asked: list[str]) -> list[str]:
            return _texts(answer, len(asked), c.broken)

        rewritten = kept_or_asked(c, {key: text for text, key in keys.items()}, tools, "rewrite", {}, read)
        return [replace(query, text=str(rewritten[keys[query.text]])) for query in queries]


def _texts(answer: Any, count: int, broken: Broken) -> list[str]:
    """The texts for ``count`` questions; raises HarnessError by ``broken`` for any other answer."""
    if not isinstance(answer, list | tuple) or len(answer) != count:
        given = counted(len(answer), "text") if isinstance(answer, list | tuple) else type(answer).__name__
        raise broken(f"returned {given}, not one text for each of {counted(count, 'question')}")
    for text in answer:
        if not isinstance(text, str):
            raise broken(f"returned {repr(text)[:60]}, which is not text")
    return list(map(encodable, answer))
