"""Document data for the steps of a run: text, sentences, headings, chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.models import ModelTokenizer
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.passes import vectors
from harness.running.resources import Resources
from harness.steps import (
    OUTLINE_VERSION,
    ChunkerConfig,
    Outline,
    chunk_documents,
    chunker_fingerprint,
    text_lengths,
)
from harness.store import key_of
from harness.values import (
    Chunk,
    Document,
    Heading,
    HeadingStyle,
    StageConfig,
    markdown_headings,
    numbered_headings,
)

# Raised when stored chunks are written differently.
_FORMAT = 2
_FIND = {"markdown": markdown_headings, "numbered": numbered_headings}


@dataclass(frozen=True, slots=True)
class RunSources(Resources):
    """``harness.steps.search.tools.Sources`` over a corpus; computed values are kept."""

    corpus: Corpus
    tokenizer: ModelTokenizer
    _documents: dict[str, Document] = field(default_factory=dict)
    _outlines: dict[str, Outline] = field(default_factory=dict)
    _headings: dict[tuple[str, str], list[Heading]] = field(default_factory=dict)

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""
        if not self._documents:
            self._documents.update({one.doc_id: one for one in self.corpus.documents})
        return self._documents[doc_id]

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences [N, 2]."""
        if not self._outlines:
            self._outlines.update(outlines(self.corpus, self.context))
        return self._outlines[doc_id].sentences

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Heading]:
        """Its headings in the order of the text."""
        if (doc_id, style) not in self._headings:
            self._headings[doc_id, style] = list(_FIND[style](self.document(doc_id).text))
        return self._headings[doc_id, style]

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """All chunks of another chunker."""
        if not isinstance(config, ChunkerConfig):
            raise TypeError(f"{type(config).__name__} is not a chunker")
        return cut(self.corpus, config, self.tokenizer, self.context)[0]

    def lengths(self, kind: str, key: str, texts: Sequence[str]) -> NDArray[np.int32]:
        """The tokens of texts, special tokens left out, from the cache where they were counted before."""
        stored = self.kept(kind, key)
        if stored is None:
            found = text_lengths(texts, self.tokenizer) - np.int32(self.tokenizer.special)
            stored = {"lengths": found.tolist()}
            self.keep(kind, key, stored)
        return np.array(stored["lengths"], dtype=np.int32)


def cut(
    corpus: Corpus, config: ChunkerConfig, tokenizer: ModelTokenizer, context: Context
) -> tuple[list[Chunk], str]:
    """All chunks of the corpus, and the key that identifies text, chunker and tokenizer."""
    encoder = "" if config.embed is None else context.models.encoder(config.embed).fingerprint
    key = key_of(corpus.key, chunker_fingerprint(config, tokenizer, encoder), tokenizer.fingerprint)
    place = key_of(key, _FORMAT)
    stored = context.artifacts.get("chunks", place)
    if stored is not None:
        by_id = {document.doc_id: document for document in corpus.documents}
        return [
            Chunk.of(by_id[doc_id], start, end, tuple((first, last) for first, last in before))
            for doc_id, rows in stored.items()
            for start, end, *before in rows
        ], key
    chunks = chunk_documents(corpus.documents, config, tokenizer, partial(vectors, context=context))
    spans: dict[str, list[list[Any]]] = {}
    for chunk in chunks:
        spans.setdefault(chunk.doc_id, []).append([chunk.start, chunk.end, *map(list, chunk.before)])
    context.artifacts.put("chunks", place, spans)
    return chunks, key


def outlines(corpus: Corpus, context: Context) -> dict[str, Outline]:
    """The outline of every document by its id; one file of the cache serves all chunkings."""
    key = key_of(corpus.key, OUTLINE_VERSION)
    stored = context.artifacts.get("outlines", key)
    if stored is None:
        found = {}
        with context.reporter.task("outline documents", len(corpus.documents)) as task:
            for document in corpus.documents:
                found[document.doc_id] = Outline.of(document.text)
                task.advance()
        flat = {i: [o.sentences.ravel().tolist(), o.tables.ravel().tolist()] for i, o in found.items()}
        context.artifacts.put("outlines", key, flat)
        return found
    return {
        doc_id: Outline(*(np.array(flat, dtype=np.int64).reshape(-1, 2) for flat in both))
        for doc_id, both in stored.items()
    }
