"""A user-defined rewriter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from harness.steps.custom.code import CodeConfig, call_function
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
        asked = call_function(c.call, [query.text for query in queries], **c.arguments)
        if not isinstance(asked, list | tuple) or len(asked) != len(queries):
            given = counted(len(asked), "text") if isinstance(asked, list | tuple) else type(asked).__name__
            raise c.broken(f"returned {given}, not one text for each of {len(queries)} questions")
        for text in asked:
            if not isinstance(text, str):
                raise c.broken(f"returned {text!r}, which is not text")
        return list(map(encodable, asked))
