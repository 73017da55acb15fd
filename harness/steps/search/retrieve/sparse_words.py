"""Sparse vectors of words as BM25 makes them: FastEmbed, and ours."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from harness.steps.search.analyser import Analyser
from harness.steps.search.retrieve.lexical import Saturation
from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.stop_words import LONG

# as FastEmbed weighs words unless it is told otherwise
_K1, _B, _USUAL_LENGTH, _LONGEST = 1.2, 0.75, 256.0, 40
# as `kind: bm25` does
_OUR_K1_B = 1.5, 0.75
_NO_WORD = re.compile(r"[^\w]")
LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian"),
    *("italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil"),
    "turkish",
)


@dataclass(frozen=True, slots=True)
class FastEmbedBm25:
    """Texts as FastEmbed's ``Qdrant/bm25`` encodes them: stems by Snowball, numbered by MurmurHash3.

    Rarity is the store's. Stop words are known of English alone: those of other languages are in no stored
    passage, so that a query's add nothing.
    """

    language: str = "english"

    def query(self, text: str) -> SparseVector:
        """Every stem of a query once, with the weight 1."""
        return SparseVector.of(dict.fromkeys(map(murmur_number, self._stems(text)), 1.0))

    def passage(self, text: str) -> SparseVector:
        """The stems of a passage, weighed by BM25 for passages of 256 words on average."""
        stems = self._stems(text)
        damping = _K1 * (1 - _B + _B * len(stems) / _USUAL_LENGTH)
        counts = Counter(map(murmur_number, stems))
        return SparseVector.of(
            {number: count * (_K1 + 1) / (count + damping) for number, count in counts.items()}
        )

    def _stems(self, text: str) -> list[str]:
        stem = _stemmer(self.language)
        stop = LONG if self.language == "english" else frozenset()
        words = _NO_WORD.sub(" ", text.lower()).split()
        return list(filter(None, (stem(word) for word in words if word not in stop and _is_kept(word))))


@dataclass(frozen=True, slots=True)
class HarnessBm25:
    """Texts as ``kind: bm25`` cuts them into terms, numbered by CRC-32, and weighed as it weighs them.

    Rarity is the store's.
    """

    def query(self, text: str) -> SparseVector:
        """The terms of a query, each with how often it is there."""
        return SparseVector.of(Counter(map(_crc_number, _analyser().terms(text))))

    def passages(self, texts: Sequence[str]) -> list[SparseVector]:
        """The terms of each text, with what BM25 gives for their frequency."""
        analyser = _analyser()
        terms = [analyser.terms(text) for text in texts]
        lengths = np.array([len(each) for each in terms], dtype=np.int64)
        saturation = Saturation("lucene", *_OUR_K1_B, float(lengths.mean()) if len(lengths) else 1.0)
        vectors = []
        for each, length in zip(terms, lengths, strict=True):
            counts = Counter(map(_crc_number, each))
            frequencies = np.array(list(counts.values()), dtype=np.float64)
            values = saturation(frequencies, np.full(len(counts), length)).tolist() if counts else []
            vectors.append(SparseVector(tuple(counts), tuple(values)))
        return vectors


def _analyser() -> Analyser:
    return Analyser("auto", "long", "")


def _crc_number(term: str) -> int:
    """A number for a term, the same on every machine."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def _is_kept(word: str) -> bool:
    # a lone underscore is punctuation there
    return len(word) <= _LONGEST and word != "_"


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer

    # as it was when FastEmbed took it; Snowball has another stemmer under that name since
    name = "dutch_porter" if language == "dutch" and "dutch_porter" in Stemmer.algorithms() else language
    stem: Callable[[str], str] = Stemmer.Stemmer(name).stemWord
    return stem


@cache
def murmur_number(word: str) -> int:
    """The absolute value of the signed 32-bit MurmurHash3 (x86) of a word in UTF-8, with the seed 0."""
    data = word.encode("utf-8", "surrogatepass")
    whole = len(data) & ~3
    number = 0
    for at in range(0, whole, 4):
        number ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        number = (_turned(number, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    if len(data) > whole:
        number ^= _mixed(int.from_bytes(data[whole:], "little"))
    number ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        number = ((number ^ (number >> shift)) * factor) & 0xFFFFFFFF
    number ^= number >> 16
    return abs(number - (1 << 32) if number >> 31 else number)


def _mixed(block: int) -> int:
    return (_turned((block * 0xCC9E2D51) & 0xFFFFFFFF, 15) * 0x1B873593) & 0xFFFFFFFF


def _turned(number: int, by: int) -> int:
    return ((number << by) | (number >> (32 - by))) & 0xFFFFFFFF
