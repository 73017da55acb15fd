"""Recursive character splitting, then windows of tokens over every piece that is still too long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.steps.chunk.recursive import DEFAULT_SEPARATORS, RecursiveSplitter
from harness.steps.chunk.sizes import CharacterSizes, Cuts, Documents, Vectors, smaller_than, tokenizer_for
from harness.steps.chunk.token import TokenWindowConfig
from harness.values import Span, Tokenizer, token_offsets, trim


class RecursiveTokenConfig(TokenWindowConfig):
    """Recursive character splitting followed by token splitting."""

    kind: Literal["recursive_token"] = "recursive_token"
    chunk_size: int = Field(1000, ge=1, description="The longest piece of the recursive step, in characters.")
    chunk_overlap: Annotated[int, smaller_than("chunk_size")] = Field(
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
        splitter = RecursiveSplitter(CharacterSizes(), self.chunk_size, self.chunk_overlap, self.separators)
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
