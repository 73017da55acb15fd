"""Search in a vector store: one that is filled with the chunks, or one that is there already."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar, TypeVar

import numpy as np

from harness.steps.search.dense import DenseRetriever, Floats
from harness.steps.search.depth import SearchDepth, ranked
from harness.steps.search.needs import CheckOnly, Cluster, Fingerprints, Index, Texts, Warned
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.scan import found_share, scan
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.stored import Content, StoredCollection, StoredRow, store_faults
from harness.steps.search.step import Fingerprint, Identity, RetrievalResult
from harness.steps.search.tools import Spread, VectorRows
from harness.values import HarnessError, Query, Ranking, Run, Slot, by_key, counted, key_of

# Asked for beyond the depth, so that equal scores at the cut are ordered by us and not by the store.
_MARGIN = 16
# passages that are embedded again to see whether the vectors are of the model
_SAMPLE = 32
# a lower median cosine of stored and fresh vectors is another model's
_SAME, _ALIKE = 0.98, 0.8
# queries that a worker of a cluster searches at once
_SHARE = 16
# a collection of others may change at any time, so what a run has found is of no use to the next
_THIS_RUN = uuid.uuid4().hex

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
        state = [_THIS_RUN, c.where, c.collection, c.text, c.document, c.page] if c.existing else []
        return [c.kind, encoder, prefixes, [c.distance, c.top_k, c.top_chars], self.store_facts(), state]

    def store_facts(self) -> Identity:
        """Index, effort, and the versions of the libraries."""
        c = self.config
        return [c.search, c.exact, c.build_facts(), c.effort(), list(map(_version, self.libraries))]

    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], asked: Floats
    ) -> Run[RetrievalResult]:
        """The rankings by vectors, or by vectors and words."""
        return (yield from self._filled(passages, vectors, queries, asked))

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """Search the collection there is, or one of the passages."""
        if self.config.existing:
            return (yield from self._existing(passages, queries))
        if self.config.search == "words":
            return (yield from self._filled(passages, None, queries, None))
        return (yield from super().run(passages, queries))

    def _filled(
        self, passages: Passages, vectors: VectorRows | None, queries: Sequence[Query], asked: Floats | None
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
        nearest = None
        if asked is not None and stored is not None and c.search == "vectors":
            nearest = yield CheckOnly(lambda: scan(asked, stored, c.distance, depth))
        depths = [true.k for true in nearest or []] or [depth.usual] * len(queries)
        wanted = min(max(depths) + (_MARGIN if nearest else 0), len(passages.ids))
        spread = (yield Cluster()) if c.remote else None
        hits = _searched(c, name, store, [query.text for query in queries], asked, wanted, spread)
        rankings = []
        for query, rows, k in zip(queries, hits, depths, strict=True):
            places = np.array([int(row.key) for row in rows], dtype=np.int64)
            scores = np.array([row.score for row in rows], dtype=np.float64)
            own_depth = SearchDepth(k, None, depth.lengths) if nearest else depth
            rankings.append(ranked(query.query_id, places, scores, own_depth, passages.ids))
        share = None if nearest is None else found_share(rankings, passages.ids, nearest)
        return RetrievalResult(rankings, share)

    def _existing(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """The passages are those of the collection, as they were read from it."""
        c = self.config
        store: StoredCollection = yield Index(
            ["existing", _THIS_RUN, c.kind, c.where, c.collection],
            lambda place: _existing_opened(c, place),
        )
        asked = None
        if c.search != "words":
            texts = [c.query_prefix + query.text for query in queries]
            asked = yield Texts(c.embed, texts, "queries")
            refuse_misfit(c, store, asked.shape[1])
            sample = (yield CheckOnly(lambda: _sample(c, store))) or []
            if sample and c.same_model:
                yield from self._same_model(passages, sample)
        depth = SearchDepth.of(c, passages.lengths)
        wanted = min(len(passages.ids), depth.most if c.top_chars is not None else c.top_k)
        spread = (yield Cluster()) if c.remote else None
        hits = _searched(c, c.collection, store, [q.text for q in queries], asked, wanted, spread)
        texts_at = by_key((text, place) for place, text in enumerate(passages.texts))
        rankings = [
            _placed(query, rows, texts_at, passages, depth, c)
            for query, rows in zip(queries, hits, strict=True)
        ]
        share = None
        if asked is not None and c.search == "vectors" and store.scans and not c.exact:
            with store_faults(c.where, c.timeout):
                true = yield CheckOnly(lambda: store.near(asked, c.top_k, exact=True))
            share = _overlap(hits, true, c.top_k)
        return RetrievalResult(rankings, share)

    def _same_model(self, passages: Passages, sample: Sequence[tuple[str, Floats]]) -> Run[None]:
        """Raise HarnessError where the stored vectors are not the model's; warn where they are other ones."""
        c = self.config
        texts = [c.passage_prefix + text for text, _ in sample]
        fresh = yield Texts(c.embed, texts, "passages", "vectors", key_of(passages.key, "sample"))
        stored = np.stack([vector for _, vector in sample])
        lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(fresh, axis=1)
        median = float(np.median((stored * fresh).sum(axis=1) / (lengths + 1e-30)))
        of = f"the median cosine of {len(sample)} stored vectors with those of {c.embed.model_name} is"
        if median < _ALIKE:
            raise HarnessError(
                f"{c.where}, {c.collection}: {of} {median:.2f}, so they are of another model, or of other "
                "text than is stored. Name the model that made them, or set retrieve.same_model to false."
            )
        if median < _SAME:
            yield Warned(
                [
                    f"{c.where}, {c.collection}: {of} {median:.3f}: they were made with a prefix, of more "
                    "text than is stored, or in lower precision."
                ]
            )


@contextmanager
def _opened(c: StoreConfig, content: Content, place: Slot) -> Iterator[StoredCollection]:
    """The collection, filled where it is not there; that of an embedded store lies in the cache."""
    folder = None if c.remote else place.path
    with store_faults(c.where, c.timeout):
        if c.remote or not place.built:
            c.fill(content, folder)
            if not c.remote:
                place.finish()
    with c.reading(content.name, folder) as store:
        yield store


@contextmanager
def _existing_opened(c: StoreConfig, place: Slot) -> Iterator[StoredCollection]:
    with c.reading(c.collection, place.path) as store:
        yield store


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


def _sample(c: StoreConfig, store: StoredCollection) -> list[tuple[str, Floats]]:
    """Texts and vectors of some rows; none where the store does not give vectors."""
    with store_faults(c.where, c.timeout):
        rows = list(store.rows(vectors=True, limit=_SAMPLE))
    texts = [(c.keys.text_of(row.payload), row.vector) for row in rows]
    return [(text, vector) for text, vector in texts if text and vector is not None]


def _placed(
    query: Query,
    rows: Sequence[StoredRow],
    places: dict[str, list[int]],
    passages: Passages,
    depth: SearchDepth,
    c: StoreConfig,
) -> Ranking:
    """The rows of one query as passages, by their texts; of those with the same text the next one."""
    used: set[int] = set()
    scores = []
    ranked_places = []
    for row in rows:
        text = c.keys.text_of(row.payload)
        if text is not None and not text.strip():
            continue
        free = (place for place in places.get(text or "", ()) if place not in used)
        place = next(free, None)
        if place is None:
            raise HarnessError(
                f"{c.where}, {c.collection}: row {row.key} was not there when the run read the "
                f"collection, or has no text under {c.text or 'the usual keys'} any more. Run "
                "again when it does not change."
            )
        used.add(place)
        ranked_places.append(place)
        scores.append(round(row.score, 6))
    end = depth.of_ranked(depth.lengths[ranked_places]) if ranked_places else 0
    falling = np.minimum.accumulate(np.array(scores[:end], dtype=np.float64)).tolist() if end else []
    ids = tuple(passages.ids[place] for place in ranked_places[:end])
    return Ranking(query.query_id, ids, tuple(falling))


def _overlap(
    hits: Sequence[Sequence[StoredRow]], true: Sequence[Sequence[StoredRow]] | None, k: int
) -> float | None:
    """The share of the rows found by a scan that the index found too; rows that tie with its last count."""
    if not true:
        return None
    found = total = 0
    for rows, exact in zip(hits, true, strict=True):
        near = {row.key for row in exact}
        last = exact[-1].score - 1e-6 if exact else 0.0
        good = sum(row.key in near or row.score >= last for row in rows[:k])
        found, total = found + min(good, len(exact)), total + len(exact)
    return found / total if total else None


def _searched(
    c: StoreConfig,
    name: str,
    store: StoredCollection,
    texts: Sequence[str],
    asked: Floats | None,
    depth: int,
    spread: Spread | None,
) -> list[list[StoredRow]]:
    """What the store finds for all queries: here, or by all workers, each with a connection of its own."""
    if spread is None or len(texts) <= _SHARE:
        return search_in(c, store, texts, asked, depth)
    job = _Job(c, name, depth)
    parts = [
        (begin, list(texts[begin : begin + _SHARE]), None if asked is None else asked[begin : begin + _SHARE])
        for begin in range(0, len(texts), _SHARE)
    ]
    answers: dict[int, list[list[StoredRow]]] = dict(spread(job, parts))
    return [rows for begin in sorted(answers) for rows in answers[begin]]


@dataclass(frozen=True, slots=True)
class _Job:
    """A search of part of the queries in a store with an address, on any machine."""

    config: StoreConfig
    name: str
    depth: int

    def __call__(self, part: tuple[int, list[str], Floats | None]) -> tuple[int, list[list[StoredRow]]]:
        begin, texts, asked = part
        with self.config.reading(self.name) as store:
            return begin, search_in(self.config, store, texts, asked, self.depth)


def search_in(
    c: StoreConfig, store: StoredCollection, texts: Sequence[str], asked: Floats | None, depth: int
) -> list[list[StoredRow]]:
    """The rows that a store finds for queries, as the configuration says; raises HarnessError if it fails."""
    with store_faults(c.where, c.timeout):
        if asked is None:
            rows = store.by_words(texts, depth)
        elif c.search == "hybrid":
            rows = store.hybrid(asked, texts, depth)
        else:
            rows = store.near(asked, depth, exact=c.exact)
    if len(rows) != len(texts):
        raise HarnessError(
            f"{c.where} answered {counted(len(rows), 'query', 'queries')} of {len(texts)}. Run again."
        )
    return rows


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
