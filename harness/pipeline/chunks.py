"""The chunks of a setting, split at most once per text and configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.chunk import (
    HEALTH_VERSION,
    OUTLINE_VERSION,
    Outline,
    Tokenizer,
    chunk_documents,
    chunker_fingerprint,
    examine,
    token_lengths,
)
from harness.config import Setting
from harness.kinds import StageConfig
from harness.pipeline.context import Context
from harness.pipeline.corpus import Corpus
from harness.report import ChunkRow
from harness.search import Passages
from harness.store import key_of
from harness.types import Chunk, Document

_FULL = 0.9
# A few chunks are cut under any window, such as tables, whose figures take many tokens.
_MOST_CAPPED = 0.25


@dataclass(frozen=True, slots=True)
class Chunking:
    """All chunks of one chunking; ``key`` identifies text, chunker, tokenizer; ``health`` counts tokens.

    ``tokens`` [chunks] is the length of each in tokens of the encoder, special tokens left out; ``quality``
    holds the columns of ``ChunkHealth``, none where there are no chunks.
    """

    chunks: tuple[Chunk, ...]
    key: str
    health: dict[str, Any]
    tokens: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32), compare=False)
    quality: dict[str, Any] = field(default_factory=dict)

    @property
    def passages(self) -> Passages:
        """The chunks as search steps see them."""
        return Passages(
            ids=tuple(chunk.chunk_id for chunk in self.chunks),
            texts=tuple(chunk.text for chunk in self.chunks),
            lengths=tuple(len(chunk.text) for chunk in self.chunks),
            key=self.key,
        )


def chunk_corpus(corpus: Corpus, setting: Setting, context: Context) -> Chunking:
    """Split the corpus for a setting; warns where chunks are longer than the encoder reads."""
    tokenizer = context.tokenizer(setting.tokenizer)
    fingerprint = chunker_fingerprint(setting.chunk, tokenizer)
    key = key_of(corpus.key, fingerprint, tokenizer.fingerprint)
    stored = context.artifacts.get("chunks", key)
    with context.timed("chunk"):
        if stored is None:
            chunks = chunk_documents(corpus.documents, setting.chunk, tokenizer)
            context.artifacts.put("chunks", key, {"spans": _spans(chunks)})
        else:
            chunks = _from_spans(stored["spans"], corpus.documents)
        lengths, quality = _examined(chunks, key, tokenizer, corpus, context)
    health = _health(lengths, tokenizer.window)
    if health["overlong"]:
        context.reporter.warn(
            f"{setting.name}: {health['overlong']} of {health['chunks']} chunks are longer than the "
            f"{tokenizer.window} tokens that {tokenizer.name} reads; the rest of each is not searched."
        )
    capped = _capped(chunks, lengths, setting.chunk)
    if chunks and capped.share >= _MOST_CAPPED:
        context.reporter.warn(
            f"{setting.name}: {capped.share:.0%} of its chunks end at the window of {capped.window} tokens, "
            f"not at chunk_size {capped.size}: the median chunk has {capped.median:,.0f} characters. Compare "
            "it by that length, or take a smaller chunk_size or a model that reads more."
        )
    return Chunking(tuple(chunks), key, health, lengths - np.int32(tokenizer.special), quality)


@dataclass(frozen=True, slots=True)
class _Capped:
    """The ``share`` of chunks that a ``window`` in tokens has cut shorter than ``size`` characters."""

    share: float
    window: int
    size: int
    median: float


def _capped(chunks: Sequence[Chunk], lengths: NDArray[np.int32], config: StageConfig) -> _Capped:
    """What the window does to a chunker with a size in characters; a share of 0 for all other chunkers.

    A chunk counts where it fills nine tenths of the window, and less than that of the size.
    """
    window, size = getattr(config, "tokens_per_chunk", 0), getattr(config, "chunk_size", 0)
    characters = np.array([chunk.end - chunk.start for chunk in chunks], dtype=np.int64)
    if not (window and size and len(chunks)):
        return _Capped(0.0, window, size, 0.0)
    cut = (lengths >= _FULL * window) & (characters < _FULL * size)
    return _Capped(float(cut.mean()), window, size, float(np.median(characters)))


def chunk_rows(searched: Iterable[tuple[str, Chunking]]) -> list[ChunkRow]:
    """The health of every setting's chunks; none for a setting without chunks."""
    return [ChunkRow(name, **chunking.quality) for name, chunking in searched if chunking.quality]


def _examined(
    chunks: list[Chunk], key: str, tokenizer: Tokenizer, corpus: Corpus, context: Context
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """The lengths of the chunks in tokens and their ``ChunkHealth``, examined at most once per chunking."""
    examined_key = key_of(key, HEALTH_VERSION, OUTLINE_VERSION)
    stored = context.artifacts.get("chunk_health", examined_key)
    if stored is None:
        lengths = token_lengths(chunks, tokenizer)
        health = examine(chunks, lengths, outlines(corpus, context), tokenizer.window)
        stored = {"lengths": lengths.tolist(), "quality": asdict(health) if health else {}}
        context.artifacts.put("chunk_health", examined_key, stored)
    return np.array(stored["lengths"], dtype=np.int32), stored["quality"]


def outlines(corpus: Corpus, context: Context) -> dict[str, Outline]:
    """Sentences and tables of every document, found at most once per text; one file serves all chunkings."""
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


def _health(lengths: Any, window: int) -> dict[str, Any]:
    if not len(lengths):
        return {"chunks": 0, "overlong": 0, "window": window}
    low, middle, high = (int(q) for q in np.percentile(lengths, [5, 50, 95]))
    return {
        "chunks": len(lengths),
        "overlong": int(np.sum(lengths > window)) if window else 0,
        "window": window,
        "tokens": int(np.sum(lengths)),
        "tokens_p5": low,
        "tokens_p50": middle,
        "tokens_p95": high,
        "tokens_max": int(np.max(lengths)),
    }


def _spans(chunks: list[Chunk]) -> list[list[Any]]:
    """Chunks as [doc_id, start, end, start, end, …], one list a document."""
    rows: dict[str, list[Any]] = {}
    for chunk in chunks:
        rows.setdefault(chunk.doc_id, [chunk.doc_id]).extend((chunk.start, chunk.end))
    return list(rows.values())


def _from_spans(rows: list[list[Any]], documents: list[Document]) -> list[Chunk]:
    by_id = {document.doc_id: document for document in documents}
    return [
        Chunk.of(by_id[doc_id], start, end)
        for doc_id, *flat in rows
        for start, end in list(pairwise(flat))[::2]
    ]
