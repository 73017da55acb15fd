"""Rewriters of the user's own: a function, or a service behind HTTP that returns the texts to search for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from harness.steps.custom.code import Broken, CodeConfig, call_function
from harness.steps.custom.service import ServiceConfig
from harness.steps.search.needs import Answers, OwnCode
from harness.steps.search.step import Identity, Rewriter, RewriterConfig
from harness.values import Kept, Query, Run, counted, encodable


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

    def run(self, queries: Sequence[Query]) -> Run[list[Query]]:
        """The cached texts, else call it and check the result."""
        facts = ["rewriting", self.identity(), [query.text for query in queries]]
        texts = yield Kept("answer", facts, self._asked(queries))
        return [replace(query, text=text) for query, text in zip(queries, texts, strict=True)]

    def _asked(self, queries: Sequence[Query]) -> Run[list[str]]:
        c = self.config
        yield OwnCode()
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

    def run(self, queries: Sequence[Query]) -> Run[list[Query]]:
        """Ask for the questions whose rewriting is not kept."""
        c, identity = self.config, self.identity()
        texts = {query.text: ["rewriting", identity, query.text] for query in queries}

        def read(answer: Any, texts: list[str]) -> list[str]:
            return _texts(answer, len(texts), c.broken)

        answers = yield Answers(c, [(facts, text) for text, facts in texts.items()], "rewrite", {}, read)
        rewritten = dict(zip(texts, answers, strict=True))
        return [replace(query, text=str(rewritten[query.text])) for query in queries]


def _texts(answer: Any, count: int, broken: Broken) -> list[str]:
    """The texts for ``count`` questions; raises HarnessError by ``broken`` for any other answer."""
    if not isinstance(answer, list | tuple) or len(answer) != count:
        described = (
            counted(len(answer), "text") if isinstance(answer, list | tuple) else type(answer).__name__
        )
        raise broken(f"returned {described}, not one text for each of {counted(count, 'question')}")
    for text in answer:
        if not isinstance(text, str):
            raise broken(f"returned {repr(text)[:60]}, which is not text")
    return list(map(encodable, answer))
