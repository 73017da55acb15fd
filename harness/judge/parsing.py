"""Read grades from the reply of a model: pure functions that give grades or a reason, never a guess.

A reply is read only if it is what the prompt asks for: one object, or one bare number or list, with nothing
around it but what ``harness.models.llm.reply`` knows to mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from harness import models

_LINE_STYLE = re.compile(r"[#*\s]+")
_FINAL_SCORE = re.compile(
    r"(?i)(?:the )?(?:overall )?final[ _]score(?: ?\(o\))?(?: is)? ?[:：=]* ?"
    r"(?P<open>[\[(] ?)?(?P<score>-?\d{1,4}(?:[.,]\d+)?)(?(open) ?[\])])"
)
# The published prompt asks for "each score": of how well the passage fits (M) and of trust (T).
_PART_SCORE = re.compile(r"(?i)\(?(?P<part>[mto])\)? ?[:：=] ?(?P<score>\d{1,4})")


def parse_grade(
    text: str,
    max_grade: int,
    *,
    aspects: Collection[str] = (),
    also: Collection[str] = (),
    bare: bool = False,
) -> int | models.Malformed:
    """Read one grade of 0..``max_grade``: ``{"grade": 3}``, or a number alone where it may be ``bare``.

    The object may have ``aspects``, which are on the same scale, and fields of ``also``, but no other.
    """
    if bare:
        number = models.number_in(text)
        if isinstance(number, float):
            return _checked(number, max_grade)
    reply = models.object_in(text, ("grade",), {*aspects, *also})
    if isinstance(reply, models.Malformed):
        return models.Malformed("no_grade") if reply.reason in ("no_json", "no_object") else reply
    grade, *others = (_checked(reply[name], max_grade) for name in ("grade", *aspects) if name in reply)
    return next((fault for fault in (grade, *others) if isinstance(fault, models.Malformed)), grade)


def parse_labelled(
    text: str, count: int, max_grade: int, *, also: Collection[str] = (), bare: bool = False
) -> tuple[int, ...] | models.Malformed:
    """Read ``{"grades": [{"passage": 1, "grade": 3}, ...]}``: every passage 1..``count`` exactly once.

    A row may have some of the fields ``also``. The list may come ``bare``, without the object around it.
    """
    rows = _list_of(text, "grades", count, bare)
    if isinstance(rows, models.Malformed):
        return rows
    grades: dict[int, int] = {}
    for row in rows:
        if not isinstance(row, dict):
            return models.Malformed("bad_list_item")
        fields = models.object_of(row, ("passage", "grade"), also)
        if isinstance(fields, models.Malformed):
            return fields
        label, grade = _checked(fields["passage"], count), _checked(fields["grade"], max_grade)
        if isinstance(label, models.Malformed) or label == 0:
            return models.Malformed("unknown_passage")
        if isinstance(grade, models.Malformed):
            return grade
        if label in grades:
            return models.Malformed("passage_graded_twice")
        grades[label] = grade
    return tuple(grades[label] for label in range(1, count + 1))


def parse_plain(
    text: str, count: int, max_grade: int, *, distinct: bool = False, bare: bool = False
) -> tuple[int, ...] | models.Malformed:
    """Read ``{"scores": [3, 0, ...]}`` in the order shown; ``bare``: also ``[3, 0]`` and ``3, 0``.

    With ``distinct``, equal scores are refused, unless all are 0: nothing is relevant, and no order of that
    is better than another.
    """
    rows = _list_of(text, "scores", count, bare)
    if isinstance(rows, models.Malformed):
        return rows
    grades: list[int] = []
    for row in rows:
        grade = _checked(row, max_grade)
        if isinstance(grade, models.Malformed):
            return grade
        grades.append(grade)
    if distinct and any(grades) and len(set(grades)) != count:
        return models.Malformed("duplicate_grades")
    return tuple(grades)


def parse_final_score(text: str, max_grade: int) -> int | models.Malformed:
    """Read ``##final score: 2``, also without the marks and after lines such as ``M: 2``, or a bare number.

    UMBRELA's own reader takes the first pattern that it finds and counts an answer without any as 0; here
    such an answer has no grade.
    """
    number = models.number_in(text)
    if isinstance(number, float):
        return _checked(number, max_grade)
    answer = models.reply_in(text)
    if isinstance(answer, models.Malformed):
        return answer
    lines = [line for line in (_LINE_STYLE.sub(" ", line).strip(" .") for line in answer.split("\n")) if line]
    final = _FINAL_SCORE.fullmatch(lines[-1]) if lines else None
    if final is None:
        return models.Malformed("text_around" if _FINAL_SCORE.search(answer) else "no_grade")
    score = _checked(final["score"].removesuffix(".0"), max_grade)
    for part in map(_PART_SCORE.fullmatch, lines[:-1]):
        if part is None:
            return models.Malformed("text_around")
        value = _checked(part["score"], max_grade)
        if isinstance(value, models.Malformed):
            return value
        if part["part"].lower() == "o" and value != score:
            return models.Malformed("ambiguous")
    return score


def _checked(value: Any, highest: int) -> int | models.Malformed:
    """A whole number of 0..``highest``; a digit string and 3.0 are read as such, 2.5 and True are not."""
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return models.Malformed("not_a_whole_number")
    return value if 0 <= value <= highest else models.Malformed("out_of_scale")


def _list_of(text: str, field: str, count: int, bare: bool) -> list[Any] | models.Malformed:
    """The list under ``field``, or the bare one, of ``count`` items."""
    rows = models.list_in(text) if bare else None
    if not isinstance(rows, list):
        reply = models.object_in(text, (field,))
        if isinstance(reply, models.Malformed):
            return models.Malformed("no_list") if reply.reason in ("no_json", "no_object") else reply
        rows = reply[field]
    if not isinstance(rows, list):
        return models.Malformed("not_a_list")
    return rows if len(rows) == count else models.Malformed("wrong_count")
