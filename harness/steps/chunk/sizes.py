"""Sizes of pieces of text: in characters, or in tokens of a model or of a tiktoken encoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

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
            raise ValueError(f"this should be smaller than {size_name}, which is {size}")
        return value

    return AfterValidator(check)


SizeMeasure = Callable[[str, Sequence[Span]], list[int]]
"""The length of each span of a text, each measured on its own."""


def in_characters(text: str, spans: Sequence[Span]) -> list[int]:
    """The number of characters (Unicode code points) of each span."""
    return [end - start for start, end in spans]


def measure_in(unit: SizeUnit, model: Tokenizer | None) -> SizeMeasure:
    """The measure that a unit names; raises ConfigError for `model` without a model.

    Special tokens are not counted; spans are tokenized in batches.
    """
    if unit == "characters":
        return in_characters
    tokenizer = tokenizer_for(unit, model)
    return lambda text, spans: values.token_counts(tokenizer, [text[start:end] for start, end in spans])


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
