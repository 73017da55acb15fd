"""English words: stop words out, the rest by their stems (Porter2)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Literal

StopWords = Literal["none", "short", "long"]


class EnglishStems:
    """Word → stem, or None for a stop word. Words are lower case."""

    def __init__(self, stop_words: StopWords) -> None:
        import Stemmer

        self._stop = frozenset(_stop_words(stop_words))
        self._stem = Stemmer.Stemmer("english").stemWord
        self._known: dict[str, str | None] = {}

    def __call__(self, word: str) -> str | None:
        """The stem of one word."""
        if word not in self._known:
            self._known[word] = None if word in self._stop else self._stem(word)
        return self._known[word]


def english_versions() -> list[str]:
    """The libraries whose lists and rules decide the terms."""
    return [f"PyStemmer {version('PyStemmer')}", f"bm25s {version('bm25s')}"]


def _stop_words(name: StopWords) -> Iterable[str]:
    """Lucene's 33 English stop words, or NLTK's 179, as bm25s ships them."""
    if name == "none":
        return ()
    from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_EN_PLUS

    words: Iterable[str] = STOPWORDS_EN if name == "short" else STOPWORDS_EN_PLUS
    return words
