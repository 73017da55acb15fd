"""Existing collections: their passages as the chunks of the settings that search them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np

from harness import values
from harness.comparison import sentence_of
from harness.data import PlacedHit
from harness.measures import Projection
from harness.running.chunks import Chunking, Indexed, health_of
from harness.running.config.models import BenchConfig, Setting
from harness.running.corpora import Corpora
from harness.running.corpus import Corpus, texts_outside
from harness.running.hits.scoring_of_hits import missed_evidence, text_elsewhere, under_own_name
from harness.running.note_wordings import STORED
from harness.running.notes import RunNotes
from harness.running.passage_files import are_documents
from harness.running.pipeline import collection_searched
from harness.running.run_models import RunModels
from harness.running.session import Session
from harness.running.stored_changes import RowsRead
from harness.running.stored_oddities import tell
from harness.running.stored_passages import StoredPassages, read_passages, rows_passing
from harness.steps import token_lengths
from harness.store import key_of
from harness.values import worded


def with_existing(corpora: Corpora, config: BenchConfig, session: Session) -> Corpora:
    """Read every collection that settings search as it is; raises HarnessError where one cannot be read.

    Passages that are in no document become a document of their own, whose text nobody has judged. The chunks
    of each such setting are made by what ``context.prepared`` keeps for it.
    """
    existing = [
        (setting, retrieve)
        for setting in config.settings
        if (retrieve := collection_searched(setting)) is not None
    ]
    if corpora.parsers:
        raise values.ConfigError(
            f"{config.name}: an existing collection is placed in one text of each document, but "
            "the settings use several parsers. Keep one under parse."
        )
    corpus = corpora.united
    # read where a passage names no document, and once for all collections
    outside = cache(partial(texts_outside, config, corpus, session.document_reader))
    read: dict[str, StoredPassages] = {}
    stored: dict[str, StoredPassages] = {}
    with session.notes.timed("stores"):
        for setting, retrieve in existing:
            key = repr([retrieve.where, retrieve.collection, retrieve.keys])
            if key not in read:
                reading = worded(
                    STORED, "stored.reading", collection=retrieve.collection, store=retrieve.where
                )
                session.notes.reporter.note(reading)
                read[key] = read_passages(retrieve, corpus, outside, are_documents(config, retrieve))
            stored[setting.name] = replace(read[key], passing=rows_passing(retrieve))
            collection = f"{retrieve.where}, {retrieve.collection}"
            rows_read = session.prepared.rows_read.setdefault(
                collection, RowsRead(retrieve, read[key].digests)
            )
            rows_read.settings.append(setting.name)
    strange, _ = text_elsewhere([[each.hits] for each in stored.values()], corpus.by_id)
    corpus = replace(corpus, strange=strange)
    by_setting = dict.fromkeys(corpora.by_setting, corpus)
    for setting, _ in existing:
        session.prepared.stored[setting.name] = partial(
            stored_chunking,
            *(setting, stored[setting.name], corpus, config.relevance.projection),
            *(session.models, session.notes),
        )
    return replace(corpora, united=corpus, by_setting=by_setting)


def stored_chunking(
    setting: Setting,
    stored: StoredPassages,
    corpus: Corpus,
    rule: Projection,
    models: RunModels,
    notes: RunNotes,
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
    placed = [(hit, _chunk_of(hit, documents, elsewhere)) for hit in stored.hits]
    for hit, chunk in sorted(
        placed, key=lambda pair: (order.get(pair[1].doc_id, len(order)), pair[1].start, pair[1].end)
    ):
        named = under_own_name(chunk, chunks, repeats)
        chunks[named.chunk_id] = named
        texts.append(hit.row.text)
    missed = missed_evidence(corpus, list(chunks.values()), rule)
    every = (*chunks.values(), *missed)
    texts += [chunk.text for chunk in missed]
    tokenizer = models.tokenizer(setting.tokenizer)
    lengths = token_lengths([chunk.text for chunk in every], tokenizer)
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    key = key_of(corpus.key, "stored", [chunk.chunk_id for chunk in every], digest)
    tokens = token_lengths(texts, tokenizer)
    read = np.minimum(tokens, tokenizer.window or tokens).astype(np.int64)
    special = np.int32(tokenizer.special)
    indexed = Indexed(tuple(texts), tokens - special, int((tokens > read).sum()), int(read.sum()), key)
    told = tell(setting, stored, corpus, notes)
    health = (
        health_of(lengths[: len(chunks)], tokenizer.window) | told | {"stored_evidence_missing": len(missed)}
    )
    if missed:
        notes.warn(
            sentence_of("hits.missed", setting=setting.name, count=len(missed)), settings=[setting.name]
        )
    sources = tuple("" if strange and chunk.doc_id == strange.doc_id else chunk.doc_id for chunk in every)
    return Chunking(
        *(every, key, health, lengths - special, {}, indexed),
        index_tokens=indexed.index_tokens,
        sources=sources,
        outside=stored.outside,
    )


def _places_in(strange: values.Document, stored: StoredPassages) -> dict[str, values.Chunk]:
    """The place of each text that is in no document."""
    places, begin = {}, 0
    for text in dict.fromkeys(hit.row.text for hit in stored.hits if hit.place is None):
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
