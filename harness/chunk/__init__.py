"""Document → chunks, by source offsets: ``chunk.text`` is the slices of ``chunk.spans`` joined, always."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from harness.chunk import (
    langchain,
    markdown,
    page,
    python,
    recursive,
    recursive_token,
    rows,
    semantic,
    sentence,
    token,
)
from harness.chunk.health import (
    HEALTH_VERSION,
    examine,
    text_lengths,
    token_lengths,
)
from harness.chunk.langchain import LangchainConfig
from harness.chunk.markdown import MarkdownConfig
from harness.chunk.outline import OUTLINE_VERSION, Outline
from harness.chunk.page import PageConfig
from harness.chunk.python import PythonChunkerConfig
from harness.chunk.recursive import RecursiveConfig
from harness.chunk.recursive_token import RecursiveTokenConfig
from harness.chunk.rows import RowsConfig
from harness.chunk.semantic import SemanticConfig, Vectors
from harness.chunk.sentence import SentenceConfig
from harness.chunk.sizes import ChunkerConfig
from harness.chunk.token import TokenConfig
from harness.errors import ConfigError
from harness.kinds import Kind, Kinds
from harness.text.sentences import SENTENCES_VERSION
from harness.text.spans import Span, tidy
from harness.text.tokenizer import Tokenizer
from harness.types import Chunk, Document

CHUNKER_VERSION = 1
"""Raised whenever the same configuration may give other chunks than before; part of every cache key."""

Configured = TypeVar("Configured", bound=ChunkerConfig)
SplitDocuments = Callable[[Sequence[Document], Tokenizer | None, Vectors | None], list[list[Span]]]


def _with_config(
    split: Callable[[Sequence[Document], Configured, Tokenizer | None], list[list[Span]]],
) -> Callable[[Configured], SplitDocuments]:
    return lambda config: lambda documents, tokenizer, _: split(documents, config, tokenizer)


def _semantic(config: SemanticConfig) -> SplitDocuments:
    return lambda documents, tokenizer, vectors: semantic.split_documents(
        documents, config, tokenizer, vectors
    )


KINDS: Kinds[SplitDocuments] = Kinds(
    "chunk",
    Kind(RecursiveTokenConfig, _with_config(recursive_token.split_documents)),
    Kind(RecursiveConfig, _with_config(recursive.split_documents)),
    Kind(TokenConfig, _with_config(token.split_documents)),
    Kind(SentenceConfig, _with_config(sentence.split_documents)),
    Kind(MarkdownConfig, _with_config(markdown.split_documents)),
    Kind(PageConfig, _with_config(page.split_documents)),
    Kind(PythonChunkerConfig, _with_config(python.split_documents)),
    Kind(RowsConfig, _with_config(rows.split_documents)),
    Kind(SemanticConfig, _semantic),
    Kind(LangchainConfig, _with_config(langchain.split_documents)),
)


def chunk_documents(
    documents: Sequence[Document],
    config: ChunkerConfig,
    tokenizer: Tokenizer | None = None,
    vectors: Vectors | None = None,
) -> list[Chunk]:
    """Split documents into chunks, in document order and by offset; chunks of whitespace alone are left out.

    ``tokenizer`` is the embedding model's; it may be None for a configuration whose ``reads_model_tokens`` is
    false, and so may ``vectors`` for one whose ``embed`` is None. Raises ConfigError where one is missing or
    where the windows asked for are longer than it reads.
    """
    spans = KINDS.make(config)(documents, tokenizer, vectors)
    tidied = [
        tidy(document.text, its_spans, config.strip)
        for document, its_spans in zip(documents, spans, strict=True)
    ]
    return [
        Chunk.of(document, start, end, before)
        for document, its_spans in zip(documents, tidied, strict=True)
        for (start, end), before in zip(its_spans, _before(document, config, its_spans), strict=True)
    ]


def _before(document: Document, config: ChunkerConfig, spans: Sequence[Span]) -> Sequence[tuple[Span, ...]]:
    """What each chunk of a document shows before it."""
    return rows.shown_before(document, config, spans) if isinstance(config, RowsConfig) else [()] * len(spans)


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
    if isinstance(config, RowsConfig):
        facts["tables"] = OUTLINE_VERSION
    if config.reads_sentences:
        facts["sentences"] = SENTENCES_VERSION, sentence.PARTS_VERSION
    if config.libraries:
        facts["libraries"] = config.libraries
    if config.embed is not None:
        facts["embed"] = encoder
    return json.dumps(facts, sort_keys=True, ensure_ascii=False)
