"""Document → chunks, by source offsets: ``chunk.text`` is the slices of ``chunk.spans`` joined, always."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import EmbedConfig
from harness.steps.chunk.sizes import SizeUnit, smaller_than
from harness.values import (
    Chunk,
    ConfigError,
    Document,
    HarnessError,
    KindAt,
    Kinds,
    Overlap,
    Size,
    Span,
    StageConfig,
    Tokenizer,
    check_tiktoken,
    quoted,
    tidy,
)

Documents = Sequence[Document]
Cuts = list[list[Span]]
"""By document the ranges that become its chunks."""
Vectors = Callable[[Sequence[str], EmbedConfig], NDArray[np.float32]]
"""The vectors of texts by a bi-encoder, float32 [texts, dimension]."""


class ChunkerConfig(StageConfig):
    """The fields that every chunker has, and how it cuts.

    ``versions`` are those of the rules that it follows, by name: for cache keys.
    """

    versions: ClassVar[Mapping[str, Any]] = {}

    kind: str
    strip: bool = Field(
        True, description="Strip whitespace at both ends of a chunk (the offsets move inwards)."
    )

    def check_ready(self) -> None:
        """Raise ModelError where sizes count the tokens of a package that is missing."""
        super().check_ready()
        unit = getattr(self, "unit", "characters")
        if unit not in ("characters", "model"):
            check_tiktoken(unit)

    @abstractmethod
    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The ranges of each document that become chunks, blanks at their ends included.

        ``tokenizer`` is the embedding model's, None if ``reads_model_tokens`` is false; ``vectors`` None
        if ``embed`` is. Raises ConfigError if one is missing.
        """

    def shown_before(self, document: Document, spans: Sequence[Span]) -> Sequence[tuple[Span, ...]]:
        """The ranges of the document shown before each chunk, such as the heading of its table."""
        return [()] * len(spans)

    @property
    def reads_model_tokens(self) -> bool:
        """Whether the chunks depend on the tokenizer of the embedding model, as where it is their `unit`."""
        return getattr(self, "unit", None) == "model"

    @property
    def cut_again(self) -> tuple[int, int] | None:
        """The characters of a piece and the tokens of the windows that cut it again, where two sizes work."""
        return None

    @property
    def embed(self) -> EmbedConfig | None:
        """The bi-encoder that it cuts by, if any."""
        return None

    @property
    def libraries(self) -> dict[str, str]:
        """The versions of libraries that decide the chunks, by name."""
        return {}


class SizedConfig(ChunkerConfig):
    """A chunker whose sizes can be given in characters or tokens."""

    chunk_size: Annotated[int, Size(unit="unit", short="chunk")] = Field(
        1000, ge=1, description="The longest chunk, in `unit`."
    )
    unit: SizeUnit = Field(
        "characters",
        description="What sizes count: `characters`, tokens of the embedding model (`model`; its special "
        "tokens not counted), or tokens of a tiktoken encoding (`cl100k_base`, `o200k_base`).",
    )


class OverlappingConfig(SizedConfig):
    """A sized chunker whose neighbouring chunks may share text."""

    chunk_overlap: Annotated[int, smaller_than("chunk_size"), Overlap("chunk_size", shown=True)] = Field(
        0, ge=0, description="The maximum overlap of neighbouring chunks, in `unit`; less than `chunk_size`."
    )


CHUNKER_VERSION = 1
"""Raised whenever the same configuration may give other chunks than before; part of every cache key."""

KINDS: Kinds[ChunkerConfig] = Kinds(
    "chunk",
    KindAt("recursive_token", "RecursiveTokenConfig", words="recursive chunks in token windows"),
    KindAt("recursive", "RecursiveConfig", words="recursive chunks"),
    KindAt("token", "TokenChunkerConfig", module="recursive_token", words="token windows"),
    KindAt("sentence", "SentenceConfig", words="whole sentences"),
    KindAt("markdown", "MarkdownConfig", words="sections by heading"),
    KindAt("page", "PageConfig", module="markdown", words="whole pages"),
    KindAt("python", "PythonChunkerConfig", words="own chunker"),
    KindAt("rows", "RowsConfig", words="table rows"),
    KindAt("semantic", "SemanticConfig", words="chunks by meaning"),
    KindAt("langchain", "LangchainConfig", words="LangChain chunks"),
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
    where the windows asked for are longer than it reads, HarnessError for a range that the document does not
    have.
    """
    chunks = []
    for document, cuts in zip(documents, config.split(documents, tokenizer, vectors), strict=True):
        spans = list(cuts)
        for span in spans:
            whole = all(type(offset) is int for offset in span) and len(span) == 2
            if not (whole and 0 <= span[0] <= span[1] <= len(document.text)):
                raise HarnessError(
                    f"chunk: kind {config.kind} returned {quoted(span, 60)} for {document.doc_id}: it must "
                    f"be (start, end), whole numbers from 0 to {len(document.text)}. Mend the chunker."
                )
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
