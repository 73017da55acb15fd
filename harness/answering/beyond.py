"""What an answer says beyond its golden answer: does it contradict it, or only add to it?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.answer import AnswerScore, Case
from harness.answer.words import words_of

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Beyond:
    """Shares of what is said beyond the golden answer: they sum to 1."""

    contradicts: float
    adds: float
    untold: float


NOTHING_KNOWN = Beyond(0.0, 0.0, 1.0)


def beyond(case: Case, score: AnswerScore) -> Beyond:
    """How what an answer says beyond the golden one is parted.

    Where a model has scored the answer, by its verdicts on the statements that the golden answer does not
    support. Without them only two things are told: an answer that holds all words of the golden answer adds
    to it; and where the golden answer has one figure, one that gives one other figure contradicts it. Figures
    of the question do not count. The rest is not told apart.
    """
    if "statements" in score.details:
        return _by_verdicts(score.details["statements"])
    golden = compared_with(case, score)
    said, wanted = words_of(case.answer or ""), words_of(golden)
    if not set(wanted) - set(said):
        return Beyond(0.0, 1.0, 0.0)
    asked = figures(case.query.text)
    given, right = figures(case.answer or "") - asked, figures(golden) - asked
    return Beyond(1.0, 0.0, 0.0) if len(given) == len(right) == 1 and given != right else NOTHING_KNOWN


def compared_with(case: Case, score: AnswerScore) -> str:
    """The golden answer that a score rests on: of several the one that its details name."""
    return str(score.details.get("golden", case.reference or ""))


def _by_verdicts(statements: Sequence[Mapping[str, Any]]) -> Beyond:
    own = [one for one in statements if not int(one["verdict"])]
    if not own or any("contradicts" not in one for one in own):
        return NOTHING_KNOWN
    share = sum(int(one["contradicts"]) for one in own) / len(own)
    return Beyond(share, 1 - share, 0.0)


def figures(text: str) -> frozenset[str]:
    """The figures in a text, without commas between digits and zeros at the end of a fraction."""
    return frozenset(_plain(found) for found in _FIGURE.findall(text))


def _plain(figure: str) -> str:
    whole, point, fraction = figure.replace(",", "").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if point and fraction else whole
