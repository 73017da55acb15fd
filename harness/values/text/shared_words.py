"""The longest run of words that two texts share, in time that grows as the texts do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.values.text.spans import Span


@dataclass(slots=True)
class _State:
    """All ends of some runs of the second text that are alike; ``suffix`` has the ends of shorter ones."""

    length: int
    suffix: int
    following: dict[str, int] = field(default_factory=dict)


def longest_shared_run(first: Sequence[str], second: Sequence[str]) -> Span:
    """The first of the longest runs of ``first`` that ``second`` holds too, as a half-open range of it.

    By the suffix automaton of ``second`` (Blumer et al., "The smallest automaton recognizing the subwords of
    a text", 1985), which is built and read in linear time.
    """
    states = _automaton(second)
    state = length = 0
    best = (0, 0)
    for end, word in enumerate(first, 1):
        while state and word not in states[state].following:
            state = states[state].suffix
            length = states[state].length
        if word in states[state].following:
            state = states[state].following[word]
            length += 1
        if length > best[1] - best[0]:
            best = (end - length, end)
    return best


def _automaton(words: Sequence[str]) -> list[_State]:
    """The states, of which 0 is the beginning; its ``suffix`` is -1."""
    states = [_State(0, -1)]
    last = 0
    for word in words:
        current = len(states)
        states.append(_State(states[last].length + 1, 0))
        at = last
        while at >= 0 and word not in states[at].following:
            states[at].following[word] = current
            at = states[at].suffix
        if at >= 0:
            reached = states[at].following[word]
            if states[at].length + 1 == states[reached].length:
                states[current].suffix = reached
            else:
                copy = len(states)
                split = states[reached]
                states.append(_State(states[at].length + 1, split.suffix, dict(split.following)))
                while at >= 0 and states[at].following.get(word) == reached:
                    states[at].following[word] = copy
                    at = states[at].suffix
                split.suffix = states[current].suffix = copy
        last = current
    return states
