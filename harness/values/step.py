"""Steps ask for what they need: generators that yield needs, are given values, and return what they made.

A step computes nothing heavy, opens no file and knows no cache, no price and no clock. Whoever drives it
decides how a need is met: a run looks up and computes, a plan counts, a clock computes for one query.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from inspect import isgenerator, signature
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from harness.values.errors import guide

Config = TypeVar("Config")
T = TypeVar("T")


class Step(ABC, Generic[Config]):
    """Base of the classes that do the work of a stage, made from its configuration."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def __init_subclass__(cls) -> None:
        """Refuse a class of a package that was written for steps that were handed tools."""
        super().__init_subclass__()
        for name in ("run", "identity"):
            method = getattr(cls, name, None)
            if method is not None and "tools" in signature(method).parameters:
                raise TypeError(
                    f"{cls.__name__}.{name} takes tools, as in earlier versions. A step yields what it needs "
                    f"now: {guide('own-steps.md')} says how"
                )


class Need:
    """Base of what a step asks for.

    ``wait``: 0 for what is given at once. Other needs wait until no step can go on, so that those of all
    steps are met together; of what waits, the lowest number is met first.
    """

    __slots__ = ()
    wait: ClassVar[int] = 0

    @property
    def ends_mention(self) -> bool:
        """Whether a step that is only asked what it needs (`Mention`) goes no further."""
        return self.wait > 1


Run: TypeAlias = Generator[Need, Any, T]
"""A step under way: yields needs, is sent their values, and returns what it made."""


@dataclass(frozen=True, slots=True, eq=False)
class Part(Need):
    """Another step as a part of this one, whose result is the value.

    ``name`` is that of a stage or a route within the stage around it, '' for the same. ``what`` tells the
    parts of a stage apart, such as its rewriting. A part with ``same`` (JSON-able facts) is run once for all
    steps that ask for it. ``guess`` stands for the result where a plan cannot know it. ``priced``: the value
    is a pair, the result and what the answers of language models behind it have cost, whoever paid; None
    without a price. ``config`` is the configuration that it is made from. ``decides``: the price of calls
    depends on it, so that a plan runs the user's own code for it. ``items``: how many things it works on,
    for a plan that cannot know its needs.
    """

    run: Run[Any]
    name: str = ""
    what: str = ""
    guess: Callable[[], Any] | None = None
    same: Sequence[Any] = ()
    priced: bool = False
    config: Any = None
    decides: bool = False
    items: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Together(Need):
    """Needs that are met together, such as the routes of a fusion; the value is the list of theirs."""

    needs: Sequence[Need]


@dataclass(frozen=True, slots=True, eq=False)
class Kept(Need):
    """What a step makes, kept under a key: run only where it is not stored.

    ``facts`` (JSON-able) decide the result and make the key; ``kind`` is what is kept. ``pack`` makes a
    JSON-able value of the result, and ``unpack`` the result of it.
    """

    kind: str
    facts: Sequence[Any]
    run: Run[Any]
    pack: Callable[[Any], Any] = lambda value: value
    unpack: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, slots=True, eq=False)
class Mention(Need):
    """A step that is not run: what it would embed is embedded with the rest, where anything is.

    So the batches of a model, and the last digits of its vectors, do not depend on what is stored or left
    out.
    """

    run: Run[Any]


def under_way(made: T | Run[T]) -> Run[T]:
    """A step under way, of what a function has returned: a generator, or the result itself."""
    if isgenerator(made):
        return (yield from cast("Run[T]", made))
    return cast("T", made)
    yield


def ask(need: Need) -> Run[Any]:
    """A need alone, as a step."""
    return (yield need)
