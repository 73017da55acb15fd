"""What a model's answer must be: one JSON object of a known shape, read strictly or not at all."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from harness.llm import Malformed, after_thoughts

LONGEST = 50_000
MOST = 200
_FENCE = re.compile(r"^```\w*\s*|\s*```$")

T_co = TypeVar("T_co", covariant=True)


class Shape(Protocol[T_co]):
    """The shape of an answer. ``count`` is the number of statements that the prompt shows."""

    def read(self, found: dict[str, Any], count: int) -> T_co | Malformed:
        """The value in an object, or what is wrong with it."""

    def shortest(self, count: int) -> str:
        """The shortest usable answer, for estimates."""


@dataclass(frozen=True, slots=True)
class Strings:
    """``{key: ["…", …]}``: texts that are not blank; none at all is an answer too."""

    key: str

    def read(self, found: dict[str, Any], count: int) -> tuple[str, ...] | Malformed:
        """The texts, without white space around them."""
        listed = found.get(self.key)
        if not isinstance(listed, list):
            return Malformed("no_list")
        if len(listed) > MOST:
            return Malformed("too_many")
        if not all(isinstance(one, str) and one.strip() for one in listed):
            return Malformed("bad_list_item")
        return tuple(one.strip() for one in listed)

    def shortest(self, count: int) -> str:
        """A few texts."""
        return json.dumps({self.key: ["one statement of some words"] * 3})


@dataclass(frozen=True, slots=True)
class Verdicts:
    """``{"verdicts": [{"number": 1, "verdict": 0 or 1}, …]}``: every statement once, in any order."""

    def read(self, found: dict[str, Any], count: int) -> tuple[bool, ...] | Malformed:
        """One verdict a statement, in their order."""
        listed = found.get("verdicts")
        if not isinstance(listed, list):
            return Malformed("no_list")
        if len(listed) != count:
            return Malformed("wrong_count")
        verdicts: dict[int, bool] = {}
        for one in listed:
            if not isinstance(one, dict):
                return Malformed("bad_list_item")
            number, verdict = _whole(one.get("number"), count), _flag(one.get("verdict"))
            if not number:
                return Malformed("unknown_statement")
            if verdict is None:
                return Malformed("bad_verdict")
            if number in verdicts:
                return Malformed("statement_judged_twice")
            verdicts[number] = verdict
        return tuple(verdicts[number] for number in range(1, count + 1))

    def shortest(self, count: int) -> str:
        """One verdict a statement."""
        return json.dumps({"verdicts": [{"number": n, "verdict": 1} for n in range(1, count + 1)]})


@dataclass(frozen=True, slots=True)
class Verdict:
    """``{"verdict": 0 or 1}``."""

    def read(self, found: dict[str, Any], count: int) -> bool | Malformed:
        """Yes or no."""
        verdict = _flag(found.get("verdict"))
        return Malformed("bad_verdict") if verdict is None else verdict

    def shortest(self, count: int) -> str:
        """One verdict."""
        return '{"verdict": 1}'


@dataclass(frozen=True, slots=True)
class Grade:
    """``{"grade": 0 … highest}``."""

    highest: int

    def read(self, found: dict[str, Any], count: int) -> int | Malformed:
        """The grade."""
        grade = _whole(found.get("grade"), self.highest)
        return Malformed("bad_grade") if grade is None else grade

    def shortest(self, count: int) -> str:
        """One grade."""
        return '{"grade": 1}'


@dataclass(frozen=True, slots=True)
class BackAsked:
    """A question that an answer would answer, and whether the answer commits itself to nothing."""

    question: str
    noncommittal: bool


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """``{"question": "…", "noncommittal": 0 or 1}``."""

    def read(self, found: dict[str, Any], count: int) -> BackAsked | Malformed:
        """The question, which is not blank."""
        question, noncommittal = found.get("question"), _flag(found.get("noncommittal"))
        if not isinstance(question, str) or not question.strip():
            return Malformed("no_question")
        if noncommittal is None:
            return Malformed("bad_verdict")
        return BackAsked(question.strip(), noncommittal)

    def shortest(self, count: int) -> str:
        """One question."""
        return '{"question": "a question of some ten words or so?", "noncommittal": 0}'


def read_object(text: str) -> dict[str, Any] | Malformed:
    """The one JSON object that an answer is, in a code fence or not.

    Anything around it, a field named twice and a thought without an end make the answer unusable: what was
    meant is then a guess.
    """
    said = after_thoughts(text)
    if isinstance(said, Malformed):
        return said
    if len(said) > LONGEST:
        return Malformed("too_long")
    try:
        found = json.loads(_FENCE.sub("", said), object_pairs_hook=_once)
    except _TwiceNamedError:
        return Malformed("ambiguous")
    except (ValueError, RecursionError):
        return Malformed("no_json")
    return found if isinstance(found, dict) else Malformed("no_object")


class _TwiceNamedError(ValueError):
    """A JSON object that names a field twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _TwiceNamedError
    return fields


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _whole(value: Any, highest: int) -> int | None:
    """A whole number of 0 to ``highest``; True is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest
    return int(value) if good else None
