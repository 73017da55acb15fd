"""The analysers by name: what becomes of words, and what of CJK runs."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any, Literal

from harness.search.analyse.english import EnglishStems, StopWords, english_versions
from harness.search.analyse.jieba_words import jieba_cutter, jieba_version
from harness.search.analyse.words import bigrams, is_han, normalise, pieces

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
        self._word: Callable[[str], str | None] | None = None
        self._run: Callable[[str], list[str]] | None = None

    @property
    def identity(self) -> list[Any]:
        """All that decides the terms besides the text."""
        facts: list[Any] = [self._name, _VERSION, unicodedata.unidata_version]
        if self._name in _STEMMED:
            facts += [self._stop_words, *english_versions()]
        if self._name == "jieba":
            facts += [jieba_version(), hashlib.sha256(self._dictionary.encode()).hexdigest()]
        return facts

    def terms(self, text: str) -> list[str]:
        """The terms of a text; none for one without words, or of stop words alone."""
        if self._word is None or self._run is None:
            self._word, self._run = self._make()
        found: list[str] = []
        for piece, is_run in pieces(normalise(text)):
            if is_run:
                found += self._run(piece)
            elif (term := self._word(piece)) is not None:
                found.append(term)
        return found

    def _make(self) -> tuple[Callable[[str], str | None], Callable[[str], list[str]]]:
        word = EnglishStems(self._stop_words) if self._name in _STEMMED else _as_it_is
        if self._name == "jieba":
            cut = jieba_cutter(self._dictionary)
            # jieba knows no Japanese and no Korean
            return word, lambda run: cut(run) if is_han(run) else bigrams(run)
        return word, bigrams if self._name in {"auto", "cjk"} else _whole


def _as_it_is(word: str) -> str:
    return word


def _whole(run: str) -> list[str]:
    return [run]
