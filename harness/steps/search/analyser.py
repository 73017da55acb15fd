"""The analysers by name: text → Unicode words and CJK runs → terms; and synonyms in Solr's format."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError
from io import StringIO
from typing import Any, Literal

from harness.steps.search import stop_words
from harness.values import ConfigError, installed_version, text_sha256

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
STEMMED = frozenset({"auto", "english", "jieba"})


class Analyser:
    """Text → terms, in order. The same for passages and queries."""

    def __init__(self, name: AnalyserName, length: StopWords, dictionary: str = "") -> None:
        """``dictionary`` is the text of a user dictionary of jieba."""
        self._name, self._length, self._dictionary = name, length, dictionary

    @property
    def identity(self) -> list[Any]:
        """Everything besides the text that decides the terms."""
        facts: list[Any] = [self._name, _VERSION, unicodedata.unidata_version]
        if self._name in STEMMED:
            facts += [
                self._length,
                f"PyStemmer {installed_version('PyStemmer')}",
                stop_words.ORIGIN,
            ]
        if self._name == "jieba":
            facts += [_jieba_version(), text_sha256(self._dictionary)]
        return facts

    def terms(self, text: str) -> list[str]:
        """The terms of a text; none for one without words, or of stop words alone."""
        of_word, of_run = self._made
        text = normalise(text)
        if _PLAIN.fullmatch(text):
            return [term for word in _PLAIN_WORD.findall(text) if (term := of_word(word)) is not None]
        terms: list[str] = []
        for piece, is_run in pieces(text):
            if is_run:
                terms += of_run(piece)
            elif (term := of_word(piece)) is not None:
                terms.append(term)
        return terms

    @cached_property
    def _made(self) -> tuple[Callable[[str], str | None], Callable[[str], list[str]]]:
        word = _english_stems(self._length) if self._name in STEMMED else str
        if self._name == "jieba":
            cut = _jieba_cutter(self._dictionary)
            # jieba knows no kana and no Hangul
            return word, lambda run: cut(run) if _HAN.fullmatch(run) else bigrams(run)
        return word, bigrams if self._name in {"auto", "cjk"} else lambda run: [run]


def _english_stems(length: StopWords) -> Callable[[str], str | None]:
    """Lower-case word → its stem (Porter2), or None for a stop word."""
    import Stemmer

    words: dict[StopWords, frozenset[str]] = {
        "none": frozenset(),
        "short": stop_words.SHORT,
        "long": stop_words.LONG,
    }
    stop = words[length]
    stem = Stemmer.Stemmer("english").stemWord
    return cache(lambda word: None if word in stop else stem(word))


def _jieba_version() -> str:
    """The installed version; raises ConfigError if there is none."""
    try:
        return installed_version("jieba")
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


# Han with its extensions and iteration marks, kana, Hangul. What NFKC unfolds need not be named.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HAN = re.compile("[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
# A line break within a run is the end of a line, not of a word; Korean, which has blanks, is left alone.
_UNSPACED = "\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_WRAP = re.compile(rf"(?<=[{_UNSPACED}])[^\S\n]*\n[^\S\n]*(?=[{_UNSPACED}])")
# NFKC would make a comma of these, and one number of two: 2024，2025.
_ASIDE = str.maketrans({"，": " ", "：": " ", "；": " ", "’": "'", "\u00ad": None, "\u200b": None})


def normalise(text: str) -> str:
    """Compatibility forms unified (NFKC), lower case, soft hyphens out, wrapped lines of Chinese joined."""
    if text.isascii():
        return text.lower()
    return _WRAP.sub("", unicodedata.normalize("NFKC", text.translate(_ASIDE)).lower())


# Most text has no other letters. There, a plain pattern finds the same words in a quarter of the time.
_PLAIN = re.compile("[\x00-\x7f\xa3\xa9\xae\xb0\xb1\xb7\xd7\xf7\u2010-\u2027\u2030-\u205e\u20ac]*")
_PLAIN_WORD = re.compile("[a-z0-9]+(?:(?<=[0-9])[.,](?=[0-9])[a-z0-9]+|'(?=[a-z])[a-z0-9]+)*(?:(?<=[0-9])%)?")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The words and CJK runs of a normalised text in order; the flag says which of them are runs.

    A number with its separators and per cent sign is one word (``96,773``, ``4.2%``), and so are a word with
    an apostrophe within and letters or digits that touch (``q3``, ``10k``).
    """
    for match in _pattern().finditer(text):
        yield match.group(), match.lastgroup == "cjk"


@cache
def _pattern() -> re.Pattern[str]:
    letter = rf"(?:[^\W_{_CJK}]|[{_marks()}])"
    word = rf"{letter}+(?:(?<=\d)[.,](?=\d){letter}+|'(?=[^\W\d_]){letter}+)*(?:(?<=\d)%)?"
    return re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>{word})")


def _marks() -> str:
    """The marks that belong to the letter before them, such as the vowels of Devanagari, as ranges."""
    marks = [i for i in range(0x300, 0xFE00) if unicodedata.category(chr(i)).startswith("M")]
    cjk = re.compile(f"[{_CJK}]")
    return "".join(chr(i) for i in marks if not cjk.match(chr(i)))


def bigrams(run: str) -> list[str]:
    """All pairs of neighbours in a run of CJK characters; a character that is alone is a term.

    Needs no dictionary and misses no word: see Nie and Ren (1999) on bigrams against word segmentation.
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


Terms = tuple[str, ...]
_ARROW = re.compile(r"(?<!\\)=>")
_COMMA = re.compile(r"(?<!\\),")


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Replacements of sequences of terms: for each, the alternatives that are all searched for.

    Two kinds of lines, `#` begins a comment and a backslash keeps `,` and `=>` from their meaning:

    - ``a, b => c, d``: a and b are each replaced by c and d;
    - ``a, b, c``: each of them asks for all three.

    Entries of several words match where their terms follow one another; the longest match wins. What several
    lines say of one entry adds up, as in Solr.
    """

    rules: Mapping[Terms, tuple[Terms, ...]]

    @classmethod
    def parse(cls, text: str, name: str, terms: Callable[[str], list[str]]) -> Synonyms:
        """The rules in the text of a file of that name, each entry by its ``terms``.

        Raises ConfigError if a line makes no rule.
        """
        rules: dict[Terms, list[Terms]] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            for left, right in _pairs(line, terms, f"{name}, line {number}"):
                expansions = rules.setdefault(left, [])
                expansions += [terms_of_entry for terms_of_entry in right if terms_of_entry not in expansions]
        return cls({left: tuple(right) for left, right in rules.items()})

    @property
    def identity(self) -> list[list[list[str]]]:
        """The rules as JSON-able facts."""
        return [[list(left), *map(list, right)] for left, right in self.rules.items()]

    def expand(self, query_terms: Sequence[str]) -> list[str]:
        """The terms of a query with its synonyms; a term that two alternatives share is asked for once."""
        if not self.rules:
            return list(query_terms)
        longest = max(map(len, self.rules))
        expanded: list[str] = []
        at = 0
        while at < len(query_terms):
            for size in range(min(longest, len(query_terms) - at), 0, -1):
                match = self.rules.get(tuple(query_terms[at : at + size]))
                if match is not None:
                    expanded += dict.fromkeys(term for synonym in match for term in synonym)
                    at += size
                    break
            else:
                expanded.append(query_terms[at])
                at += 1
        return expanded


def _pairs(
    line: str, terms: Callable[[str], list[str]], where: str
) -> Iterator[tuple[Terms, tuple[Terms, ...]]]:
    sides = [_entries(side, terms, where) for side in _ARROW.split(line)]
    if len(sides) > 2:
        raise ConfigError(f"synonyms: {where}: more than one => in a line.")
    for left in sides[0]:
        yield left, sides[-1]


def _entries(side: str, terms: Callable[[str], list[str]], where: str) -> tuple[Terms, ...]:
    entries = []
    for text in _COMMA.split(side):
        entry = tuple(terms(re.sub(r"\\(.)", r"\1", text)))
        if not entry:
            raise ConfigError(
                f"synonyms: {where}: {text.strip()!r} has no terms once it is analysed. Is it empty, or a "
                "stop word?"
            )
        entries.append(entry)
    return tuple(entries)
