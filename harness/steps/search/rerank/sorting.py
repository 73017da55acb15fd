"""The calls by which a language model ranks a list: one by one, by windows, by the best of a few.

Each is a talk about a query and its passages, in the order of the retriever; the answers decide all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.models import About, Malformed, Talk, text_of, value_in
from harness.values import LlmAnswer

_LABEL = re.compile(r"(?i)(?:\bpassage|段落)\s*(?=\[?\d)")
_NUMBERS = re.compile(r"[\d\[\]\s>,，、;=]+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of the passages in the order given; higher is better.

    ``repaired`` counts the answers that did not have their form. ``failed``: why there are no scores.
    """

    scores: tuple[float, ...] = ()
    repaired: int = 0
    failed: str = ""


Sort: TypeAlias = Generator[tuple[Sequence[int], bool], list[int], list[int]]
"""A sort of places: yields some to compare and whether all matter; is sent them, the best first."""


def scored(about: About, score: Callable[[LlmAnswer], float | Malformed]) -> Talk[Ranked]:
    """One call, about a single passage, and the score that its answer has."""
    answer = yield about
    if answer is None:
        return Ranked()
    outcome = score(answer) if answer.usable else Malformed(answer.reason)
    return Ranked(failed=outcome.reason) if isinstance(outcome, Malformed) else Ranked((outcome,))


def sorted_by(about: About, sort: Sort) -> Talk[Ranked]:
    """The calls of a sort. The first passage scores as many as there are, each after it one less."""
    query, passages = about
    repaired = 0
    try:
        shown, every = next(sort)
        while True:
            answer = yield query, tuple(passages[place] for place in shown)
            if answer is None:
                # in a plan: the second goes on, which in a heap is the longest way down
                named, clean = [] if every else [1], True
            elif (text := text_of(answer)) is None:
                return Ranked(failed=answer.reason or "no_words")
            else:
                read = named_in(text, len(shown), every)
                if isinstance(read, Malformed):
                    return Ranked(failed=read.reason)
                named, clean = read
            repaired += not clean
            rest = [place for place in range(len(shown)) if place not in named]
            shown, every = sort.send([shown[place] for place in (*named, *rest)])
    except StopIteration as end:
        scores = dict(zip(end.value, range(len(passages), 0, -1), strict=True))
        return Ranked(tuple(float(scores[place]) for place in range(len(passages))), repaired)


def named_in(text: str, count: int, every: bool) -> tuple[list[int], bool] | Malformed:
    """The places, from 0, that an answer names among ``count``, and whether it has its form.

    As in ``[3] > [1] > [2]``, with brackets or without; beside other words it is no answer. The first mention
    counts, and numbers of no passage are dropped. ``every``: all are to be named, each once; else one alone.
    """
    value = value_in(_LABEL.sub("", text), ranking=True)
    if isinstance(value, Malformed):
        return value
    if not _NUMBERS.fullmatch(value):
        return Malformed("no_ranking")
    numbers = [int(digits) for digits in re.findall(r"\d{1,6}", value)]
    named = list(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= count))
    clean = len(named) == len(numbers) == (count if every else 1)
    return (named if every else named[:1]), clean


def by_windows(count: int, size: int, stride: int) -> Sort:
    """Windows are ordered from the back to the front, so that the best of each are in the next one.

    Sun et al., Is ChatGPT good at search?, EMNLP 2023 (RankGPT).
    """
    order = list(range(count))
    for end in range(count, 1, -stride):
        window = slice(max(0, end - size), end)
        order[window] = yield order[window], True
        if end <= size:
            break
    return order


def by_heap(count: int, size: int, first: int) -> Sort:
    """A heap whose places have ``size`` - 1 children each, until the ``first`` are known.

    The others follow in the order given. Zhuang et al., A setwise approach for effective and highly efficient
    zero-shot ranking with large language models, SIGIR 2024.
    """
    heap, children = list(range(count)), size - 1

    def sink(at: int) -> Generator[tuple[Sequence[int], bool], list[int], None]:
        while below := heap[children * at + 1 : children * at + size]:
            best = (yield [heap[at], *below], False)[0]
            to = heap.index(best)
            if to == at:
                return
            heap[at], heap[to] = heap[to], heap[at]
            at = to

    for at in reversed(range((count - 2) // children + 1)):
        yield from sink(at)
    top: list[int] = []
    while heap:
        top.append(heap[0])
        heap[0] = heap[-1]
        heap.pop()
        if len(top) == first:
            break
        yield from sink(0)
    return top + sorted(heap)
