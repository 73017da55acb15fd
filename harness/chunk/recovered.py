"""Where the pieces of a splitter that returns text alone stand in the document.

A piece that is looked for may be found in the wrong place where text repeats. So all places are kept that
agree with the pieces before it, those are dropped that no later piece agrees with, and only what is then left
without a choice is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.text.spans import Span

_SHOWN = 40


class AlteredError(ValueError):
    """Pieces are not the text of the document, or may stand in several places; says where."""


def places_of(pieces: Sequence[str], text: str, overlap: int | None, left_out: str = "") -> list[Span]:
    """The half-open range of every piece; pieces are in the order of the text, and cover it but for blanks.

    Neighbours share at most ``overlap`` characters (None: nobody knows). ``left_out`` is a regular expression
    of what may stand between pieces besides blanks. Pieces of blanks alone are not looked for. Raises
    AlteredError.
    """
    between = re.compile(rf"(?:\s|{left_out})*" if left_out else r"\s*")
    sought = [piece for piece in pieces if piece.strip()]
    # for each piece its possible starts, each with the starts of the piece before that agree with it
    layers: list[dict[int, list[int]]] = []
    ends = {0: 0}
    for number, piece in enumerate(sought):
        layer: dict[int, list[int]] = {}
        for start, end in ends.items():
            low = start if overlap is None else max(start, end - overlap)
            for place in _matches(piece, text, low if layers else 0, _past(between, text, end)):
                if place + len(piece) >= end:
                    layer.setdefault(place, []).append(start)
        if not layer:
            raise _altered(number, piece, text, between, max(ends.values()))
        layers.append(layer)
        ends = {start: start + len(piece) for start in layer}
    last = [start for start, end in ends.items() if _past(between, text, end) == len(text)]
    if (sought and not last) or (not sought and text.strip()):
        at = _past(between, text, max(ends.values()))
        raise AlteredError(f"it left out the text from character {at} on: {_shown(text[at:])}")
    return _only(sought, layers, last)


def _only(sought: Sequence[str], layers: Sequence[dict[int, list[int]]], last: Sequence[int]) -> list[Span]:
    """The single place of every piece that leads to one of the ``last`` ones."""
    found: list[Span] = []
    possible = sorted(last)
    for number in range(len(layers) - 1, -1, -1):
        piece, layer = sought[number], layers[number]
        if len(possible) > 1:
            raise AlteredError(
                f"its piece {number + 1}, {_shown(piece)}, may begin at character {possible[0]} or "
                f"{possible[1]}, since the text repeats there"
            )
        found.append((possible[0], possible[0] + len(piece)))
        possible = sorted({before for start in possible for before in layer[start]})
    return found[::-1]


def _past(between: re.Pattern[str], text: str, end: int) -> int:
    """Where the blanks, and what else may be left out, after ``end`` are over."""
    found = between.match(text, end)
    return found.end() if found else end


def _matches(piece: str, text: str, low: int, high: int) -> list[int]:
    """All places from ``low`` to ``high`` at which the piece stands."""
    found = []
    at = text.find(piece, low, high + len(piece))
    while at >= 0:
        found.append(at)
        at = text.find(piece, at + 1, high + len(piece))
    return found


def _altered(number: int, piece: str, text: str, between: re.Pattern[str], end: int) -> AlteredError:
    """Names the first character in which a piece differs from the text that should be its own."""
    at = _past(between, text, end)
    skipped = len(piece) - len(piece.lstrip())
    same = 0
    while skipped + same < len(piece) and text[at + same : at + same + 1] == piece[skipped + same]:
        same += 1
    return AlteredError(
        f"its piece {number + 1} has {_shown(piece[skipped + same :])} where the document has "
        f"{_shown(text[at + same :])} (character {at + same})"
    )


def _shown(text: str) -> str:
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "nothing"
