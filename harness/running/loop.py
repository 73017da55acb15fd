"""The loop that drives steps: all of them go on together, and what they need at a time is met together.

A run, a plan and a clock are this loop with another `Visitor`, which decides how a need is met.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from harness.models import sum_of
from harness.running.frames import Frame, SharedResult, Unknown, Where
from harness.values import Kept, Mention, Need, Part, Run, Together, by_key, key_of


@dataclass(frozen=True, slots=True)
class Met:
    """What makes the value of a need when its step goes on, and what language models were paid for it."""

    make: Callable[[], Any]
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A need of a step; ``guessed``: it rests on something that is not known.

    ``frame`` is the step that asks.
    """

    need: Any
    where: Where
    guessed: bool
    frame: Frame


class Visitor(ABC):
    """Decides how needs are met.

    ``shares``: what is the same for several steps is done once. ``guesses``: what rests on a guess is
    guessed too.
    """

    shares: ClassVar[bool] = True
    guesses: ClassVar[bool] = True

    @abstractmethod
    def give(self, wanted: Wanted) -> Any:
        """The value of a need that does not wait, or an `Unknown`."""

    @abstractmethod
    def meet(self, wanted: Sequence[Wanted]) -> Sequence[Met | Unknown]:
        """How needs of one class are met, those of all steps that wait for some."""

    def stored(self, kept: Kept, where: Where, key: str) -> Any | None:
        """The stored value; None where there is none, or it is not used."""
        return None

    def keep(self, kept: Kept, key: str, value: Any) -> None:  # noqa: B027 - not all keep something
        """Store what was made."""

    def mention(self, wanted: Wanted) -> None:  # noqa: B027 - not all look at it
        """Something that is needed only where the like of it is computed anyway."""

    def spent(self, where: Where, seconds: float) -> None:  # noqa: B027 - not all have a clock
        """The time of a step's own work."""

    def charged(self, where: Where) -> float | None:
        """What endpoints charge for all that a place has had since this was asked last, whoever paid.

        None: a price is unknown.
        """
        return 0.0

    def ended(self, where: Where, part: Part, value: Any) -> Any:
        """A part has a result; returns what is handed on."""
        return value

    def instead(self, where: Where, part: Part, why: Unknown) -> Any:
        """What stands for the result of a part that is not known."""
        return part.guess() if part.guess is not None else None


Deliver = Callable[[Callable[[], Any]], None]
Give = Callable[[Any, bool], None]


class Loop:
    """Drives steps with one way to meet their needs."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self._ready: deque[tuple[Frame, Callable[[], Any]]] = deque()
        self._waiting: list[tuple[Wanted, Deliver]] = []
        self._shared: dict[str, SharedResult] = {}
        self._frames: dict[int, Frame] = {}

    def run(self, steps: Mapping[str, Run[Any]]) -> dict[str, Any]:
        """What each step returns, by its name; without one that nothing is known of."""
        results: dict[str, Any] = {}
        for name, run in steps.items():
            self._begin(Frame(run, Where(name), partial(_put, results, name)))
        try:
            while self._ready or self._waiting:
                if self._ready:
                    frame, make = self._ready.popleft()
                    if make is _never:
                        self._drop(frame)
                    elif not frame.over:
                        self._go_on(frame, make)
                else:
                    self._meet()
        finally:
            for frame in reversed(list(self._frames.values())):
                frame.close()
        return {name: results[name] for name in steps if name in results}

    def _begin(self, frame: Frame) -> None:
        self._frames[id(frame)] = frame
        self._ready.append((frame, _nothing))

    def _close(self, frame: Frame) -> None:
        frame.close()
        self._frames.pop(id(frame), None)

    def _go_on(self, frame: Frame, make: Callable[[], Any]) -> None:
        """Let a step go on until it waits for something or ends."""
        while True:
            value, begun = make(), perf_counter()
            try:
                need = frame.run.send(value)
            except StopIteration as end:
                self.visitor.spent(frame.where, perf_counter() - begun)
                self._close(frame)
                frame.end(end.value, frame.guessed)
                return
            except BaseException:
                # what is open may say what the error means
                with frame.stack:
                    raise
            self.visitor.spent(frame.where, perf_counter() - begun)
            # not held while the step waits
            del value
            if need.wait or isinstance(need, Together | Part | Kept | Mention):
                self._ask(frame, need, lambda answer: self._ready.append((frame, answer)))
                return
            if frame.mentions and need.ends_mention:
                self._drop(frame)
                return
            value = self.visitor.give(Wanted(need, frame.where, frame.guessed, frame))
            if isinstance(value, Unknown):
                self._guess(frame, value)
                return
            make = partial(_same, value)

    def _ask(self, frame: Frame, need: Need, deliver: Deliver) -> None:
        """Have a need met that takes more than this step."""
        if isinstance(need, Together):
            self._together(frame, need, deliver)
        elif isinstance(need, Part):
            self._part(frame, need, self._giver(frame, deliver))
        elif isinstance(need, Kept):
            self._kept(frame, need, self._giver(frame, deliver))
        elif isinstance(need, Mention):
            self._mention(frame, need.run)
            deliver(_nothing)
        elif frame.mentions and need.ends_mention:
            self.visitor.mention(Wanted(need, frame.where, frame.guessed, frame))
            deliver(_never)
        elif need.wait:
            self._waiting.append((Wanted(need, frame.where, frame.guessed, frame), deliver))
        else:
            value = self.visitor.give(Wanted(need, frame.where, frame.guessed, frame))
            if isinstance(value, Unknown):
                self._guess(frame, value)
            else:
                deliver(partial(_same, value))

    def _together(self, frame: Frame, need: Together, deliver: Deliver) -> None:
        makers: dict[int, Callable[[], Any]] = {}

        def place(at: int, make: Callable[[], Any]) -> None:
            makers[at] = make
            if len(makers) == len(need.needs):
                dropped = any(maker is _never for maker in makers.values())
                deliver(_never if dropped else lambda: [makers[at]() for at in range(len(makers))])

        if not need.needs:
            deliver(list)
        for at, inner in enumerate(need.needs):
            if not frame.over:
                self._ask(frame, inner, partial(place, at))

    def _giver(self, frame: Frame, deliver: Deliver) -> Callable[[Any, bool], None]:
        """Gives a step the result of another one; a step that is given a guess rests on it."""

        def give(value: Any, guessed: bool) -> None:
            frame.guessed = frame.guessed or guessed
            deliver(partial(_same, value))

        return give

    def _once(
        self, frame: Frame, key: str, give: Callable[[Any, bool], None], apart: bool
    ) -> SharedResult | None:
        """What hands the result under a key to all who ask for it; None where another step makes it.

        ``apart``: what rests on a guess is another thing, as it may turn out to be.
        """
        key = f"{key} guessed" if frame.guessed and apart else key
        shared = self._shared.get(key) if self.visitor.shares else None
        if shared is None:
            shared = self._shared[key] = SharedResult([(frame, give)])
            return shared
        if shared.lost is not None:
            self._guess(frame, shared.lost)
        elif shared.result is None:
            shared.waiting.append((frame, give))
        else:
            give(*shared.result)
        return None

    def _part(self, frame: Frame, part: Part, give: Callable[[Any, bool], None]) -> None:
        where, finish = frame.where.inside(part), give
        # what others may share is not only mentioned
        mentions = frame.mentions and not part.same
        if part.same:
            shared = self._once(frame, key_of(*part.same), give, part.priced)
            if shared is None:
                part.run.close()
                return
            finish = shared.done
        inner = Frame(part.run, where, _ignored, frame, None, finish, part, frame.guessed, mentions)

        def end(value: Any, guessed: bool) -> None:
            # what rests on a guess is guessed itself
            certain = not guessed or part.guess is None
            self._result(inner, part, value if certain else self.visitor.instead(where, part, Unknown()))

        inner.end = end
        self._begin(inner)

    def _result(self, frame: Frame, part: Part, value: Any) -> None:
        """Hand on the result of a part."""
        value = self.visitor.ended(frame.where, part, value)
        if frame.done is not None:
            frame.done((value, sum_of(frame.costs)) if part.priced else value, frame.guessed)

    def _kept(self, frame: Frame, kept: Kept, give: Callable[[Any, bool], None]) -> None:
        if frame.mentions:
            self._mention(frame, kept.run)
            return
        key = key_of(*kept.facts)
        shared = self._once(frame, f"{kept.kind} {key}", give, True)
        if shared is None:
            self._mention(frame, kept.run)
            return
        stored = self.visitor.stored(kept, frame.where, key)
        if stored is not None:
            self._mention(frame, kept.run)
            shared.done(kept.unpack(stored), False)
            return

        def end(value: Any, guessed: bool) -> None:
            if not guessed:
                self.visitor.keep(kept, key, kept.pack(value))
            shared.done(value, guessed)

        self._begin(Frame(kept.run, frame.where, end, frame, shared, guessed=frame.guessed))

    def _mention(self, frame: Frame, run: Run[Any]) -> None:
        """Let a step go on until it needs what is not to be computed for it, and mention that."""
        self._begin(Frame(run, frame.where, _ignored, frame, guessed=frame.guessed, mentions=True))

    def _drop(self, frame: Frame) -> None:
        """End a step that was only asked what it needs."""
        for inner in list(frame.around()):
            if not inner.mentions:
                return
            self._close(inner)

    def _guess(self, frame: Frame, why: Unknown) -> None:
        """End a step that cannot go on, and the parts around it up to one whose result can be guessed."""
        for inner in list(frame.around()):
            self._close(inner)
            if inner.shared is not None:
                inner.shared.lost = why
                for waiting, _ in inner.shared.waiting[1:]:
                    if not waiting.over:
                        self._guess(waiting, why)
            if inner.part is not None and inner.part.guess is not None:
                inner.guessed = self.visitor.guesses
                self._result(inner, inner.part, self.visitor.instead(inner.where, inner.part, why))
                return

    def _meet(self) -> None:
        """Meet the needs of the class that comes first, those of all steps that wait."""
        waiting = [(wanted, deliver) for wanted, deliver in self._waiting if not wanted.frame.over]
        first = min((wanted.need.wait for wanted, _ in waiting), default=0)
        self._waiting = [pair for pair in waiting if pair[0].need.wait != first]
        now = [pair for pair in waiting if pair[0].need.wait == first]
        by_class = by_key((type(wanted.need), (wanted, deliver)) for wanted, deliver in now)
        for pairs in by_class.values():
            answers = self.visitor.meet([wanted for wanted, _ in pairs])
            for (wanted, deliver), answer in zip(pairs, answers, strict=True):
                if wanted.frame.over:
                    continue
                if isinstance(answer, Unknown):
                    self._guess(wanted.frame, answer)
                    continue
                for frame in wanted.frame.around():
                    frame.costs.append(answer.cost)
                deliver(answer.make)


def _nothing() -> None:
    """The value that a step begins with."""


def _never() -> None:
    """Stands for a value that a step is not given, as it was only asked what it needs."""


def _same(value: Any) -> Any:
    return value


def _put(results: dict[str, Any], name: str, value: Any, guessed: bool) -> None:
    results[name] = value


def _ignored(value: Any, guessed: bool) -> None:
    """Nobody waits for the result."""
