"""Retrievers of LangChain and LlamaIndex, known by their interface: neither library is needed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.own.code import broken

PLACE = "place"


def searcher_of(retriever: Any, passages: Sequence[str], who: str) -> Callable[[str], list[Any]]:
    """Searches for one query: the places of passages as ``retriever`` ranks them, with scores if it has any.

    LangChain's has ``invoke``, which returns documents with ``page_content`` and ``metadata``; LlamaIndex's
    has ``retrieve``, which returns nodes with a score. A hit is placed by ``place`` in its metadata, else by
    its text, which must then be that of a passage. Raises HarnessError for any other object or hit.
    """
    search = _search_of(retriever)
    if search is None:
        raise broken(
            who,
            f"returned {type(retriever).__name__}, which has neither `invoke` (LangChain) nor `retrieve` "
            "(LlamaIndex)",
        )
    by_text: dict[str, list[int]] = {}
    for place, text in enumerate(passages):
        by_text.setdefault(text, []).append(place)
    return lambda query: _places(list(search(query)), by_text, query, who)


def _search_of(retriever: Any) -> Callable[[str], Any] | None:
    for name in ("invoke", "retrieve"):
        found = getattr(retriever, name, None)
        if callable(found):
            call: Callable[[str], Any] = found
            return call
    return None


def _places(hits: Sequence[Any], by_text: dict[str, list[int]], query: str, who: str) -> list[Any]:
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
                who,
                f"returned {_text_of(node)[:60]!r} for {query!r}, which is not the text of a passage (or is "
                f"of one already ranked). Keep the texts unchanged, or put their position into "
                f"metadata[{PLACE!r}]",
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
