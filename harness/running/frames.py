"""Steps under way: where they are in a setting, what they are a part of, and what several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any

from harness.values import Part, Run


@dataclass(frozen=True, slots=True)
class Where:
    """Where something is needed: the ``setting``, the ``stage`` of it, and ``what`` part of that."""

    setting: str
    stage: str = ""
    what: str = ""

    def inside(self, part: Part) -> Where:
        """Where a part of it is."""
        stage = f"{self.stage}.{part.name}" if self.stage and part.name else self.stage or part.name
        return Where(self.setting, stage, part.what if part.what or part.name else self.what)


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a visitor gives for a need that it cannot meet; ``why`` says so where that is told."""

    why: str = ""


@dataclass(slots=True, eq=False)
class Frame:
    """A step under way.

    ``end`` gets its result, and whether that is a guess; ``done`` the same of a part. ``mentions``: what it
    needs is only mentioned, and it ends there.
    """

    run: Run[Any]
    where: Where
    end: Callable[[Any, bool], None]
    parent: Frame | None = None
    shared: SharedResult | None = None
    done: Callable[[Any, bool], None] | None = None
    part: Part | None = None
    guessed: bool = False
    mentions: bool = False
    over: bool = False
    costs: list[float | None] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)

    def around(self) -> Iterator[Frame]:
        """Itself and the steps that it is a part of, the innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def close(self) -> None:
        """End the step, and close what it has opened."""
        self.over = True
        self.run.close()
        self.stack.close()

    def enter(self, opened: AbstractContextManager[Any]) -> Any:
        """Open something that is closed when the step ends."""
        return self.stack.enter_context(opened)


@dataclass(slots=True)
class SharedResult:
    """What several steps ask for: who waits for it, then its result and whether that is a guess.

    ``lost``: why there is none.
    """

    waiting: list[tuple[Frame, Callable[[Any, bool], None]]] = field(default_factory=list)
    result: tuple[Any, bool] | None = None
    lost: Unknown | None = None

    def done(self, value: Any, guessed: bool) -> None:
        """Hand the result to all."""
        self.result = value, guessed
        for _, give in self.waiting:
            give(value, guessed)
