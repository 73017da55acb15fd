"""Document → chunks, by source offsets: ``chunk.text == document.text[start:end]``, always."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from harness.chunk import markdown, page, recursive, recursive_token, sentence, token
from harness.chunk.health import (
    BINS,
    HEALTH_VERSION,
    examine,
    token_lengths,
)
from harness.chunk.markdown import MarkdownConfig
from harness.chunk.outline import OUTLINE_VERSION, Outline
from harness.chunk.page import PageConfig
from harness.chunk.recursive import RecursiveConfig
from harness.chunk.recursive_token import RecursiveTokenConfig
from harness.chunk.sentence import SentenceConfig
from harness.chunk.token import TokenConfig
from harness.errors import ConfigError
from harness.kinds import Kind
from harness.text.spans import tidy
from harness.text.tokenizer import Tokenizer
from harness.types import Chunk, Document

__all__ = [
    "BINS",
    "CHUNKER_VERSION",
    "HEALTH_VERSION",
    "KINDS",
    "OUTLINE_VERSION",
    "ChunkConfig",
    "MarkdownConfig",
    "Outline",
    "PageConfig",
    "RecursiveConfig",
    "RecursiveTokenConfig",
    "SentenceConfig",
    "TokenConfig",
    "Tokenizer",
    "chunk_documents",
    "chunker_fingerprint",
    "examine",
    "token_lengths",
]

CHUNKER_VERSION = 1
"""Raised whenever the same configuration may give other chunks than before; part of every cache key."""

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "recursive_token": Kind(RecursiveTokenConfig, recursive_token.split_documents),
        "recursive": Kind(RecursiveConfig, recursive.split_documents),
        "token": Kind(TokenConfig, token.split_documents),
        "sentence": Kind(SentenceConfig, sentence.split_documents),
        "markdown": Kind(MarkdownConfig, markdown.split_documents),
        "page": Kind(PageConfig, page.split_documents),
    }
)

ChunkConfig = Annotated[
    RecursiveTokenConfig | RecursiveConfig | TokenConfig | SentenceConfig | MarkdownConfig | PageConfig,
    Field(discriminator="kind"),
]


def chunk_documents(
    documents: Sequence[Document], config: ChunkConfig, tokenizer: Tokenizer | None = None
) -> list[Chunk]:
    """Split documents into chunks, in document order and by offset; chunks of whitespace alone are left out.

    ``tokenizer`` is the embedding model's; it may be None for a configuration whose ``reads_model_tokens`` is
    false. Raises ConfigError where it is missing or where the windows asked for are longer than it reads.
    """
    spans = KINDS[config.kind].make(documents, config, tokenizer)
    return [
        Chunk.of(document, start, end)
        for document, its_spans in zip(documents, spans, strict=True)
        for start, end in tidy(document.text, its_spans, config.strip)
    ]


def chunker_fingerprint(config: ChunkConfig, tokenizer: Tokenizer | None = None) -> str:
    """A stable JSON text of all that decides the chunks of a document: for cache keys.

    The tokenizer enters by name and special tokens, and only where the chunks depend on it, so that models
    share all other chunks.
    """
    if config.reads_model_tokens and tokenizer is None:
        raise ConfigError(f"chunk: kind {config.kind} needs the tokenizer of the embedding model.")
    reader = tokenizer if config.reads_model_tokens else None
    facts = {
        "version": CHUNKER_VERSION,
        "config": config.model_dump(mode="json"),
        "tokenizer": {"name": reader.name, "special": reader.special} if reader else None,
    }
    return json.dumps(facts, sort_keys=True, ensure_ascii=False)
