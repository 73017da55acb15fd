"""Existing collections: their passages, placed in the documents, and what is odd about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness import values
from harness.data import GivenHit, PlacedHit, named_document, place_hits, placed_by_page
from harness.measures import Projection
from harness.running.chunks import Chunking, Indexed, health_of
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import Corpora
from harness.running.corpus import Corpus
from harness.running.hits.scoring_of_hits import missed_evidence, text_elsewhere, under_own_name
from harness.running.notes import RunNotes
from harness.running.passage_files import are_documents
from harness.running.pipeline import collection_searched
from harness.running.session import Session
from harness.steps import StoreFacts, passage_id, store_faults, token_lengths
from harness.store import key_of

_THRESHOLD = 90.0
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class StoredPassages:
    """The passages of one collection: each placed where it is in a document, and with the text it has there.

    ``facts`` is what the store says of it; ``blank`` rows have no text, and can be returned but never found;
    ``unnamed``: no document of the collection is called like one of ours, so that passages were sought in all
    of them. ``first_page`` is the number that the first page of a document has in the rows.
    """

    placed: tuple[PlacedHit, ...]
    facts: StoreFacts
    blank: int
    names: tuple[str, ...]
    unnamed: bool = False
    first_page: int = 1


def with_existing(corpora: Corpora, config: BenchConfig, session: Session) -> Corpora:
    """Read every collection that settings search as it is; raises HarnessError where one cannot be read.

    Passages that are in no document become a document of their own, whose text nobody has judged. The chunks
    of each such setting are made by what ``context.prepared`` keeps for it.
    """
    searched = [(setting, collection_searched(setting)) for setting in config.settings]
    existing = [(setting, retrieve) for setting, retrieve in searched if retrieve is not None]
    if corpora.parsers:
        raise values.ConfigError(
            f"{config.name}: an existing collection is placed in one text of each document, but "
            "the settings use several parsers. Keep one under parse."
        )
    # where all settings search collections, all search the same text
    if config.part.text < 1 and len(existing) < len(searched):
        raise values.ConfigError(
            f"{config.name}: a part of the documents is to be searched (part, or a stage of tune), and an "
            "existing collection can only be searched whole, which would compare it on more text. Leave out "
            "the settings with existing: true, or the part."
        )
    corpus = corpora.united
    read: dict[str, StoredPassages] = {}
    stored: dict[str, StoredPassages] = {}
    with session.notes.timed("stores"):
        for setting, retrieve in existing:
            key = repr([retrieve.where, retrieve.collection, retrieve.keys])
            if key not in read:
                session.notes.reporter.note(f"Reading {retrieve.collection} of {retrieve.where}.")
                read[key] = read_passages(retrieve, corpus, are_documents(config, retrieve))
            stored[setting.name] = read[key]
    strange, _ = text_elsewhere([[each.placed] for each in stored.values()], corpus.by_id)
    corpus = replace(corpus, strange=strange)
    by_setting = dict.fromkeys(corpora.by_setting, corpus)
    for setting, _ in existing:
        session.prepared.stored[setting.name] = partial(
            stored_chunking, setting, stored[setting.name], corpus, config.relevance.projection, session
        )
    return replace(corpora, united=corpus, by_setting=by_setting)


def read_passages(retrieve: Any, corpus: Corpus, are_documents: bool = False) -> StoredPassages:
    """All passages of a collection, each a document of its own where they ``are_documents``.

    Raises HarnessError where no row has a text, or none is in a document.
    """
    where, keys = f"{retrieve.where}, {retrieve.collection}", retrieve.keys
    documents = corpus.by_id
    hits: list[GivenHit] = []
    pages: list[GivenHit] = []
    blank, seen = 0, Counter[str]()
    with store_faults(where, retrieve.timeout), retrieve.reading(retrieve.collection) as store:
        facts = store.facts()
        for line, row in enumerate(store.rows(), start=1):
            text = keys.passage_of(row.payload)
            seen.update(map(str, row.payload))
            if text is None or not text.strip():
                blank += 1
                continue
            document, page = keys.document_of(row.payload, text), keys.page_of(row.payload)
            if are_documents:
                document, page = passage_id(row.key), None
            given = {"document": document, "page": page, "text": text}
            hit = GivenHit(where=f"{where}, row {row.key}", line=line, query_id="", **given)
            (hits if keys.text_of(row.payload) == text else pages).append(hit)
    if not hits and not pages:
        keys_seen = ", ".join(list(seen)[:20]) or "nothing"
        raise values.HarnessError(
            f"{where}: none of {values.counted(blank, 'row')} has a text under "
            f"{retrieve.text or 'the usual keys'}; rows have {keys_seen}. Name the key of the text as "
            "retrieve.text; an empty collection cannot be scored."
        )
    names = list(dict.fromkeys(hit.document for hit in [*hits, *pages] if hit.document))
    unnamed = bool(names) and not any(named_document(name, documents) for name in names)
    if unnamed:
        hits = [replace(hit, document="") for hit in hits]
    left_out = [skipped.doc_id for skipped in corpus.skipped]
    (placed,) = place_hits([hits], documents, _THRESHOLD, left_out, True)
    # rows without text are a page and nothing else
    placed += [PlacedHit(row, None, 0.0, 0) for row in pages]
    placed = placed_by_page(placed, documents, left_out)
    if not any(hit.place for hit in placed):
        # every score would be 0, whatever the index is worth
        first = values.snippet(placed[0].row.text, 80)
        raise values.HarnessError(
            f"{where}: none of {values.counted(len(placed), 'passage')} is in the documents (the first: "
            f"{first!r}), so no label grades any. Name the documents that it was filled from, or set "
            "retrieve.text to the key of the text."
        )
    return StoredPassages(tuple(placed), facts, blank, tuple(names), unnamed, keys.first_page)


def stored_chunking(
    setting: Setting, stored: StoredPassages, corpus: Corpus, rule: Projection, session: Session
) -> Chunking:
    """The passages of a collection as chunks, with what the store holds as the text that is indexed.

    Relevant evidence that no passage covers is among the chunks as one of its own, which the store never
    returns: what is missing there is not found.
    """
    documents, strange = corpus.by_id, corpus.strange
    elsewhere = {} if strange is None else _places_in(strange, stored)
    chunks: dict[str, values.Chunk] = {}
    texts: list[str] = []
    repeats: Counter[str] = Counter()
    order = {doc_id: at for at, doc_id in enumerate(documents)}
    placed = [(hit, _chunk_of(hit, documents, elsewhere)) for hit in stored.placed]
    for hit, chunk in sorted(
        placed, key=lambda pair: (order.get(pair[1].doc_id, len(order)), pair[1].start, pair[1].end)
    ):
        named = under_own_name(chunk, chunks, repeats)
        chunks[named.chunk_id] = named
        texts.append(hit.row.text)
    missed = missed_evidence(corpus, list(chunks.values()), rule)
    every = (*chunks.values(), *missed)
    texts += [chunk.text for chunk in missed]
    tokenizer = session.models.tokenizer(setting.tokenizer)
    lengths = token_lengths([chunk.text for chunk in every], tokenizer)
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    key = key_of(corpus.key, "stored", [chunk.chunk_id for chunk in every], digest)
    tokens = token_lengths(texts, tokenizer)
    read = np.minimum(tokens, tokenizer.window or tokens).astype(np.int64)
    special = np.int32(tokenizer.special)
    indexed = Indexed(tuple(texts), tokens - special, int((tokens > read).sum()), int(read.sum()), key)
    told = tell(setting, stored, corpus, session.notes)
    health = (
        health_of(lengths[: len(chunks)], tokenizer.window) | told | {"stored_evidence_missing": len(missed)}
    )
    if missed:
        session.notes.warn(
            "hits",
            f"{setting.name}: {values.counted(len(missed), 'piece')} of relevant evidence "
            f"{'is' if len(missed) == 1 else 'are'} in no passage of the collection, so no search of it can "
            "find them.",
            settings=[setting.name],
        )
    sources = tuple("" if strange and chunk.doc_id == strange.doc_id else chunk.doc_id for chunk in every)
    return Chunking(
        *(every, key, health, lengths - special, {}, indexed),
        index_tokens=indexed.index_tokens,
        sources=sources,
    )


def _places_in(strange: values.Document, stored: StoredPassages) -> dict[str, values.Chunk]:
    """The place of each text that is in no document."""
    places, begin = {}, 0
    for text in dict.fromkeys(hit.row.text for hit in stored.placed if hit.place is None):
        # texts lie in the order of all collections
        at = strange.text.find(text, begin)
        at = strange.text.find(text) if at < 0 else at
        places[text] = values.Chunk.of(strange, at, at + len(text))
        begin = at
    return places


def _chunk_of(
    hit: PlacedHit, documents: Mapping[str, values.Document], elsewhere: Mapping[str, values.Chunk]
) -> values.Chunk:
    if hit.place is None:
        return elsewhere[hit.row.text]
    return values.Chunk.of(documents[hit.place.doc_id], hit.place.start, hit.place.end)


def tell(setting: Setting, stored: StoredPassages, corpus: Corpus, notes: RunNotes) -> dict[str, Any]:
    """Say what a collection holds: passages and how they were placed, copies, and stale documents both ways.

    Returns the counts for the record.
    """
    hits = stored.placed
    present = {hit.place.doc_id for hit in hits if hit.place is not None}
    characters = np.array([len(hit.row.text) for hit in hits])
    low, middle, high = np.percentile(characters, [5, 50, 95])
    notes.reporter.note(
        f"{setting.name}: {values.counted(len(hits), 'passage')} in the collection, {middle:.0f} characters "
        f"at the median ({low:.0f} to {high:.0f} for most); "
        f"{sum(hit.place is not None for hit in hits)} placed in {values.counted(len(present), 'document')}. "
        f"Index: {stored.facts.index or 'the store does not say'}."
    )
    named = {name: named_document(name, corpus.by_id) for name in stored.names}
    odd = _Odd(
        [hit for hit in hits if hit.place is None],
        sum(hit.place is not None and hit.place.method == "page" for hit in hits),
        sum(hit.other_page for hit in hits),
        len(hits) - len({hit.row.text for hit in hits}),
        [] if stored.unnamed else [theirs for theirs, ours in named.items() if ours is None],
        [doc_id for doc_id in corpus.by_id if doc_id not in present],
    )
    for text in odd.sentences(stored):
        notes.warn("hits", f"{setting.name}: {text}", settings=[setting.name])
    return {
        "stored_passages": len(hits),
        "stored_rows": stored.facts.rows,
        **({} if stored.facts.bytes is None else {"stored_bytes": stored.facts.bytes}),
        "stored_unplaced": len(odd.unplaced),
        "stored_by_page": odd.by_page,
        "stored_other_page": odd.other_page,
        "stored_blank": stored.blank,
        "stored_copies": odd.copies,
        "stored_documents_gone": len(odd.gone),
        "stored_documents_absent": len(odd.absent),
    }


@dataclass(frozen=True, slots=True)
class _Odd:
    """What is odd about the passages of a collection.

    ``by_page`` counts those placed by page only, ``other_page`` those found on another page than their row
    says. ``gone`` documents are in the collection but not among the files, ``absent`` ones the reverse.
    """

    unplaced: list[PlacedHit]
    by_page: int
    other_page: int
    copies: int
    gone: list[str]
    absent: list[str]

    def sentences(self, stored: StoredPassages) -> Iterator[str]:
        """A warning for each of these that occurs."""
        of = values.counted(len(stored.placed), "passage")
        yield from (f"{note}." for note in stored.facts.notes)
        if self.unplaced:
            texts = "; ".join(repr(values.snippet(hit.row.text, 60)) for hit in self.unplaced[:_SHOWN])
            yield (
                f"{len(self.unplaced)} of {of} are in no document, and count as unjudged text at their ranks "
                f"({texts})."
            )
        if self.by_page:
            yield (
                f"{self.by_page} of {of} are placed by page only, as their text is not in the document: each "
                "counts as its whole page, with all labels and all text there."
            )
        if self.other_page:
            yield (
                f"{self.other_page} of {of} were found by their text on another page than their row says. "
                f"retrieve.first_page is {stored.first_page}: check that the store gives this number to the "
                "first page of a document."
            )
        if stored.blank:
            rows = values.counted(stored.blank, "row")
            yield f"{rows} of the collection without text: left out of every ranking."
        if self.copies:
            yield (
                f"{self.copies} of {of} repeat the text of another: each takes a rank, but only the first "
                "gains."
            )
        if stored.unnamed:
            yield (
                f"no document that the collection names ({values.listed(list(stored.names), _SHOWN)}) is "
                "among the files, so passages were sought in all documents. Set retrieve.document to the key "
                "that holds the name of the file."
            )
        if self.gone:
            yield (
                "documents in the collection that are not among the files: "
                f"{values.listed(self.gone, _SHOWN)}."
            )
        if self.absent:
            yield f"files without a passage in the collection: {values.listed(self.absent, _SHOWN)}."
