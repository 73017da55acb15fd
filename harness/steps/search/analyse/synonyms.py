"""Synonyms in Solr's format, applied to queries only, so that the index stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.values import ConfigError

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
                known = rules.setdefault(left, [])
                known += [one for one in right if one not in known]
        return cls({left: tuple(right) for left, right in rules.items()})

    @property
    def identity(self) -> list[list[list[str]]]:
        """The rules as JSON-able facts."""
        return [[list(left), *map(list, right)] for left, right in self.rules.items()]

    def expand(self, asked: Sequence[str]) -> list[str]:
        """The terms of a query with its synonyms; a term that two alternatives share is asked for once."""
        if not self.rules:
            return list(asked)
        longest = max(map(len, self.rules))
        found: list[str] = []
        at = 0
        while at < len(asked):
            for size in range(min(longest, len(asked) - at), 0, -1):
                match = self.rules.get(tuple(asked[at : at + size]))
                if match is not None:
                    found += dict.fromkeys(term for one in match for term in one)
                    at += size
                    break
            else:
                found.append(asked[at])
                at += 1
        return found


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
