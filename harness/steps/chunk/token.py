"""Windows of a number of tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.steps.chunk.sizes import (
    ChunkerConfig,
    Cuts,
    Documents,
    TokenUnit,
    Vectors,
    smaller_than,
    tokenizer_for,
)
from harness.values import ConfigError, Tokenizer, TokenWindows, token_offsets


class TokenWindowConfig(ChunkerConfig):
    """The fields of a chunker that cuts windows of tokens."""

    tokens_per_chunk: int = Field(
        256,
        ge=1,
        description="The longest chunk in tokens, the special tokens that the model adds included. At most "
        "what the model reads.",
    )
    token_overlap: Annotated[int, smaller_than("tokens_per_chunk")] = Field(
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

    @property
    def reads_model_tokens(self) -> bool:
        """Whether the chunks depend on the tokenizer of the embedding model."""
        return self.unit == "model"

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The windows of each document, tokenized in batches."""
        reader = tokenizer_for(self.unit, tokenizer)
        windows = self.windows(reader)
        texts = [document.text for document in documents]
        return list(map(windows.cut, texts, token_offsets(reader, texts)))
