"""The loop that drives steps: needs of all are met together, once, and a plan goes on by guesses."""

from collections import Counter
from dataclasses import dataclass

import pytest

from harness.running import Loop, Met, Visitor
from harness.running.frames import Unknown
from harness.values import Kept, Mention, Need, Part, Together, ask


@dataclass(frozen=True)
class Lengths(Need):
    """The lengths of texts."""

    wait = 2
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Asked(Need):
    """Answers to texts."""

    wait = 1
    texts: tuple[str, ...]


class Counting(Visitor):
    """Meets needs once a text, counts rounds and texts, and keeps what is to be kept."""

    def __init__(self, knows=True, paid=True):
        self.rounds, self.texts, self.kept, self.mentioned, self.ends = [], Counter(), {}, [], []
        self.knows, self.paid = knows, paid

    def give(self, wanted):
        raise TypeError(wanted)

    def meet(self, wanted):
        texts = list(dict.fromkeys(text for one in wanted for text in one.need.texts))
        self.rounds.append((type(wanted[0].need).__name__, texts, any(one.guessed for one in wanted)))
        self.texts.update(texts)
        if not (self.paid if isinstance(wanted[0].need, Asked) else self.knows):
            return [Unknown("not known")] * len(wanted)
        value = len if isinstance(wanted[0].need, Lengths) else lambda text: f"{text}?"
        return [Met(lambda one=one: list(map(value, one.need.texts)), 0.5) for one in wanted]

    def stored(self, kept, where, key):
        return self.kept.get(key)

    def keep(self, kept, key, value):
        self.kept[key] = value

    def mention(self, wanted):
        self.mentioned.append(wanted.need.texts)

    def ended(self, where, part, value):
        self.ends.append((where.setting, where.stage))
        return value


def measured(*texts):
    """The sum of the lengths of texts."""
    return sum((yield Lengths(texts)))


def fused(*runs):
    """A step made of two, whose needs are asked for at once."""
    return sum((yield Together([Part(run, f"route{at}") for at, run in enumerate(runs)])))


def asked(*texts):
    """Two rounds: the second needs the first."""
    first = yield Part(ask(Asked(texts)), "asked", guess=lambda: list(texts))
    second = yield Part(ask(Asked(tuple(first))), "again", guess=lambda: first)
    return (yield Part(measured(*second), "measured", guess=lambda: 0))


def test_the_needs_of_all_steps_are_met_together_and_each_once():
    visitor = Counting()
    steps = {"one": measured("a", "bb"), "two": fused(measured("bb"), measured("ccc", "a"))}
    assert Loop(visitor).run(steps) == {"one": 3, "two": 6}
    assert visitor.rounds == [("Lengths", ["a", "bb", "ccc"], False)]
    assert visitor.ends == [("two", "route0"), ("two", "route1")]


def test_what_comes_first_is_waited_for_so_that_a_model_passes_once():
    visitor = Counting()
    assert Loop(visitor).run({"plain": measured("a"), "asked": asked("b")}) == {"plain": 1, "asked": 3}
    assert [(kind, texts) for kind, texts, _ in visitor.rounds] == [
        ("Asked", ["b"]),
        ("Asked", ["b?"]),
        ("Lengths", ["a", "b??"]),
    ]


def test_a_step_that_needs_nothing_ends_before_anything_is_met():
    visitor, seen = Counting(), []

    def quick():
        seen.append(len(visitor.rounds))
        return 7
        yield

    assert Loop(visitor).run({"slow": measured("a"), "quick": quick()}) == {"slow": 1, "quick": 7}
    assert seen == [0]


def test_what_is_kept_is_made_once_for_all_and_mentioned_where_it_is_not():
    visitor = Counting()

    def kept():
        return (yield Kept("length", ["a", 1], measured("aaa")))

    assert Loop(visitor).run({"one": kept(), "two": kept()}) == {"one": 3, "two": 3}
    assert visitor.texts == {"aaa": 1}
    assert visitor.mentioned == [("aaa",)]
    # stored: nothing is met, and what it would have needed is mentioned
    assert Loop(visitor).run({"three": kept()}) == {"three": 3}
    assert visitor.texts == {"aaa": 1}
    assert visitor.mentioned == [("aaa",)] * 2


def test_the_same_part_is_run_once_and_its_price_is_that_of_all_it_asked():
    visitor = Counting()

    def priced():
        return (yield Part(asked("b"), "part", same=["asked", "b"], priced=True))

    # three needs at a half each
    assert Loop(visitor).run({"one": priced(), "two": priced()}) == {"one": (3, 1.5), "two": (3, 1.5)}
    assert visitor.texts == {"b": 1, "b?": 1, "b??": 1}


def test_a_plan_goes_on_by_guesses_and_says_what_rests_on_them():
    visitor = Counting(knows=False, paid=False)
    assert Loop(visitor).run({"asked": asked("b"), "plain": fused(measured("a"))}) == {"asked": 0}
    assert visitor.rounds == [
        ("Asked", ["b"], False),
        # the question in place of the answer
        ("Asked", ["b"], True),
        ("Lengths", ["a", "b"], True),
    ]
    assert visitor.kept == {}


def test_who_waits_for_what_is_never_known_goes_on_by_a_guess_too():
    visitor = Counting(knows=False)

    def kept():
        return (yield Kept("length", ["a", 1], measured("aaa")))

    def step():
        return (yield Part(kept(), "kept", guess=lambda: -1))

    assert Loop(visitor).run({"one": step(), "two": step()}) == {"one": -1, "two": -1}
    assert visitor.kept == {}


def test_what_a_mentioned_step_shares_with_others_is_done():
    visitor = Counting()

    def narrowed():
        texts = yield Part(ask(Asked(("x",))), same=["filter"])
        return (yield from measured(*texts))

    def step():
        yield Mention(narrowed())
        return (yield from narrowed())

    assert Loop(visitor).run({"one": step()}) == {"one": 2}
    assert visitor.mentioned == [("x?",)]


def test_a_failure_closes_every_step():
    closed = []

    def open_step():
        try:
            yield Lengths(("a",))
        finally:
            closed.append("open")

    def failing():
        raise ValueError("broken")
        yield

    with pytest.raises(ValueError, match="broken"):
        Loop(Counting()).run({"open": open_step(), "failing": failing()})
    assert closed == ["open"]
