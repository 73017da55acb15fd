"""Windows of tokens, of the whole text or of every piece of recursive splitting that is still too long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.steps.chunk import ChunkerConfig, Cuts, Documents, Vectors
from harness.steps.chunk.recursive import DEFAULT_SEPARATORS, RecursiveSplitter
from harness.steps.chunk.sizes import TokenUnit, in_characters, smaller_than, tokenizer_for
from harness.values import ConfigError, Overlap, Size, Span, Tokenizer, TokenWindows, token_offsets, trim


class TokenWindowConfig(ChunkerConfig):
    """The fields of a chunker that cuts windows of tokens."""

    tokens_per_chunk: Annotated[int, Size(unit="tokens", short="tokens", again=True)] = Field(
        256,
        ge=1,
        description="The longest chunk in tokens, the special tokens that the model adds included. At most "
        "what the model reads.",
    )
    token_overlap: Annotated[int, smaller_than("tokens_per_chunk"), Overlap("tokens_per_chunk")] = Field(
        0,
        ge=0,
        description="The maximum overlap of neighbouring windows, in tokens; less than `tokens_per_chunk`.",
    )
    whole_words: bool = Field(
        True,
        description="End windows between words. A word cut in two can be more tokens when its chunk is read "
        "alone, too many for the model. false: cut at every n-th token, as published splitters do.",
    )

    def windows(self, tokenizer: Tokenizer) -> TokenWindows:
        """The windows this configuration asks for; ``tokens_per_chunk`` counts special tokens as well.

        Raises ConfigError if the window is longer than the model reads, or no longer than the overlap.
        """
        wanted, overlap = self.tokens_per_chunk, self.token_overlap
        if tokenizer.window and wanted > tokenizer.window:
            raise ConfigError(
                f"chunk: tokens_per_chunk is {wanted}, but {tokenizer.name} reads at most "
                f"{tokenizer.window} tokens (special tokens included) and would silently drop the rest. "
                f"Set tokens_per_chunk to {tokenizer.window} or less."
            )
        size = wanted - tokenizer.special
        if size <= overlap:
            raise ConfigError(
                f"chunk: tokens_per_chunk {wanted} leaves {max(size, 0)} tokens of text next to the "
                f"{tokenizer.special} special tokens of {tokenizer.name}, not more than token_overlap "
                f"({overlap}). Raise tokens_per_chunk or lower token_overlap."
            )
        return TokenWindows(size, overlap, self.whole_words)


class TokenChunkerConfig(TokenWindowConfig):
    """Windows of tokens over the whole text of a document."""

    kind: Literal["token"] = "token"
    unit: TokenUnit = Field(
        "model",
        description="Which tokens: the embedding model's (`model`), or a tiktoken encoding's (`cl100k_base`, "
        "`o200k_base`), which has no special tokens.",
    )

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The windows of each document, tokenized in batches."""
        reader = tokenizer_for(self.unit, tokenizer)
        windows = self.windows(reader)
        texts = [document.text for document in documents]
        return list(map(windows.cut, texts, token_offsets(reader, texts)))


class RecursiveTokenConfig(TokenWindowConfig):
    """Recursive character splitting followed by token splitting."""

    kind: Literal["recursive_token"] = "recursive_token"
    chunk_size: Annotated[int, Size(unit="unit", short="chunk")] = Field(
        1000, ge=1, description="The longest piece of the recursive step, in characters."
    )
    chunk_overlap: Annotated[int, smaller_than("chunk_size"), Overlap("chunk_size", shown=True)] = Field(
        0,
        ge=0,
        description="The maximum overlap of neighbouring pieces, in characters; less than `chunk_size`.",
    )
    separators: tuple[str, ...] = Field(
        DEFAULT_SEPARATORS,
        min_length=1,
        description="Where the recursive step splits, tried in this order; the empty string splits anywhere.",
    )

    @property
    def reads_model_tokens(self) -> bool:
        """Always: the windows are the embedding model's."""
        return True

    @property
    def cut_again(self) -> tuple[int, int]:
        """The sizes of both steps."""
        return self.chunk_size, self.tokens_per_chunk

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The spans of each document; their pieces are tokenized in batches."""
        reader = tokenizer_for("model", tokenizer)
        windows = self.windows(reader)
        splitter = RecursiveSplitter(in_characters, self.chunk_size, self.chunk_overlap, self.separators)
        pieces = [
            (i, trim(document.text, span) if self.strip else span)
            for i, document in enumerate(documents)
            for span in splitter.split(document.text)
        ]
        texts = [documents[i].text[start:end] for i, (start, end) in pieces]
        spans: list[list[Span]] = [[] for _ in documents]
        for (i, (base, _)), text, offsets in zip(pieces, texts, token_offsets(reader, texts), strict=True):
            spans[i] += [(base + start, base + end) for start, end in windows.cut(text, offsets)]
        return spans
