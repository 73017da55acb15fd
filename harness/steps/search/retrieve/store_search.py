"""Search in a vector store: one that is filled with the chunks, or an existing one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import ClassVar, TypeVar

import numpy as np

from harness.steps.search.dense import DenseRetriever, Floats
from harness.steps.search.depth import SearchDepth, ranked
from harness.steps.search.needs import CheckOnly, Cluster, Fingerprints, Index, PriceOfIndex
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.scan import found_share, scan
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.store_queries import StoreQueries, searched
from harness.steps.search.retrieve.stored import Content, StoredCollection, store_faults
from harness.steps.search.retrieve.stored_as_is import of_this_run, search_as_it_is
from harness.steps.search.step import Fingerprint, Identity, IndexPrice, RetrievalResult
from harness.steps.search.tools import VectorRows
from harness.values import Query, Run, Slot, key_of

# Asked for beyond the depth, so that equal scores at the cut are ordered by us and not by the store.
_MARGIN = 16

Store = TypeVar("Store", bound=StoreConfig)


class StoreRetriever(DenseRetriever[Store]):
    """Has the store search for every query, and says what share of the true nearest it found.

    ``libraries`` are the packages whose versions decide the rankings of a store that is filled here.
    """

    libraries: ClassVar[tuple[str, ...]] = ()

    def identity(self, fingerprint: Fingerprint) -> Identity:
        """As for all vector stores; what an existing collection gave is of this run alone."""
        c = self.config
        encoder = fingerprint(c.embed) if c.search != "words" else ""
        prefixes = [c.passage_prefix, c.query_prefix]
        state = of_this_run(c) if c.existing else []
        return [c.kind, encoder, prefixes, [c.distance, c.top_k, c.top_chars], self.store_facts(), state]

    def store_facts(self) -> Identity:
        """Index, effort, and the versions of the libraries."""
        c = self.config
        return [c.search, c.exact, c.build_facts(), c.effort(), list(map(_version, self.libraries))]

    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], query_vectors: Floats
    ) -> Run[RetrievalResult]:
        """The rankings by vectors, or by vectors and words."""
        return (yield from self._filled(passages, vectors, queries, query_vectors))

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """Search the collection there is, or one of the passages."""
        if self.config.existing:
            return (yield from search_as_it_is(self.config, passages, queries))
        if self.config.search == "words":
            return (yield from self._filled(passages, None, queries, None))
        return (yield from super().run(passages, queries))

    def _filled(
        self,
        passages: Passages,
        vectors: VectorRows | None,
        queries: Sequence[Query],
        query_vectors: Floats | None,
    ) -> Run[RetrievalResult]:
        c = self.config
        depth = SearchDepth.of(c, passages.lengths)
        fingerprint = yield Fingerprints()
        model = "" if vectors is None else fingerprint(c.embed)
        facts = [c.kind, passages.key, model, c.passage_prefix, c.distance, c.search, c.build_facts()]
        name = f"{c.collection or 'ndcg'}_{key_of(*facts)[:24]}"
        stored = None if vectors is None else np.asarray(vectors)
        content = Content(stored, passages.texts, name)
        store = yield Index([*facts, c.where], lambda place: _opened(c, content, place))
        price: IndexPrice | None = yield PriceOfIndex([*facts, c.where])
        nearest = None
        if query_vectors is not None and stored is not None and c.search == "vectors":
            nearest = yield CheckOnly(lambda: scan(query_vectors, stored, c.distance, depth))
        depths = [true.k for true in nearest or []] or [depth.usual] * len(queries)
        wanted = min(max(depths) + (_MARGIN if nearest else 0), len(passages.ids))
        spread = (yield Cluster()) if c.remote else None
        wording = StoreQueries([query.text for query in queries], query_vectors)
        hits = searched(c, name, store, wording, wanted, spread)
        rankings = []
        for query, rows, k in zip(queries, hits, depths, strict=True):
            places = np.array([int(row.key) for row in rows], dtype=np.int64)
            scores = np.array([row.score for row in rows], dtype=np.float64)
            own_depth = SearchDepth(k, None, depth.lengths) if nearest else depth
            rankings.append(ranked(query.query_id, places, scores, own_depth, passages.ids))
        share = None if nearest is None else found_share(rankings, passages.ids, nearest)
        return RetrievalResult(rankings, share, indexes=() if price is None else (price,))


@contextmanager
def _opened(c: StoreConfig, content: Content, place: Slot) -> Iterator[StoredCollection]:
    """The collection, filled where it is not there; that of an embedded store lies in the cache."""
    folder = None if c.remote else place.path
    seconds: float | None = None
    with store_faults(c.where, c.timeout):
        if c.remote or not place.built:
            start = perf_counter()
            if c.fill(content, folder):
                seconds = perf_counter() - start
            if not c.remote:
                place.finish()
    with c.reading(content.name, folder) as store:
        if seconds is not None:
            with store_faults(c.where, c.timeout):
                place.filled(seconds, store.facts().bytes if c.remote else None)
        yield store


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
