"""The chunks of a setting, split at most once per text and configuration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from harness.chunk import chunk_documents, chunker_fingerprint, token_lengths
from harness.config import Setting
from harness.pipeline.context import Context
from harness.pipeline.corpus import Corpus
from harness.store import key_of
from harness.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class Chunking:
    """All chunks of one chunking; ``key`` identifies text, chunker, tokenizer; ``health`` counts tokens."""

    chunks: tuple[Chunk, ...]
    key: str
    health: dict[str, Any]


def chunk_corpus(corpus: Corpus, setting: Setting, context: Context) -> Chunking:
    """Split the corpus for a setting; warns where chunks are longer than the encoder reads."""
    tokenizer = context.encoder(setting.embed).tokenizer
    fingerprint = chunker_fingerprint(setting.chunk, tokenizer)  # type: ignore[arg-type]
    key = key_of(corpus.key, fingerprint, tokenizer.fingerprint)
    stored = context.artifacts.get("chunks", key)
    with context.timed("chunk"):
        if stored is None:
            chunks = chunk_documents(corpus.documents, setting.chunk, tokenizer)  # type: ignore[arg-type]
            health = _health(token_lengths(chunks, tokenizer), tokenizer.window)
            context.artifacts.put("chunks", key, {"spans": _spans(chunks), "health": health})
        else:
            chunks, health = _from_spans(stored["spans"], corpus.documents), stored["health"]
    if health["overlong"]:
        context.reporter.warn(
            f"{setting.name}: {health['overlong']} of {health['chunks']} chunks are longer than the "
            f"{tokenizer.window} tokens that {tokenizer.name} reads; the rest of each is not searched."
        )
    return Chunking(tuple(chunks), key, health)


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
