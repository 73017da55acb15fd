"""Several samples of one judgment, or the probabilities of its tokens, become one grade."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, Literal

Combine = Literal["majority", "mean", "expected"]
# Below this share of the probability in the alternatives named, too much is unknown.
LEAST_KNOWN = 0.5
_DIGIT = re.compile(r"\d")


def combine_grades(grades: Sequence[int], how: Combine) -> int:
    """One grade out of several: the most frequent (of equals the lower), or the mean rounded, halves down.

    Doubt goes to the lower grade, as the prompts ask of a single answer. Raises ValueError on no grades.
    """
    if not grades:
        raise ValueError("there is no grade to combine")
    if how == "majority":
        counts = Counter(grades)
        return min(counts, key=lambda grade: (-counts[grade], grade))
    return rounded_mean(grades)


def rounded_mean(values: Sequence[float]) -> int:
    """The mean as a grade, halves down."""
    mean = sum(values) / len(values)
    return floor(mean) if mean - floor(mean) <= 0.5 else floor(mean) + 1


def spread_of(grades: Sequence[int]) -> int:
    """The range of the samples: highest less lowest; 0 for one sample."""
    return max(grades) - min(grades) if grades else 0


def expected_grade(grade: int, logprobs: Sequence[Mapping[str, Any]] | None, max_grade: int) -> float | None:
    """The mean of the grades 0..``max_grade``, weighted by their probabilities where ``grade`` was written.

    ``logprobs`` are the tokens of the answer with their alternatives, as the chat-completions protocol writes
    them. The last token that says ``grade`` is the one, for aspects are asked for before it. What the
    alternatives spread over other words is left out, and the rest adds up to 1 (Liu et al., EMNLP 2023,
    weight the scores of an evaluation in this way). None if no token says the grade by itself, or the
    grades named hold less than half of the probability.
    """
    for token in reversed(logprobs or ()):
        text = str(token.get("token", ""))
        if _DIGIT.findall(text) != [str(grade)] or text.strip("\"'`*. \n\t:}") != str(grade):
            continue
        known: dict[int, float] = {}
        for other in (token, *(token.get("top_logprobs") or ())):
            value = _grade_in(str(other.get("token", "")), text, str(grade), max_grade)
            if value is not None and isinstance(other.get("logprob"), int | float):
                # an endpoint may list the token that it has chosen among the alternatives, or not
                known[value] = max(known.get(value, 0.0), math.exp(min(0.0, other["logprob"])))
        total = sum(known.values())
        if total < LEAST_KNOWN:
            return None
        return sum(value * share for value, share in known.items()) / total
    return None


def _grade_in(token: str, written: str, grade: str, max_grade: int) -> int | None:
    """The grade that an alternative would have written in its place; None for any other word."""
    for value in range(max_grade + 1):
        if token == written.replace(grade, str(value), 1):
            return value
    return None
