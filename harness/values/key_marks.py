"""What kinds say of their keys: sizes, overlaps, depths, ordered levels, values that say enough alone.

A mark stands in the metadata of a field, as in ``Annotated[int, Size(unit="tokens")]``. Names of settings,
what pages and terminals call them, the factors of a sweep and the next steps follow from marks, so that the
kinds of other packages are described as ours are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from pydantic import BaseModel

CHARACTERS, TOKENS = "characters", "tokens"


@dataclass(frozen=True, slots=True)
class Size:
    """The key says how much text a chunk holds.

    ``unit`` is what it counts: `characters`, `tokens`, or the key beside it that names one of them or a
    tokenizer (characters where the section lacks that key). It counts tokens as well where another key of
    the section has one of the values ``in_tokens``. ``short`` is what the names of settings call it, by
    default the key. A size ``again`` cuts once more what another size has cut; it is the size of a chunk only
    in sections without another.
    """

    unit: str = CHARACTERS
    short: str = ""
    again: bool = False
    in_tokens: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def unit_key(self) -> str:
        """The key that names the unit; '' where the unit is fixed."""
        return "" if self.unit in (CHARACTERS, TOKENS) else self.unit


@dataclass(frozen=True, slots=True)
class Overlap:
    """The key says how much text neighbouring chunks share, in the unit of the size ``of``.

    Names of settings say it beside that size, where it varies or, if ``shown``, always; without ``of`` it is
    that of any size in its section, and has a place of its own in names.
    """

    of: str = ""
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Amount:
    """The key says how much a step takes: more of it costs more and may find more.

    ``unset`` is what names of settings call a key that is left out. ``instead_of`` is the key that has no
    effect where this one has a value.
    """

    unset: str = "none"
    instead_of: str = ""


@dataclass(frozen=True, slots=True)
class Ordered:
    """The values of the key from the one that costs least to the one that costs most."""

    levels: tuple[str | int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """The value of the key reads well without the name of the key, such as the name of a function."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """The key is told only of settings that nothing else tells apart."""


@dataclass(frozen=True, slots=True)
class Unset:
    """A key that is left out means what ``unset`` calls it in the names of settings, such as `setting`."""

    unset: str


@dataclass(frozen=True, slots=True)
class Inside:
    """The field is a mapping without a declaration of its own, in which these ``keys`` have marks."""

    keys: Mapping[str, KeyMark]


KeyMark = Size | Overlap | Amount | Ordered | Telling | Quiet | Unset


@cache
def marks_of(config: type[BaseModel]) -> Mapping[str, KeyMark]:
    """The marks of a configuration by key, those of plain sections within it by dotted keys."""
    return dict(_marks(config))


def _marks(config: type[BaseModel]) -> Iterator[tuple[str, KeyMark]]:
    for name, info in config.model_fields.items():
        for mark in info.metadata:
            if isinstance(mark, KeyMark):
                yield name, mark
            elif isinstance(mark, Inside):
                yield from ((f"{name}.{key}", inner) for key, inner in mark.keys.items())
        inside = info.annotation
        if isinstance(inside, type) and issubclass(inside, BaseModel):
            yield from ((f"{name}.{key}", inner) for key, inner in marks_of(inside).items())
