"""Document → chunks, by source offsets: ``chunk.text`` is the slices of ``chunk.spans`` joined, always."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.steps.chunk.sizes import ChunkerConfig, Vectors
from harness.values import Chunk, ConfigError, Document, KindAt, Kinds, Tokenizer, tidy

CHUNKER_VERSION = 1
"""Raised whenever the same configuration may give other chunks than before; part of every cache key."""

KINDS: Kinds[ChunkerConfig] = Kinds(
    "chunk",
    KindAt("recursive_token", "RecursiveTokenConfig"),
    KindAt("recursive", "RecursiveConfig"),
    KindAt("token", "TokenChunkerConfig", module="recursive_token"),
    KindAt("sentence", "SentenceConfig"),
    KindAt("markdown", "MarkdownConfig"),
    KindAt("page", "PageConfig", module="markdown"),
    KindAt("python", "PythonChunkerConfig"),
    KindAt("rows", "RowsConfig"),
    KindAt("semantic", "SemanticConfig"),
    KindAt("langchain", "LangchainConfig"),
    home=__name__,
)


def chunk_documents(
    documents: Sequence[Document],
    config: ChunkerConfig,
    tokenizer: Tokenizer | None = None,
    vectors: Vectors | None = None,
) -> list[Chunk]:
    """Split documents into chunks, in document order and by offset; chunks of whitespace alone are left out.

    ``tokenizer`` is the embedding model's; it may be None for a configuration whose ``reads_model_tokens`` is
    false, and so may ``vectors`` for one whose ``embed`` is None. Raises ConfigError if one is missing or
    where the windows asked for are longer than it reads.
    """
    chunks = []
    for document, spans in zip(documents, config.split(documents, tokenizer, vectors), strict=True):
        kept = tidy(document.text, spans, config.strip)
        before = config.shown_before(document, kept)
        chunks += [Chunk.of(document, *span, shown) for span, shown in zip(kept, before, strict=True)]
    return chunks


def chunker_fingerprint(config: ChunkerConfig, tokenizer: Tokenizer | None = None, encoder: str = "") -> str:
    """A stable JSON text of all that decides the chunks of a document: for cache keys.

    The tokenizer enters by name and special tokens, and only where the chunks depend on it, so that models
    share all other chunks. ``encoder`` is the fingerprint of the model that ``config.embed`` names.
    """
    if config.reads_model_tokens and tokenizer is None:
        raise ConfigError(f"chunk: kind {config.kind} needs the tokenizer of the embedding model.")
    reader = tokenizer if config.reads_model_tokens else None
    facts: dict[str, Any] = {
        "version": CHUNKER_VERSION,
        "config": config.model_dump(mode="json"),
        "tokenizer": {"name": reader.name, "special": reader.special} if reader else None,
    }
    facts |= config.versions
    if config.libraries:
        facts["libraries"] = config.libraries
    if config.embed is not None:
        facts["embed"] = encoder
    return json.dumps(facts, sort_keys=True, ensure_ascii=False)
