"""How long a piece of text is, in characters or in tokens; and the fields that set a size."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, ValidationInfo

from harness.models import EmbedConfig
from harness.values import ConfigError, Document, Span, StageConfig, Tokenizer, load_tiktoken, token_counts

TokenUnit = Literal["model", "cl100k_base", "o200k_base"]
SizeUnit = Literal["characters", "model", "cl100k_base", "o200k_base"]
Documents = Sequence[Document]
Cuts = list[list[Span]]
"""By document the ranges that become its chunks."""
Vectors = Callable[[Sequence[str], EmbedConfig], NDArray[np.float32]]
"""The vectors of texts by a bi-encoder, float32 [texts, dimension]."""


def smaller_than(size_name: str) -> AfterValidator:
    """Checks that a field is smaller than the field ``size_name``, which is declared before it."""

    def check(value: int, info: ValidationInfo) -> int:
        size = info.data.get(size_name)
        if size is not None and value >= size:
            raise ValueError(f"{info.field_name} ({value}) must be smaller than {size_name} ({size})")
        return value

    return AfterValidator(check)


class ChunkerConfig(StageConfig):
    """The fields that every chunker has, and how it cuts.

    ``versions`` are those of the rules that it follows, by name: for cache keys.
    """

    versions: ClassVar[Mapping[str, Any]] = {}

    kind: str
    strip: bool = Field(
        True, description="Strip whitespace at both ends of a chunk (the offsets move inwards)."
    )

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
        """Whether the chunks depend on the tokenizer of the embedding model."""
        return False

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

    chunk_size: int = Field(1000, ge=1, description="The longest chunk, in `unit`.")
    unit: SizeUnit = Field(
        "characters",
        description="What sizes count: `characters`, tokens of the embedding model (`model`; its special "
        "tokens not counted), or tokens of a tiktoken encoding (`cl100k_base`, `o200k_base`).",
    )

    @property
    def reads_model_tokens(self) -> bool:
        """Whether the chunks depend on the tokenizer of the embedding model."""
        return self.unit == "model"


class OverlappingConfig(SizedConfig):
    """A sized chunker whose neighbouring chunks may share text."""

    chunk_overlap: Annotated[int, smaller_than("chunk_size")] = Field(
        0, ge=0, description="The maximum overlap of neighbouring chunks, in `unit`; less than `chunk_size`."
    )


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
        return token_counts(self._tokenizer, [text[start:end] for start, end in spans])

    def text(self, text: str) -> int:
        """The number of tokens."""
        return token_counts(self._tokenizer, [text])[0]


def measure_in(unit: SizeUnit, model: Tokenizer | None) -> SizeMeasure:
    """The measure that a unit names; raises ConfigError for `model` without a model."""
    return CharacterSizes() if unit == "characters" else TokenSizes(tokenizer_for(unit, model))


def tokenizer_for(unit: TokenUnit, model: Tokenizer | None) -> Tokenizer:
    """The tokenizer that a unit names; raises ConfigError for `model` where ``model`` is None."""
    if unit != "model":
        return load_tiktoken(unit)
    if model is None:
        raise ConfigError(
            "chunk: sizes are in tokens of the embedding model, but there is no embedding model here. "
            "Configure `embed.model`, or choose a unit that needs none (characters, cl100k_base)."
        )
    return model
