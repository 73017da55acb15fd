"""Queries encoded for an existing collection, and whether its vectors are those of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.steps.search.needs import CheckOnly, Texts, Warned
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.store_queries import StoreQueries
from harness.steps.search.retrieve.stored import Floats, StoredCollection, StoredRow, store_faults
from harness.steps.search.search_wordings import SEARCH
from harness.values import HarnessError, Query, Run, Together, key_of, worded

# passages that are embedded again to see whether the vectors are of the model
_SAMPLE = 32
# stored and fresh vectors that are less alike at the median are of another model
_SAME, _ALIKE = 0.98, 0.8
Sample = list[tuple[str, StoredRow]]


def encoded_queries(
    c: StoreConfig, store: StoredCollection, passages: Passages, queries: Sequence[Query]
) -> Run[StoreQueries]:
    """The queries with the vectors that are searched; raises HarnessError where those of the store differ."""
    texts = [query.text for query in queries]
    dense = c.search != "words"
    sample: Sample = []
    if c.same_model and (dense or c.sparse):
        sample = (yield CheckOnly(lambda: _sample(c, store), there=True)) or []
    by_vector = [(text, row.vector) for text, row in sample if dense and row.vector is not None]
    by_words = [(text, row.words) for text, row in sample if row.words is not None]
    needs = _needs(c, texts, [text for text, _ in by_vector], [text for text, _ in by_words], passages)
    # together, so that a plan counts all
    values = dict(zip(needs, (yield Together(list(needs.values()))), strict=True)) if needs else {}
    if dense:
        refuse_misfit(c, store, values["queries"].shape[1])
    if by_vector:
        stored = np.stack([vector for _, vector in by_vector])
        yield from _same_model(c, c.embed.model_name, _cosines(stored, values["fresh"]))
    if by_words and c.embed_sparse is not None:
        fresh = map(SparseVector.read, values["fresh sparse"])
        cosines = [words.cosine(other) for (_, words), other in zip(by_words, fresh, strict=True)]
        yield from _same_model(c, c.embed_sparse.model_name, cosines)
    elif by_words:
        yield from _same_words(c, [c.share_of_words(text, words) for text, words in by_words])
    sparse = list(map(SparseVector.read, values["sparse"])) if "sparse" in values else None
    return StoreQueries(texts, values.get("queries"), sparse)


def _needs(
    c: StoreConfig, texts: list[str], of_vectors: list[str], of_words: list[str], passages: Passages
) -> dict[str, Texts]:
    """The encodings of the queries, and of the texts of some rows."""
    key = (passages.whole or passages).key
    needs: dict[str, Texts] = {}
    if c.search != "words":
        needs["queries"] = Texts(c.embed, [c.query_prefix + text for text in texts], "queries")
    if of_vectors:
        fresh = [c.passage_prefix + text for text in of_vectors]
        needs["fresh"] = Texts(c.embed, fresh, "sample", "vectors", key_of(key, "sample"))
    if (encoder := c.embed_sparse) is not None:
        needs["sparse"] = Texts(encoder, texts, "queries", "encodings")
        if of_words:
            indexing = encoder.model_copy(update={"role": "passage"})
            place = key_of(key, "sparse sample")
            needs["fresh sparse"] = Texts(indexing, of_words, "sample", "encodings", place)
    return needs


def _cosines(stored: Floats, fresh: Floats) -> Sequence[float]:
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(fresh, axis=1)
    cosines: list[float] = ((stored * fresh).sum(axis=1) / (lengths + 1e-30)).tolist()
    return cosines


def _same_model(c: StoreConfig, model: str, cosines: Sequence[float]) -> Run[None]:
    """Raise HarnessError where the stored vectors are not the model's; warn where they are other ones."""
    median = float(np.median(cosines))
    if median < _ALIKE:
        raise HarnessError(
            f"{c.where}, {c.collection}: the median cosine of {len(cosines)} stored vectors with those of "
            f"{model} is {median:.2f}, so they are of another model, or of other text than is stored. Name "
            "the model that made them, or set retrieve.same_model to false."
        )
    if median < _SAME:
        about = {"store": c.where, "collection": c.collection, "model": model}
        altered = worded(SEARCH, "stored.altered", vectors=len(cosines), cosine=f"{median:.3f}", **about)
        yield Warned([altered])


def _same_words(c: StoreConfig, shares: Sequence[float]) -> Run[None]:
    """The same for sparse vectors of words: by the share of the stored ones that are words of the text."""
    median = float(np.median(shares))
    if median < _ALIKE:
        raise HarnessError(
            f"{c.where}, {c.collection}: of the words in {len(shares)} stored sparse vectors, {median:.0%} "
            "at the median are words of their texts as retrieve.sparse_model makes them. Name what made the "
            "vectors as sparse_model, and its language, or set retrieve.same_model to false."
        )
    if median < _SAME:
        about = {"store": c.where, "collection": c.collection}
        altered = worded(SEARCH, "stored.other_words", vectors=len(shares), share=f"{median:.1%}", **about)
        yield Warned([altered])


def refuse_misfit(c: StoreConfig, store: StoredCollection, dimension: int) -> None:
    """Raise HarnessError where dimension or distance of a collection are not those of the configuration."""
    with store_faults(c.where, c.timeout):
        facts = store.facts()
    if facts.dimension not in (None, dimension):
        raise HarnessError(
            f"{c.where}, {c.collection}: its vectors have {facts.dimension} dimensions, and those of "
            f"{c.embed.model_name} {dimension}. Name the model that made them as retrieve.model."
        )
    if facts.distance not in (None, c.distance):
        raise HarnessError(
            f"{c.where}, {c.collection} compares by {facts.distance}, and retrieve.distance is {c.distance}. "
            f"Set distance: {facts.distance}."
        )


def _sample(c: StoreConfig, store: StoredCollection) -> Sample:
    """Texts and rows with their vectors, of some rows that have both; none where the store gives none."""
    with store_faults(c.where, c.timeout):
        rows = list(store.rows(vectors=True, limit=_SAMPLE))
    texts = [(c.keys.text_of(row.payload), row) for row in rows]
    return [(text, row) for text, row in texts if text]
