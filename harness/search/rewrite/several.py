"""Rewriters that ask any number of things for one query: nothing, one text, or several that are fused."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from harness.search.step import Rewriter, RewriterConfig
from harness.search.tools import Tools
from harness.types import Query

Asking = TypeVar("Asking", bound=RewriterConfig)


class SeveralRewriter(Rewriter[Asking], Generic[Asking]):
    """Query → any number of queries with its id, each of which is searched by itself.

    One that makes more than one of a query says in ``fuse`` how their rankings become one.
    """

    repeatable = True

    @abstractmethod
    def phrasings(self, queries: Sequence[Query], tools: Tools) -> list[tuple[Query, ...]]:
        """What is asked for each query; nothing at all leaves it without a ranking."""

    def run(self, queries: Sequence[Query], tools: Tools) -> list[Query]:
        """All that is asked, one after the other."""
        return [query for group in self.phrasings(queries, tools) for query in group]
