"""Find the names of a list in a question, in any spacing, hyphenation or case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# a letter of Chinese or Japanese is a word, as no blank parts them
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|&"
)
_ACCENTS = re.compile(r"[\u0300-\u036f]")
# US, GE, IT: in lower case they are words
_SHORT = re.compile(r"[A-Z]{1,3}")


@dataclass(frozen=True, slots=True)
class Names:
    """Names and their values: ``meant`` maps a name, its letters run together, to the values it stands for.

    ``capitals`` are the names that count in capitals alone; ``longest`` is the most words that any name may
    be written in.
    """

    meant: Mapping[str, tuple[str, ...]]
    capitals: frozenset[str]
    longest: int

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]]) -> Names:
        """From pairs of a name and the value it stands for."""
        meant: dict[str, tuple[str, ...]] = {}
        capitals: set[str] = set()
        small: set[str] = set()
        for name, value in named:
            key = "".join(_normal(word) for word in _words(name))
            if not key:
                continue
            meant[key] = tuple(dict.fromkeys((*meant.get(key, ()), value)))
            (capitals if _SHORT.fullmatch(name.strip()) else small).add(key)
        return cls(meant, frozenset(capitals - small), max(map(len, meant), default=0))

    def found_in(self, text: str) -> tuple[str, ...]:
        """The values whose names are in a text, in the order of the text; a longer name hides those in it.

        Words are compared without case, accents and punctuation, and may be written apart or together:
        `JP Morgan` is `JPMorgan`, `10K` is `10-K`.
        """
        words = _words(text)
        hits: list[tuple[int, int, str]] = []
        for begin in range(len(words)):
            key = ""
            for end in range(begin + 1, len(words) + 1):
                key += _normal(words[end - 1])
                if len(key) > self.longest:
                    break
                if key in self.meant and not (
                    key in self.capitals and any(not word.isupper() for word in words[begin:end])
                ):
                    hits.append((begin, end, key))
        kept = [one for one in hits if not any(_holds(other, one) for other in hits)]
        return tuple(dict.fromkeys(value for _, _, key in kept for value in self.meant[key]))


def _holds(longer: tuple[int, int, str], one: tuple[int, int, str]) -> bool:
    inside = longer[0] <= one[0] and one[1] <= longer[1]
    return inside and longer[1] - longer[0] > one[1] - one[0]


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _normal(word: str) -> str:
    if word == "&":
        return "and"
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", bare)
