"""The analysers by name: how words and CJK runs become terms."""

from __future__ import annotations

import hashlib
import logging
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from typing import Any, Literal

from harness.steps.search.analyse.words import bigrams, is_han, normalise, pieces
from harness.values import ConfigError

StopWords = Literal["none", "short", "long"]
AnalyserName = Literal["auto", "english", "plain", "cjk", "jieba"]
ANALYSER_TEXT = (
    "How text becomes terms. `plain`: lower-case Unicode words; `english`: stems of these (Porter2); `cjk`: "
    "`plain`, and every two neighbouring characters of Chinese, Japanese and Korean; `auto`: `english` for "
    "words, pairs as in `cjk`; `jieba`: `english` for words, jieba's words for Chinese, pairs for Japanese "
    "and Korean (extra `jieba`)."
)
# Raised when the same text gives other terms than before.
_VERSION = 2
_STEMMED = frozenset({"auto", "english", "jieba"})


class Analyser:
    """Text → terms, in order. The same for passages and queries."""

    def __init__(self, name: AnalyserName, stop_words: StopWords, dictionary: str = "") -> None:
        """``dictionary`` is the text of a user dictionary of jieba."""
        self._name, self._stop_words, self._dictionary = name, stop_words, dictionary

    @property
    def identity(self) -> list[Any]:
        """Everything besides the text that decides the terms."""
        facts: list[Any] = [self._name, _VERSION, unicodedata.unidata_version]
        if self._name in _STEMMED:
            facts += [self._stop_words, f"PyStemmer {version('PyStemmer')}", f"bm25s {version('bm25s')}"]
        if self._name == "jieba":
            facts += [_jieba_version(), hashlib.sha256(self._dictionary.encode()).hexdigest()]
        return facts

    def terms(self, text: str) -> list[str]:
        """The terms of a text; none for one without words, or of stop words alone."""
        of_word, of_run = self._made
        found: list[str] = []
        for piece, is_run in pieces(normalise(text)):
            if is_run:
                found += of_run(piece)
            elif (term := of_word(piece)) is not None:
                found.append(term)
        return found

    @cached_property
    def _made(self) -> tuple[Callable[[str], str | None], Callable[[str], list[str]]]:
        word = _english_stems(self._stop_words) if self._name in _STEMMED else _as_it_is
        if self._name == "jieba":
            cut = _jieba_cutter(self._dictionary)
            # jieba knows no Japanese and no Korean
            return word, lambda run: cut(run) if is_han(run) else bigrams(run)
        return word, bigrams if self._name in {"auto", "cjk"} else _whole


def _as_it_is(word: str) -> str:
    return word


def _whole(run: str) -> list[str]:
    return [run]


def _english_stems(stop_words: StopWords) -> Callable[[str], str | None]:
    """Lower-case word → its stem (Porter2), or None for a stop word."""
    import Stemmer

    stop, stem = frozenset(_stop_words(stop_words)), Stemmer.Stemmer("english").stemWord
    return cache(lambda word: None if word in stop else stem(word))


def _stop_words(name: StopWords) -> Iterable[str]:
    """Lucene's 33 English stop words, or NLTK's 179, as bm25s ships them."""
    if name == "none":
        return ()
    from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_EN_PLUS

    words: Iterable[str] = STOPWORDS_EN if name == "short" else STOPWORDS_EN_PLUS
    return words


def _jieba_version() -> str:
    """The installed version; raises ConfigError if there is none."""
    try:
        return version("jieba")
    except PackageNotFoundError:
        raise ConfigError(
            "The analyser jieba is not installed. Install it: pip install 'ndcg-harness[jieba]', or set "
            "analyser: auto, which needs no dictionary."
        ) from None


def _jieba_cutter(dictionary: str) -> Callable[[str], list[str]]:
    """A function that cuts a run into words; ``dictionary`` holds lines `word [frequency] [tag]`.

    In search mode, long words are cut into the words within them too.
    """
    _jieba_version()
    import jieba

    jieba.setLogLevel(logging.WARNING)
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    if dictionary:
        tokenizer.load_userdict(StringIO(dictionary))
    return lambda run: [word for word in tokenizer.cut_for_search(run) if word.strip()]
