"""A user-defined retriever: a function, or a retriever of LangChain or LlamaIndex that it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.steps.custom.code import Broken, CodeConfig, call_function, calling
from harness.steps.search import step
from harness.steps.search.needs import AllAtOnce, Built
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.returned import asked_depth, ranker_of, rankings_of
from harness.values import Query, Quiet, Ranking, Run, by_key

PLACE = "place"


class PythonConfig(CodeConfig, step.RetrieverConfig):
    """Your own function ranks the chunks, or makes a retriever of LangChain or LlamaIndex that does."""

    kind: Literal["python"] = "python"
    returns: Annotated[Literal["rankings", "retriever"], Quiet()] = Field(
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
    one_by_one = True

    def identity(self, fingerprint: step.Fingerprint) -> step.Identity:
        """The settings of the user."""
        c = self.config
        facts: step.Identity = ["python", c.call, c.version, c.arguments, c.top_k, c.top_chars]
        return facts if c.returns == "rankings" else [*facts, c.returns]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[step.RetrievalResult]:
        """Call it and check the result; a retriever that it makes is asked query by query."""
        c = self.config
        if c.returns == "rankings":
            yield AllAtOnce(
                f"{c.call} is given all queries at once, so its index is built in the same call; "
                "return a retriever (returns: retriever) to have each query measured"
            )
            with calling(c.call):
                texts, k = [query.text for query in queries], asked_depth(c, passages)
                answers = call_function(c.call, texts, list(passages.texts), k, **c.arguments)
                return step.RetrievalResult(rankings_of(c.broken, answers, queries, passages, c))
        search, rank = yield Built(lambda: self._searcher(passages), ("retriever", passages.key))
        rankings = []
        for query in queries:
            with calling(c.call):
                rankings.append(rank(query, search(query.text)))
        return step.RetrievalResult(rankings)

    def _searcher(
        self, passages: Passages
    ) -> tuple[Callable[[str], list[Any]], Callable[[Query, Any], Ranking]]:
        """What finds the places of passages for a question, by a retriever made for them; and their check."""
        c = self.config
        texts = list(passages.texts)
        retriever = call_function(c.call, texts, asked_depth(c, passages), **c.arguments)
        return searcher_of(retriever, texts, c.broken), ranker_of(c.broken, passages, c)


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
    used: set[int] = set()
    places = []
    for hit in hits:
        node = getattr(hit, "node", hit)
        place = (getattr(node, "metadata", None) or {}).get(PLACE)
        if place is None:
            # of passages with the same text the first that is not ranked yet
            alike = by_text.get(_text_of(node), [])
            place = next((candidate for candidate in alike if candidate not in used), None)
        if place is None:
            raise broken(
                f"returned {_text_of(node)[:60]!r} for {query!r}, which is not the text of a passage (or is "
                f"of one already ranked). Keep the texts unchanged, or put their position into "
                f"metadata[{PLACE!r}]"
            )
        used.add(place)
        places.append(place)
    scores = [getattr(hit, "score", None) for hit in hits]
    return places if None in scores else list(zip(places, scores, strict=True))


def _text_of(node: Any) -> str:
    content = getattr(node, "page_content", None)
    if content is None and callable(getattr(node, "get_content", None)):
        content = node.get_content()
    return content if isinstance(content, str) else str(getattr(node, "text", ""))
