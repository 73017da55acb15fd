"""Search in an existing collection: its passages are those of the store, and nothing is kept."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from harness.steps.search.depth import SearchDepth
from harness.steps.search.needs import Built, CheckOnly, Cluster, Index, Warned
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.row_documents import document_at, documents_of_row
from harness.steps.search.retrieve.rows_of_part import PartOfRows
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.store_queries import StoreQueries, searched
from harness.steps.search.retrieve.stored import StoredCollection, StoredRow, store_faults
from harness.steps.search.retrieve.stored_encodings import encoded_queries
from harness.steps.search.search_wordings import SEARCH
from harness.steps.search.step import Identity, RetrievalResult
from harness.values import HarnessError, Query, Ranking, Run, Slot, by_key, counted, key_of, worded

# a collection of others may change at any time, so what a run has found is of no use to the next
_THIS_RUN = uuid.uuid4().hex


def of_this_run(c: StoreConfig) -> Identity:
    """What tells the rankings of an existing collection from those of another run."""
    return [_THIS_RUN, c.where, c.collection, c.text, c.document, c.page, c.first_page, c.only]


def search_as_it_is(c: StoreConfig, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
    """The passages are those of the collection, as they were read from it."""
    store: StoredCollection = yield Index(
        ["existing", _THIS_RUN, c.kind, c.where, c.collection, c.only],
        lambda place: _existing_opened(c, place),
        there=True,
    )
    asking = yield from encoded_queries(c, store, passages, queries)
    depth = SearchDepth.of(c, passages.lengths)

    def passing() -> int:
        with store_faults(c.where, c.timeout):
            return store.passing()

    # once for all queries; a plan stops here, before anything is searched
    count: int = yield Built(passing, key_of("passing", c.kind, c.where, c.collection, c.only))
    wanted = count if c.top_k >= len(passages.ids) else c.top_k
    wanted = min(count, depth.most if c.top_chars is not None else wanted)
    spread = (yield Cluster()) if c.remote else None
    search = partial(searched, c, c.collection, store, spread=spread)
    part = PartOfRows.of(passages, c)
    hits, short = part.search(search, asking, wanted, count)
    # a filter of the store's own may end an index early, without a part that goes deeper
    short = max(
        short, sum(len(rows) < min(wanted, count) for rows in hits) if c.only and part.texts is None else 0
    )
    if short and c.search == "vectors":
        few = counted(short, "query", "queries")
        yield Warned([worded(SEARCH, "stored.early", store=c.where, collection=c.collection, queries=few)])
    texts_at = by_key((text, place) for place, text in enumerate(passages.texts))
    rankings = [
        _placed(query, rows, texts_at, passages, depth, c) for query, rows in zip(queries, hits, strict=True)
    ]
    share = None
    if c.search == "vectors" and store.scans and not c.exact:
        with store_faults(c.where, c.timeout):
            scanned = partial(_scanned, store)
            true = yield CheckOnly(lambda: part.search(scanned, asking, c.top_k, count)[0])
        share = _overlap(hits, true, c.top_k)
    return RetrievalResult(rankings, share)


def _scanned(store: StoredCollection, queries: StoreQueries, depth: int) -> list[list[StoredRow]]:
    assert queries.vectors is not None
    return store.near(queries.vectors, depth, exact=True)


@contextmanager
def _existing_opened(c: StoreConfig, place: Slot) -> Iterator[StoredCollection]:
    with c.reading(c.collection, place.path) as store:
        yield store


def _placed(
    query: Query,
    rows: Sequence[StoredRow],
    places: dict[str, list[int]],
    passages: Passages,
    depth: SearchDepth,
    c: StoreConfig,
) -> Ranking:
    """The rows of one query as passages, by their texts: that of the row's document, else the next one."""
    used: set[int] = set()
    scores = []
    ranked_places = []
    for row in rows:
        text = c.keys.passage_of(row)
        free = [place for place in places.get(text, ()) if place not in used]
        if len(free) > 1:
            named = documents_of_row(row, c.keys, text)
            free.sort(key=lambda place: document_at(passages, place) not in named)
        place = next(iter(free), None)
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
