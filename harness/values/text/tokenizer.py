"""Tokenizers: where in a text each token is, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import numpy as np

from harness.values.errors import ModelError
from harness.values.text.characters import encodable
from harness.values.text.spans import Span

if TYPE_CHECKING:
    import tiktoken


class Tokenizer(Protocol):
    """The tokenizer of an encoder."""

    @property
    def name(self) -> str:
        """The name that stands for this tokenizer in cache keys and messages."""

    @property
    def window(self) -> int:
        """The longest input that the encoder reads, in tokens, special tokens included; 0 if unknown."""

    @property
    def special(self) -> int:
        """How many special tokens are added to a single text."""

    def offsets(self, texts: Sequence[str]) -> list[list[Span]]:
        """The half-open character range of every content token of every text, in one batched call.

        Nothing is truncated. A token that holds only some bytes of a character has the range of all of it.
        """


class Tiktoken:
    """A byte-pair encoding of OpenAI's ``tiktoken`` as a unit of length. It reads no window."""

    window = 0
    special = 0

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.name: str = encoding.name

    def offsets(self, texts: Sequence[str]) -> list[list[Span]]:
        """The characters that each token touches; special-token strings in the text are ordinary text."""
        return [self._offsets(text) for text in texts]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text."""
        encode = self._encoding.encode_ordinary
        return [len(encode(text)) for text in texts]

    def _offsets(self, text: str) -> list[Span]:
        tokens = self._encoding.encode_ordinary(text)
        lengths = [len(token) for token in self._encoding.decode_tokens_bytes(tokens)]
        ends = np.cumsum(lengths, dtype=np.int64)
        starts = ends - np.asarray(lengths, dtype=np.int64)
        raw = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
        # Character that holds each byte: a UTF-8 continuation byte is 0b10xxxxxx.
        character = np.cumsum((raw & 0xC0) != 0x80) - 1
        return list(zip(character[starts].tolist(), (character[ends - 1] + 1).tolist(), strict=True))


def check_tiktoken(name: str) -> None:
    """Raise ModelError where tokens of an encoding are counted and the package is missing; loads nothing."""
    if find_spec("tiktoken") is None:
        raise ModelError(
            f"Sizes in {name} tokens need the package tiktoken: pip install 'ndcg-harness[tiktoken]'."
        )


@lru_cache(maxsize=4)
def load_tiktoken(name: str) -> Tiktoken:
    """Load a tiktoken encoding by name; raises ModelError if the package or the vocabulary is missing."""
    check_tiktoken(name)
    import tiktoken

    try:
        return Tiktoken(tiktoken.get_encoding(name))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The vocabulary of {name} cannot be loaded: {error}. tiktoken downloads it once; without a "
            "network, set TIKTOKEN_CACHE_DIR to a folder that holds tiktoken's cached copy."
        ) from error


# as many texts, and about as many characters, are held as tokens at a time
_TEXTS_AT_ONCE = 1_000
_CHARACTERS_AT_ONCE = 1_000_000


def token_offsets(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[list[Span]]:
    """The offsets of each of the ``texts``, a batch of texts at a time.

    A lone surrogate, which no tokenizer takes, is read as U+FFFD; that has the same length, so the offsets
    hold for the text as it is.
    """
    for batch in text_batches(texts):
        yield from tokenizer.offsets([encodable(text) for text in batch])


def text_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in their order, in parts whose tokens fit in memory."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if len(batch) == _TEXTS_AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def token_counts(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """The number of content tokens of each text; equal texts are counted once."""
    unique = list(dict.fromkeys(texts))
    if isinstance(tokenizer, Tiktoken):
        counts = tokenizer.counts([encodable(text) for text in unique])
    else:
        counts = [len(offsets) for offsets in token_offsets(tokenizer, unique)]
    count_of = dict(zip(unique, counts, strict=True))
    return [count_of[text] for text in texts]
