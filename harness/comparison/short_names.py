"""Names that are too long for a column: cut in the middle, and told apart all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from harness.values import by_key, width

_CUT = "…"
_Cut = Callable[[str], str]


def shortened(names: Sequence[str], columns: int) -> list[str]:
    """Names in at most ``columns`` columns, of which two are equal only where the names are.

    What is longer is cut in the middle, as names of one sweep often differ at either end. Those that would
    look the same are cut elsewhere, and where no cut tells them apart they end in numbers.
    """
    shown = {name: _without_middle(name, columns, columns // 2) for name in names}
    for alike in by_key((short, name) for name, short in shown.items()).values():
        if len(alike) > 1:
            others = {short for name, short in shown.items() if name not in alike}
            shown |= _told_apart(alike, others, columns)
    return [shown[name] for name in names]


def _told_apart(names: Sequence[str], others: set[str], columns: int) -> dict[str, str]:
    """Names that look the same if cut in the middle, cut in another way or numbered."""
    for cut in _cuts(names, columns):
        shown = {name: cut(name) for name in names}
        if len(set(shown.values()) - others) == len(names):
            return shown
    room = columns - len(str(len(names) + len(others)))
    taken, numbered = set(others), dict[str, str]()
    for name in names:
        begin, number = _begin(name, room - 1) + _CUT, 1
        while f"{begin}{number}" in taken:
            number += 1
        numbered[name] = f"{begin}{number}"
        taken.add(numbered[name])
    return numbered


def _cuts(names: Sequence[str], columns: int) -> Iterator[_Cut]:
    """Ways to cut: behind a word if possible, near the middle; then what begins where the names differ."""

    def order(head: int) -> tuple[bool, int]:
        in_a_word = any(name[head : head + 1].isalnum() for name in names)
        return in_a_word, abs(head - columns // 2)

    for head in sorted(range(columns), key=order):
        yield partial(_without_middle, columns=columns, head=head)
    differ = next(place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1)
    for start in range(differ, max(0, differ - columns), -1):
        yield partial(_from, start=start, columns=columns)


def _without_middle(name: str, columns: int, head: int) -> str:
    """A name with an ellipsis behind the first ``head`` columns, where it is too long."""
    if width(name) <= columns:
        return name
    begin = _begin(name, min(head, columns - 1))
    end = _begin(name[::-1], columns - 1 - width(begin))[::-1]
    return f"{begin.rstrip()}{_CUT}{end.lstrip()}"


def _from(name: str, start: int, columns: int) -> str:
    """The part of a name behind its first ``start`` letters, with an ellipsis on both sides."""
    return _CUT + _begin(name[start:], columns - 2) + _CUT


def _begin(text: str, columns: int) -> str:
    """As much of the beginning of a text as fits."""
    while width(text) > columns:
        # no letter has more than two columns
        text = text[: -max(1, (width(text) - columns) // 2)]
    return text
