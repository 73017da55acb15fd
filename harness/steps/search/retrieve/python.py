"""A user-defined retriever: a function, or a retriever of LangChain or LlamaIndex that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from harness.steps.custom.code import Broken, CodeConfig, call_function, calling
from harness.steps.search import step
from harness.steps.search.retrieve.returned import asked_depth, ranker_of, rankings_of
from harness.steps.search.tools import Tools
from harness.values import Query, Ranking, by_key

PLACE = "place"


class PythonConfig(CodeConfig, step.RetrieverConfig):
    """Your own function ranks the chunks, or makes a retriever of LangChain or LlamaIndex that does."""

    kind: Literal["python"] = "python"
    returns: Literal["rankings", "retriever"] = Field(
        "rankings",
        description="`rankings`: the function is given (queries, passages, k) and returns places; "
        "`retriever`: it is given (passages, k) and returns a retriever of LangChain (`invoke`) or "
        "LlamaIndex (`retrieve`), which is then called query by query.",
    )


class PythonRetriever(step.Retriever[PythonConfig]):
    """Calls ``function(queries, passages, k, **arguments)`` once, with texts.

    It returns for every query the places of passages in rank order, best first: whole numbers from 0, or
    pairs of place and score. At most ``k`` of each list count; ``k`` is all of them where ``top_chars`` cuts.
    With ``returns: retriever`` it is ``function(passages, k, **arguments)``; ``adapted`` has the rest.
    """

    own_code = True

    def identity(self, tools: Tools) -> step.Identity:
        """The settings of the user."""
        c = self.config
        facts: step.Identity = ["python", c.call, c.version, c.arguments, c.top_k, c.top_chars]
        return facts if c.returns == "rankings" else [*facts, c.returns]

    def run(self, passages: step.Passages, queries: Sequence[Query], tools: Tools) -> step.RetrievalResult:
        """Call it and check the result."""
        c = self.config
        with calling(c.call):
            with tools.timed("retrieve"):
                asked, k = [query.text for query in queries], asked_depth(c, passages)
                if c.returns == "rankings":
                    answers = call_function(c.call, asked, list(passages.texts), k, **c.arguments)
                else:
                    answers = list(map(self._searcher(passages), asked))
            return step.RetrievalResult(rankings_of(c.broken, answers, queries, passages, c))

    @contextmanager
    def warm(self, passages: step.Passages, tools: Tools) -> Iterator[step.SearchOne]:
        """Makes a new retriever, and asks it query by query.

        Raises NotMeasuredError for a function that is given all queries at once: it makes its index in the
        same call, which is not part of a search.
        """
        if self.config.returns == "rankings":
            raise step.NotMeasuredError(
                f"{self.config.call} is given all queries at once, so its index is built in the same call; "
                "return a retriever (returns: retriever) to have each query measured"
            )
        search = self._searcher(passages)
        rank = ranker_of(self.config.broken, passages, self.config)

        def search_one(query: Query) -> Ranking:
            with calling(self.config.call):
                return rank(query, search(query.text))

        yield search_one

    def _searcher(self, passages: step.Passages) -> Callable[[str], list[Any]]:
        """The places of passages for a question, by the retriever that the function makes."""
        c = self.config
        texts = list(passages.texts)
        retriever = call_function(c.call, texts, asked_depth(c, passages), **c.arguments)
        return searcher_of(retriever, texts, c.broken)


def searcher_of(retriever: Any, passages: Sequence[str], broken: Broken) -> Callable[[str], list[Any]]:
    """Searches for one query: the places of passages as ``retriever`` ranks them, with scores if it has any.

    LangChain's has ``invoke``, which returns documents with ``page_content`` and ``metadata``; LlamaIndex's
    has ``retrieve``, which returns nodes with a score. A hit is placed by ``place`` in its metadata, else by
    its text, which must then be that of a passage. Raises HarnessError for any other object or hit.
    """
    methods = (getattr(retriever, name, None) for name in ("invoke", "retrieve"))
    search: Callable[[str], Any] | None = next(filter(callable, methods), None)
    if search is None:
        raise broken(
            f"returned {type(retriever).__name__}, which has neither `invoke` (LangChain) nor `retrieve` "
            "(LlamaIndex)"
        )
    by_text = by_key((text, place) for place, text in enumerate(passages))
    return lambda query: _places(list(search(query)), by_text, query, broken)


def _places(hits: Sequence[Any], by_text: dict[str, list[int]], query: str, broken: Broken) -> list[Any]:
    taken: set[int] = set()
    places = []
    for hit in hits:
        node = getattr(hit, "node", hit)
        place = (getattr(node, "metadata", None) or {}).get(PLACE)
        if place is None:
            # of passages with the same text the first that is not ranked yet
            alike = by_text.get(_text_of(node), [])
            place = next((one for one in alike if one not in taken), None)
        if place is None:
            raise broken(
                f"returned {_text_of(node)[:60]!r} for {query!r}, which is not the text of a passage (or is "
                f"of one already ranked). Keep the texts unchanged, or put their position into "
                f"metadata[{PLACE!r}]"
            )
        taken.add(place)
        places.append(place)
    scores = [getattr(hit, "score", None) for hit in hits]
    return places if None in scores else list(zip(places, scores, strict=True))


def _text_of(node: Any) -> str:
    content = getattr(node, "page_content", None)
    if content is None and callable(getattr(node, "get_content", None)):
        content = node.get_content()
    return content if isinstance(content, str) else str(getattr(node, "text", ""))
