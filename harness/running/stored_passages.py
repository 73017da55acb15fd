"""The passages of an existing collection: read from it, and placed in the documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness import values
from harness.data import GivenHit, PlacedHit, named_document, place_hits, placed_by_page
from harness.running.corpus import Corpus
from harness.running.page_faults import PageFaults, page_faults
from harness.running.passage_files import refuse_empty
from harness.running.stored_changes import RowDigests
from harness.steps import StoreFacts, passage_id, store_faults

_THRESHOLD = 90.0


@dataclass(frozen=True, slots=True)
class StoredPassages:
    """The passages of one collection: each placed where it is in a document, and with the text it has there.

    ``facts`` is what the store says of it; ``blank`` rows have neither text nor page, and hold their ranks;
    ``unnamed``: no document of the collection is called like one of ours, so that passages were sought in all
    of them. ``first_page`` is the number that the first page of a document has in the rows, and ``pages`` are
    rows with pages that cannot be. ``outside`` are
    document and text of the passages of documents that the part of the benchmark leaves out. ``passing`` are
    the rows that the filter of the retriever leaves, None without one. ``digests`` are of all rows as they
    were read.
    """

    placed: tuple[PlacedHit, ...]
    facts: StoreFacts
    digests: RowDigests
    blank: tuple[PlacedHit, ...]
    names: tuple[str, ...]
    unnamed: bool = False
    first_page: int = 1
    outside: tuple[tuple[str, str], ...] = ()
    pages: PageFaults = field(default_factory=PageFaults)
    passing: int | None = None

    @property
    def hits(self) -> tuple[PlacedHit, ...]:
        """All that a search may return: the passages, and the blank rows, which have no place."""
        return (*self.placed, *self.blank)


@dataclass(slots=True)
class _Rows:
    """The rows of a collection: those with a text, those that stand for a page, and those with neither.

    ``keys_seen`` counts the keys of all rows. ``bad_pages`` are rows, and what they state as a page that is
    none.
    """

    facts: StoreFacts
    digests: RowDigests
    hits: list[GivenHit] = field(default_factory=list)
    pages: list[GivenHit] = field(default_factory=list)
    blank: list[GivenHit] = field(default_factory=list)
    keys_seen: Counter[str] = field(default_factory=Counter)
    bad_pages: list[tuple[GivenHit, Any]] = field(default_factory=list)


def read_passages(
    retrieve: Any,
    corpus: Corpus,
    texts_outside: Callable[[], Mapping[str, values.Document]] = dict,
    are_documents: bool = False,
) -> StoredPassages:
    """All passages of a collection, each a document of its own where they ``are_documents``.

    A passage is of the document that it names, else of the one that holds its text. ``texts_outside`` reads
    the documents that the part of the benchmark leaves out, where a passage names none. Raises HarnessError
    where no row has a text, or none is in a document.
    """
    where = f"{retrieve.where}, {retrieve.collection}"
    rows = _read(retrieve, where, are_documents)
    refuse_empty(where, len(rows.hits) + len(rows.pages) + len(rows.blank))
    if not rows.hits and not rows.pages:
        keys_seen = ", ".join(list(rows.keys_seen)[:20]) or "nothing"
        raise values.HarnessError(
            f"{where}: none of {values.counted(len(rows.blank), 'row')} has a text under "
            f"{retrieve.text or 'the usual keys'}; rows have {keys_seen}. Name the key of the text as "
            "retrieve.text."
        )
    stored = _placed(rows, corpus, texts_outside, retrieve.keys.first_page)
    if not any(hit.place for hit in stored.placed):
        # every score would be 0, whatever the index is worth
        texts = [hit.row.text for hit in stored.placed] or [text for _, text in stored.outside]
        raise values.HarnessError(
            f"{where}: none of {values.counted(len(rows.hits) + len(rows.pages), 'passage')} is in the "
            f"{'documents of the part' if corpus.outside else 'documents'} (the first: "
            f"{values.snippet(texts[0], 80)!r}), so no label grades any. Name the documents that it was "
            "filled from, or set retrieve.text to the key of the text."
        )
    return stored


def rows_passing(retrieve: Any) -> int | None:
    """How many rows the retriever's own filter leaves, None without one; HarnessError if it leaves none."""
    if not retrieve.only:
        return None
    where = f"{retrieve.where}, {retrieve.collection}"
    # the collection was read before, so that it is there
    question = f"Can its fields be asked for what retrieve.only names ({only_in_words(retrieve)})?"
    with store_faults(where, retrieve.timeout, question), retrieve.reading(retrieve.collection) as store:
        count: int = store.passing()
    if not count:
        raise values.HarnessError(
            f"{where}: no row has what retrieve.only asks for ({only_in_words(retrieve)}), so "
            "nothing can be found. Correct the field or its value; 2023 and '2023' are different values."
        )
    return count


def only_in_words(retrieve: Any) -> str:
    """The fields of the retriever's own filter with their values."""
    several = (
        (name, value if isinstance(value, tuple) else (value,)) for name, value in retrieve.only.items()
    )
    return ", ".join(f"{name}: {' or '.join(map(repr, values))}" for name, values in several)


def _read(retrieve: Any, where: str, are_documents: bool) -> _Rows:
    keys = retrieve.keys
    with store_faults(where, retrieve.timeout), retrieve.reading(retrieve.collection) as store:
        rows = _Rows(store.facts(), RowDigests(store.lasting_keys))
        for line, row in enumerate(store.rows(), start=1):
            rows.digests.add(row)
            rows.keys_seen.update(map(str, row.payload))
            text = keys.passage_of(row)
            document, page = keys.document_of(row.payload, text), keys.page_of(row.payload)
            if are_documents:
                # a row without text is no document
                document, page = passage_id(row.key) if keys.has_text(row) else "", None
            given = {"document": document, "page": page, "text": text}
            hit = GivenHit(where=f"{where}, row {row.key}", line=line, query_id="", **given)
            stated = None if are_documents else keys.stated_page(row.payload)
            if stated is not None and page is None:
                rows.bad_pages.append((hit, stated))
            kind = rows.hits if keys.has_text(row) else rows.blank if keys.is_blank(row) else rows.pages
            kind.append(hit)
    return rows


def _placed(
    rows: _Rows,
    corpus: Corpus,
    texts_outside: Callable[[], Mapping[str, values.Document]],
    first_page: int,
) -> StoredPassages:
    """The rows in the documents, apart from those of documents that the part leaves out."""
    documents = corpus.by_id
    outside_ids = {file.doc_id for file in corpus.outside}
    every_row = [*rows.hits, *rows.pages, *rows.blank]
    names = list(dict.fromkeys(hit.document for hit in every_row if hit.document))
    every_id = documents.keys() | outside_ids
    document_of = {name: named_document(name, every_id) for name in names}
    unnamed = bool(names) and not any(document_of.values())
    hits = [replace(hit, document="") for hit in rows.hits] if unnamed else rows.hits
    outside = [
        (doc_id, hit.text)
        for hit in [*hits, *rows.pages, *rows.blank]
        if (doc_id := document_of.get(hit.document)) in outside_ids and doc_id is not None
    ]
    hits, pages, blank = (
        [hit for hit in kind if document_of.get(hit.document) not in outside_ids]
        for kind in (hits, rows.pages, rows.blank)
    )
    if outside_ids and not all(hit.document for hit in hits):
        # where a text is in several documents, those of the part come first
        documents = {**documents, **texts_outside()}
    left_out = [skipped.doc_id for skipped in corpus.skipped]
    (placed,) = place_hits([hits], documents, _THRESHOLD, left_out, True)
    # rows without text are a page and nothing else
    placed += [PlacedHit(row, None, 0.0, 0) for row in pages]
    placed = placed_by_page(placed, documents, left_out)
    inside = []
    for hit in placed:
        if hit.place is not None and hit.place.doc_id in outside_ids:
            outside.append((hit.place.doc_id, hit.row.text))
        else:
            inside.append(hit)
    named = {
        name: documents[doc_id]
        for name, doc_id in document_of.items()
        if doc_id is not None and doc_id not in outside_ids
    }
    without_place = tuple(PlacedHit(row, None, 0.0, 0) for row in blank)
    return StoredPassages(
        tuple(inside),
        rows.facts,
        rows.digests,
        without_place,
        tuple(names),
        unnamed,
        first_page,
        tuple(outside),
        page_faults(every_row, rows.bad_pages, named, first_page),
    )
