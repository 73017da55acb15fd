"""Retrievers of other libraries, recognised by their shape: a query in, the texts that it returns out.

Nothing of these libraries is imported here. What a retriever returns keeps its order. Scores are kept beside
it where more is better; distances are not.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from harness import steps
from harness.data.corpus.hits import PLACES
from harness.steps import DOCUMENT_KEYS, TEXT_KEYS, at, first_of
from harness.values import ConfigError, HarnessError

Embed = Callable[[str], Any]
"""A query → its vector, by the model that the stored vectors are of."""

_LONE = re.compile("[\ud800-\udfff]")
# the methods by which a store is recognised
_CHROMA = ("query", "count", "peek")
_QDRANT = ("query_points", "scroll")
_LANCEDB = ("search", "to_arrow")
_PGVECTOR = ("cursor", "commit", "rollback")
# of which one object holds many collections
_OF_MANY = (_QDRANT, _PGVECTOR)
_PLACED = ("page", "start", "end")


@dataclass(frozen=True)
class Collection:
    """An existing vector store, as a retriever: read, never written.

    ``store`` is a collection of Chroma, a table of LanceDB, a client of Qdrant with the ``name`` of a
    collection, or an open psycopg connection with the ``name`` of a table that has a pgvector column
    (``vector``); async ones are refused with ConfigError. ``embed`` turns a query into its vector; Chroma
    and LanceDB do without where the collection has an embedding function of its own. ``text`` and
    ``document`` are the keys of a passage's text and of its document, with dots for what is nested
    (``metadata.source``); where they are left out, the usual ones are tried. ``distance`` is that of the
    pgvector column: ``cosine``, ``l2`` or ``inner_product``.

    ```python
    mine = harness.Collection(QdrantClient(url=…), "contracts", embed=model.encode, text="payload_text")
    harness.evaluate(mine, queries="queries.csv", labels="labels.csv", documents="docs/*.pdf")
    ```
    """

    store: Any
    name: str | None = None
    embed: Embed | None = field(default=None, repr=False)
    text: str | None = None
    document: str | None = None
    vector: str = "embedding"
    distance: str = "cosine"

    def __post_init__(self) -> None:
        """Raise ConfigError for an async client or table, whose answers nothing would wait for."""
        if _is_async(self.store):
            raise ConfigError(
                f"Collection: {_type(self.store)} is async, and a store is asked in the ordinary way. Give "
                f"its ordinary counterpart{_counterpart(self.store)}, or in place of the Collection a "
                "function of your own that awaits it: async def search(query), which returns texts."
            )

    def search(self, query: str, depth: int) -> list[dict[str, Any]]:
        """The passages for a query, best first; raises ConfigError for a store of an unknown shape."""
        for methods, search in _STORES:
            if _has(*methods)(self.store):
                return [self._hit(payload) for payload in search(self, query, depth)]
        raise ConfigError(
            f"Collection: {_type(self.store)} is no store known here. It can be a collection of Chroma, a "
            "table of LanceDB, a client of Qdrant or a psycopg connection; for any other, give a function "
            "that takes a query and returns texts."
        )

    def embedded(self, query: str) -> list[float]:
        """The vector of a query; raises ConfigError where no ``embed`` was given."""
        if self.embed is None:
            raise ConfigError(
                f"Collection of {_type(self.store)}: a query has to be embedded as the stored passages were. "
                "Give embed=, a function from a text to its vector."
            )
        return [float(number) for number in self.embed(query)]

    def needed_name(self) -> str:
        """The name of the collection or table; raises ConfigError where none was given."""
        if not self.name:
            raise ConfigError(f"Collection of {_type(self.store)}: give the name of the collection or table.")
        return self.name

    def _hit(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        text = at(payload, self.text) if self.text else first_of(payload, TEXT_KEYS)
        if not isinstance(text, str):
            keys = ", ".join(map(str, payload)) or "nothing"
            raise ConfigError(
                f"Collection of {_type(self.store)}: no text under {self.text or 'the usual keys'}; a "
                f"passage has {keys}. Give text=, the key of the passage's text."
            )
        place = at(payload, self.document) if self.document else first_of(payload, DOCUMENT_KEYS, text)
        return {"text": text, **({"document": str(place)} if place else {})}


def search_of(retriever: Any, depth: int) -> Callable[[str], Any]:
    """How a retriever is asked: a function from a query to what it returns, possibly awaitable.

    ``depth`` is how many passages are asked for, where a retriever takes such a number. Raises ConfigError
    for an object of an unknown shape.
    """
    for recognised, ask in _SHAPES:
        if recognised(retriever):
            search: Callable[[str], Any] = ask(retriever, depth)
            return search
    raise ConfigError(
        f"A retriever is a function that takes a query and returns texts, or an object of LangChain, "
        f"LlamaIndex, Haystack or Chroma; {_type(retriever)} is none of these. Wrap it: "
        "lambda query: [hit.text for hit in mine.search(query)]."
    )


def hits_of(returned: Any) -> list[dict[str, Any]]:
    """What a retriever returned for one query as rows of hits, in its order: text, and place if it is told.

    Texts, dicts, pairs of text and score, the rows of a DataFrame, and the documents and nodes of LangChain,
    LlamaIndex and Haystack are read, also in a dict under ``documents``. Raises HarnessError for anything
    else, and for passages that are in no order or in another one than their ranks.
    """
    if isinstance(returned, Mapping) and isinstance(returned.get("documents"), Sequence):
        returned = returned["documents"]
    if hasattr(returned, "to_dict") and hasattr(returned, "columns"):
        returned = returned.to_dict("records")
    if returned is None or isinstance(returned, str | bytes | Mapping) or not isinstance(returned, Iterable):
        raise HarnessError(f"returned {_shown(returned)}, which is no list of passages{_instead(returned)}")
    if isinstance(returned, Set):
        raise HarnessError(f"returned {_shown(returned)}, and a set has no order; a list has, best first")
    hits = list(returned)
    ranks = [hit["rank"] for hit in hits if isinstance(hit, Mapping) and isinstance(hit.get("rank"), Real)]
    if ranks != sorted(ranks):
        raise HarnessError("returned passages whose ranks do not rise; they are scored in order, best first")
    return [_row(hit) for hit in hits]


def _instead(returned: Any) -> str:
    """What to give in place of a chain that answers, or of one that returns passages among other things."""
    if isinstance(returned, str):
        return ": give what comes before passages are joined into one text, or an answer is written"
    if isinstance(returned, Mapping):
        keys = ", ".join(map(str, returned)) or "nothing"
        return f": it has {keys}. Give a function that returns the list in it"
    return ""


def _row(hit: Any) -> dict[str, Any]:
    """One passage; its place is taken from what the library calls its metadata."""
    if isinstance(hit, tuple | list) and len(hit) == 2 and not isinstance(hit[1], str | Mapping):
        inside, score = hit
        return _row(inside) | _score(score)
    if isinstance(hit, str):
        return _with_text(hit)
    if isinstance(hit, Mapping):
        return _of_mapping(hit) | _score(hit.get("score"))
    inner = getattr(hit, "node", hit)
    text = next((value for value in (getattr(inner, name, None) for name in TEXT_KEYS) if value), None)
    if callable(getattr(inner, "get_content", None)):
        text = inner.get_content()
    if not isinstance(text, str):
        raise HarnessError(f"returned {_shown(hit)} among its passages, which has no text")
    metadata = getattr(inner, "metadata", None) or getattr(inner, "meta", None) or {}
    source = first_of(metadata, DOCUMENT_KEYS) if isinstance(metadata, Mapping) else None
    place = {"document": str(source)} if source else {}
    return {**_with_text(text), **place, **_score(getattr(hit, "score", None))}


def _with_text(text: Any) -> dict[str, Any]:
    """A text as part of a row; raises HarnessError where it is none or blank, so that it has no place."""
    if not isinstance(text, str):
        raise HarnessError(f"returned {_shown(text)} where a passage has its text")
    if not text.strip():
        raise HarnessError("returned a passage whose text is empty, which is in no document; leave it out")
    if _LONE.search(text):
        raise HarnessError(f"returned half a character (a surrogate) in {_shown(text)}; return it whole")
    return {"text": text}


def _score(score: Any) -> dict[str, float]:
    """A score as part of a row; none where it is no finite number."""
    number = isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score)
    return {"score": float(score)} if number else {}


def _of_mapping(hit: Mapping[str, Any]) -> dict[str, Any]:
    text = first_of(hit, TEXT_KEYS[:-1])
    row: dict[str, Any] = {} if text is None else _with_text(text)
    if source := first_of(hit, DOCUMENT_KEYS):
        row["document"] = str(source)
    row |= {name: hit[name] for name in _PLACED if hit.get(name) is not None}
    if not {*PLACES} & {*row}:
        keys = ", ".join(map(str, hit)) or "nothing"
        raise HarnessError(f"returned a passage with neither text nor place; it has {keys}")
    return row


def _shown(value: Any) -> str:
    return f"{_type(value)} {str(value)[:60]!r}"


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")


# -- retrievers ---------------------------------------------------------------------------------------------


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda retriever: all(callable(getattr(retriever, name, None)) for name in names)


def _is_async(store: Any) -> bool:
    """Whether any method by which a store is recognised is a coroutine."""
    kinds = (methods for methods, _ in _STORES if _has(*methods)(store))
    return any(inspect.iscoroutinefunction(getattr(store, name)) for methods in kinds for name in methods)


def _counterpart(store: Any) -> str:
    """The name of the class without its ``Async``, where it begins so."""
    name = type(store).__name__
    return f" ({name.removeprefix('Async')})" if name.startswith("Async") else ""


def _ask_runnable(runnable: Any, depth: int) -> Callable[[str], Any]:
    """Ask in the ordinary way; what can only be awaited is refused with what to give instead."""

    def search(query: str) -> Any:
        try:
            return runnable.invoke(query)
        except (NotImplementedError, TypeError) as error:
            # LangChain says so of a function that is a coroutine, and a retriever of what it has not written
            if isinstance(error, TypeError) and "ainvoke" not in str(error):
                raise
            raise HarnessError(
                f"has no ordinary search ({type(error).__name__}: {error}). Where it is async, give its "
                "method ainvoke, which is waited for"
            ) from error

    return search


def _is_haystack_component(retriever: Any) -> bool:
    return hasattr(retriever, "run") and any(name.startswith("__haystack") for name in dir(retriever))


def _is_haystack_pipeline(retriever: Any) -> bool:
    return all(hasattr(retriever, name) for name in ("run", "add_component", "inputs"))


def _ask_component(component: Any, depth: int) -> Callable[[str], Any]:
    parameters = inspect.signature(component.run).parameters
    if "query" not in parameters:
        raise ConfigError(
            f"{_type(component)} takes {', '.join(parameters)}, not a query. Put it in a Pipeline behind its "
            "embedder, and give the pipeline."
        )
    more = {"top_k": depth} if "top_k" in parameters else {}
    return lambda query: component.run(query=query, **more)


def _ask_pipeline(pipeline: Any, depth: int) -> Callable[[str], Any]:
    """Hand the query to each open input of the pipeline that is called query or text."""
    inputs = [
        (component, name)
        for component, sockets in pipeline.inputs().items()
        for name in sockets
        if name in ("query", "text")
    ]
    if not inputs:
        raise ConfigError("The Haystack pipeline has no open input query or text. Wrap it in a function.")

    def search(query: str) -> Any:
        data: dict[str, dict[str, str]] = {}
        for component, name in inputs:
            data.setdefault(component, {})[name] = query
        ends = pipeline.run(data)
        outputs = [output for output in ends.values() if "documents" in output]
        if not outputs:
            raise HarnessError(
                f"gave no documents at its ends ({', '.join(ends)}). Give a pipeline that ends where "
                "documents are retrieved, or a function that returns them by include_outputs_from"
            )
        if len(outputs) != 1:
            raise HarnessError(f"gave documents at {len(outputs)} ends; a function that picks one is needed")
        return outputs[0]

    return search


def _ask_collection(collection: Collection, depth: int) -> Callable[[str], Any]:
    return lambda query: collection.search(query, depth)


def _refuse_many(client: Any, depth: int) -> Callable[[str], Any]:
    """Raise ConfigError that says how one of the collections or tables of a client is named."""
    Collection(client)
    raise ConfigError(
        f"{_type(client)} holds many collections or tables. Name one, and give what embeds a query: "
        'harness.Collection(client, "name", embed=function).'
    )


def _ask_vector_store(store: Any, depth: int) -> Callable[[str], Any]:
    return lambda query: store.similarity_search(query, k=depth)


def _ask_index(index: Any, depth: int) -> Callable[[str], Any]:
    retriever = index.as_retriever(similarity_top_k=depth)
    search: Callable[[str], Any] = retriever.retrieve
    return search


_SHAPES: tuple[tuple[Callable[[Any], bool], Callable[[Any, int], Callable[[str], Any]]], ...] = (
    (
        lambda retriever: isinstance(retriever, Collection),
        lambda c, depth: lambda query: c.search(query, depth),
    ),
    # LangChain: a vector store, a retriever or a chain that ends in documents
    (
        _has("similarity_search", "add_texts"),
        _ask_vector_store,
    ),
    (_has("invoke", "ainvoke"), _ask_runnable),
    # LlamaIndex: a retriever, an index
    (_has("retrieve"), lambda retriever, depth: retriever.retrieve),
    (_has("as_retriever"), _ask_index),
    (_is_haystack_pipeline, _ask_pipeline),
    (_is_haystack_component, _ask_component),
    (_has(*_CHROMA), lambda store, depth: _ask_collection(Collection(store), depth)),
    (_has(*_LANCEDB), lambda table, depth: _ask_collection(Collection(table), depth)),
    (callable, lambda function, depth: function),
    (lambda client: any(_has(*methods)(client) for methods in _OF_MANY), _refuse_many),
    (_has("search"), lambda retriever, depth: retriever.search),
)


# -- stores -------------------------------------------------------------------------------------------------


def _search_chroma(collection: Collection, query: str, depth: int) -> list[dict[str, Any]]:
    # similarities are not shown, so any distance does
    return _nearest(steps.ChromaCollection(collection.store, "cosine"), collection, query, depth, True)


def _search_qdrant(collection: Collection, query: str, depth: int) -> list[dict[str, Any]]:
    store = steps.QdrantCollection(collection.store, collection.needed_name())
    return _nearest(store, collection, query, depth)


def _nearest(
    store: steps.StoredCollection, collection: Collection, query: str, depth: int, embeds: bool = False
) -> list[dict[str, Any]]:
    """The rows nearest to a query; ``embeds``: the store may have a model of its own."""
    if embeds and collection.embed is None:
        (rows,) = store.near_texts([query], depth)
    else:
        (rows,) = store.near(np.array([collection.embedded(query)], dtype=np.float32), depth)
    return [dict(row.payload) for row in rows]


def _search_lancedb(collection: Collection, query: str, depth: int) -> list[dict[str, Any]]:
    return _nearest(steps.LanceTable(collection.store), collection, query, depth, True)


_DISTANCES = {"cosine": "cosine", "l2": "l2", "inner_product": "ip"}


def _search_pgvector(collection: Collection, query: str, depth: int) -> list[dict[str, Any]]:
    """The nearest rows of a table, as dicts without the vector, in a transaction that cannot write."""
    if collection.distance not in _DISTANCES:
        raise ConfigError(f"distance is {collection.distance!r}; it can be {', '.join(_DISTANCES)}.")
    distance = _DISTANCES[collection.distance]
    store = steps.PgvectorTable(collection.store, collection.needed_name(), collection.vector, distance)
    return _nearest(store, collection, query, depth)


_STORES: tuple[tuple[tuple[str, ...], Callable[[Collection, str, int], list[dict[str, Any]]]], ...] = (
    (_CHROMA, _search_chroma),
    (_QDRANT, _search_qdrant),
    (_LANCEDB, _search_lancedb),
    (_PGVECTOR, _search_pgvector),
)
