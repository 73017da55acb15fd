"""Sizes of pieces of text: in characters, or in tokens of a model or of a tiktoken encoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import AfterValidator, ValidationInfo

from harness import values
from harness.values import ConfigError, Span, Tokenizer

TokenUnit = Literal["model", "cl100k_base", "o200k_base"]
SizeUnit = Literal["characters", "model", "cl100k_base", "o200k_base"]


def smaller_than(size_name: str) -> AfterValidator:
    """Checks that a field is smaller than the field ``size_name``, which is declared before it."""

    def check(value: int, info: ValidationInfo) -> int:
        size = info.data.get(size_name)
        if size is not None and value >= size:
            raise ValueError(f"{info.field_name} ({value}) must be smaller than {size_name} ({size})")
        return value

    return AfterValidator(check)


class SizeMeasure(Protocol):
    """Measures pieces of a text."""

    def spans(self, text: str, spans: Sequence[Span]) -> list[int]:
        """The length of each span of ``text``, each measured on its own."""

    def text(self, text: str) -> int:
        """The length of a whole text."""


class CharacterSizes:
    """Length in characters (Unicode code points)."""

    def spans(self, text: str, spans: Sequence[Span]) -> list[int]:
        """The number of characters of each span."""
        return [end - start for start, end in spans]

    def text(self, text: str) -> int:
        """The number of characters."""
        return len(text)


class TokenSizes:
    """Length in tokens of a tokenizer, special tokens not counted."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def spans(self, text: str, spans: Sequence[Span]) -> list[int]:
        """The number of tokens of each span, tokenized in batches."""
        return values.token_counts(self._tokenizer, [text[start:end] for start, end in spans])

    def text(self, text: str) -> int:
        """The number of tokens."""
        return values.token_counts(self._tokenizer, [text])[0]


def measure_in(unit: SizeUnit, model: Tokenizer | None) -> SizeMeasure:
    """The measure that a unit names; raises ConfigError for `model` without a model."""
    return CharacterSizes() if unit == "characters" else TokenSizes(tokenizer_for(unit, model))


def tokenizer_for(unit: TokenUnit, model: Tokenizer | None) -> Tokenizer:
    """The tokenizer that a unit names; raises ConfigError for `model` where ``model`` is None."""
    if unit != "model":
        return values.load_tiktoken(unit)
    if model is None:
        raise ConfigError(
            "chunk: sizes are in tokens of the embedding model, but there is no embedding model here. "
            "Configure `embed.model`, or choose a unit that needs none (characters, cl100k_base)."
        )
    return model
