"""Read grades from the answer of a model: pure functions that give grades or a reason, never a guess."""

from __future__ import annotations

import re
from typing import Any

from harness import models

LONGEST = 20_000
# A line that begins "Grade: 3"; what follows on the line decides whether it is read or only contradicts.
_STATED = re.compile(
    r"(?im)^[ \t*#>`-]*"
    r"(?:(?:my|the|final|overall|revised|corrected|relevance|最终|我的|相关性|因此|所以)[\s,，]*)*"
    r"(?:grade|score|rating|评分|得分|分数|等级)[\s*]*(?:[:：=为是]|\bis\b)+[\s*]*"
    r"(?P<value>-?\d+(?:[.,]\d+)?)(?P<rest>.*)$"
)

_ENDS_THERE = re.compile(r"分?[\s*`.。]*")
_LISTED = re.compile(
    r"(?i)(?:\b(?:grades|scores)\b|评分|分数)[\s*]*[:：=][\s*]*(\[?-?\d+(?:\s*,\s*-?\d+)+\]?)"
)

# What may stand on the line before a grade: an end of a sentence, marks, or words that announce it.
_ANNOUNCED = re.compile(
    r"(?i)(?:.*[.!?。！？][\s*`'\"”)]*|[\s*`#>-]*|[\s*`#>-]*(?:(?:well|sure|okay|so|the|my|a|is|as|here|i|it|this|passage"
    r"|them|these|each|passages|chunk|chunks|text|texts|final|overall|relevance|json|output|answer|grades?|scores?|result|response|rating|rate|give|assign"
    r"|conclude|therefore|thus|hence|based|on|above|analysis|assessment|evaluation|here's|of|to|评分|得分|分数|答案"
    r"|结果|输出|最终|因此|所以|根据|以上|分析|为|是|的|我)[\s*,，:：=]*)+)"
)
# Words that leave open whether what follows them is meant: a condition, an example, another's voice. Words of
# judgment such as "not" are none: they stand before honest low grades.
_NOT_MEANT = re.compile(
    r"(?i)^\W*(?:if|unless|suppose|assuming|imagine)\b|\b(?:would|example|instance|e\.g|raters?|annotators?|someone)\b"
    r"|\b(?:tells?|asks?|instructs?|orders?|wants?) (?:me|us|you|the (?:model|judge|grader))\b"
    r"|\bpassage (?:says|reads|contains|quotes)\W*$|如果|假如|假设|要是|倘若|若(?!干)|本应|例如|比如|要求"
)
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!as follows)[.!?。！？][\s*`'\"”)]*$")
# Also the end markers of chat templates, which some servers leave in.
_MARKS = re.compile(r"(?:[\s`*.。]|<[|｜][\w▁]+[|｜]>|</s>|<end_of_turn>)*")
_FENCE_LINE = re.compile(r"(?m)^[ \t]*`{3,}\w*[ \t]*$")

_BARE = re.compile(r"[\s`*]*(-?\d{1,4})\s*分?[.。]?[\s`*]*")
_FINAL_SCORE = re.compile(r"(?i)final[ _]score\b(?:\s+is\b)?[\s*:：\"'=(\[]*(?P<value>-?\d+(?:[.,]\d+)?)")
_SCORE_ENDS = re.compile(rf"[\s`*.。\"')}}\]#]*{_MARKS.pattern}")
_BARE_SCORE = re.compile(r"\s*(?:#+\s*)?(?P<value>-?\d{1,4})\s*\.?\s*")


def parse_grade(text: str, max_grade: int) -> int | models.Malformed:
    """Read one grade of 0..``max_grade``: ``{"grade": 3}`` at the end of an answer, else a line ``grade: 3``.

    Two different grades in one answer are ambiguous, whatever form each has; neither is taken. Nor is a grade
    beside an ``error``, one that stands within a sentence (it is quoted, or holds under a condition), or one
    after which the answer goes on (it may be taken back there).
    """
    read = _objects(text, "grade")
    if isinstance(read, models.Malformed):
        return read
    objects, parts = read
    prose = "\n".join(parts)
    bare = _BARE.fullmatch(prose)
    lines = list(_STATED.finditer(prose))
    stated = [line for line in lines if _ENDS_THERE.fullmatch(line["rest"])]
    if stated and not objects:
        parts = [prose[: stated[0].start()], prose[stated[0].end() :]]
    if (objects or stated) and (spoiled := _not_final(parts)):
        return models.Malformed(spoiled)
    if not (objects or bare or stated):
        return models.Malformed("no_grade")
    values = [*objects, *([bare[1]] if bare else []), *(_whole(line["value"]) for line in lines)]
    found = {_checked(value, max_grade) for value in values}
    return found.pop() if len(found) == 1 else models.Malformed("ambiguous")


def parse_labelled(text: str, count: int, max_grade: int) -> tuple[int, ...] | models.Malformed:
    """Read ``{"grades": [{"passage": 1, "grade": 3}, ...]}``: every passage 1..``count`` exactly once."""
    rows = _one_list(text, "grades", count)
    if isinstance(rows, models.Malformed):
        return rows
    grades: dict[int, int] = {}
    for row in rows:
        if not isinstance(row, dict) or "passage" not in row or "grade" not in row:
            return models.Malformed("bad_list_item")
        if models.reports_error(row):
            return models.Malformed("error_reported")
        label, grade = _checked(row["passage"], count), _checked(row["grade"], max_grade)
        if isinstance(label, models.Malformed) or label == 0:
            return models.Malformed("unknown_passage")
        if isinstance(grade, models.Malformed):
            return grade
        if label in grades:
            return models.Malformed("passage_graded_twice")
        grades[label] = grade
    return tuple(grades[label] for label in range(1, count + 1))


def parse_plain(
    text: str, count: int, max_grade: int, *, distinct: bool = False
) -> tuple[int, ...] | models.Malformed:
    """Read ``{"scores": [3, 0, ...]}`` in the order shown; with ``distinct``, equal scores are refused."""
    rows = _one_list(text, "scores", count)
    if isinstance(rows, models.Malformed):
        return rows
    grades: list[int] = []
    for row in rows:
        grade = _checked(row, max_grade)
        if isinstance(grade, models.Malformed):
            return grade
        grades.append(grade)
    if distinct and len(set(grades)) != count:
        return models.Malformed("duplicate_grades")
    return tuple(grades)


def _checked(value: Any, highest: int) -> int | models.Malformed:
    """A whole number of 0..``highest``; a digit string and 3.0 are read as such, 2.5 and True are not."""
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return models.Malformed("not_a_whole_number")
    return value if 0 <= value <= highest else models.Malformed("out_of_scale")


def _one_list(text: str, field: str, count: int) -> list[Any] | models.Malformed:
    read = _objects(text, field)
    if isinstance(read, models.Malformed):
        return read
    found, parts = read
    if not found:
        return models.Malformed("no_list")
    if spoiled := _not_final(parts):
        return models.Malformed(spoiled)
    if any(other != found[0] for other in found[1:]) or _another_list("\n".join(parts), found[0]):
        return models.Malformed("ambiguous")
    if not isinstance(found[0], list):
        return models.Malformed("not_a_list")
    return found[0] if len(found[0]) == count else models.Malformed("wrong_count")


def _another_list(prose: str, rows: Any) -> bool:
    """Whether the words around a list state other scores, as ``Scores: 0, 4`` does after ``[4, 0]``."""
    if not isinstance(rows, list):
        return False
    own = [str(row.get("grade") if isinstance(row, dict) else row) for row in rows]
    return any(re.findall(r"-?\d+", listed) != own for listed in _LISTED.findall(prose))


def _not_final(prose: list[str]) -> str:
    """Why the grades between the parts of ``prose`` are not what the answer ends with; '' if they are."""
    *before, after = prose
    if any(_is_quoted(part) for part in before):
        return "quoted"
    rest = _LISTED.sub("", _FENCE_LINE.sub("", after))
    rest = _STATED.sub(lambda line: line["rest"], rest)
    return "" if _MARKS.fullmatch(rest) else "text_after_grade"


def _is_quoted(before: str) -> bool:
    """Whether the words before a grade leave open that it is meant, on its line or the last one above."""
    line = _FENCE_LINE.sub("", before).rpartition("\n")[2]
    return not _ANNOUNCED.fullmatch(line) or _is_open(before)


def _is_open(before: str) -> bool:
    """Whether the last line with words is a condition, an example or another's voice that has not ended."""
    lines = [line for line in _FENCE_LINE.sub("", before).split("\n") if re.search(r"\w", line)]
    last = re.split(r"(?<=[.!?。！？])\s", lines[-1].rstrip())[-1] if lines else ""
    return not _SENTENCE_END.search(last) and bool(_NOT_MEANT.search(last))


def _objects(text: str, field: str) -> tuple[list[Any], list[str]] | models.Malformed:
    """The values of ``field`` in all outermost JSON objects that have it, and the words around the objects.

    A brace that opens no JSON is prose. An object that begins as JSON and breaks off spoils the answer:
    whatever is inside it may be a quotation or half a thought. So does an unfinished thought.
    """
    answer = models.after_thoughts(text)
    if isinstance(answer, models.Malformed):
        return answer
    if len(answer) > LONGEST:
        return models.Malformed("too_long")
    found: list[Any] = []
    prose: list[str] = []
    done = 0
    at = answer.find("{")
    while at >= 0:
        try:
            value, end = models.read_json_at(answer, at)
        except models.NamedTwiceError:
            return models.Malformed("ambiguous")
        except models.UntrustedJsonError as error:
            if error.at is None or answer[at + 1 : error.at].strip() or error.at >= len(answer):
                return models.Malformed("broken_json")
            end = at + 1
        else:
            if models.reports_error(value):
                return models.Malformed("error_reported")
            # an object of another kind is a part of the words
            if field in value:
                prose.append(answer[done:at])
                done = end
                # final_grade and Grade say the same as grade
                same = ("grade",) if field == "grade" else ()
                found += [own for key, own in value.items() if key == field or key.casefold().endswith(same)]
        at = answer.find("{", end)
    # An object may be in the middle of a line; what follows it is a line of its own.
    return found, [*prose, answer[done:]]


def parse_final_score(text: str, max_grade: int) -> int | models.Malformed:
    """Read ``##final score: 2``, also without the marks, or the number alone.

    Two different scores in one answer are ambiguous. UMBRELA's own reader takes the first pattern that it
    finds and counts an answer without any as 0; here such an answer has no grade.
    """
    answer, read = models.after_thoughts(text), _objects(text, "final score")
    if isinstance(answer, models.Malformed):
        return answer
    if isinstance(read, models.Malformed) and read.reason in ("too_long", "error_reported"):
        return read
    bare = _BARE_SCORE.fullmatch(answer)
    matches = [bare] if bare else list(_FINAL_SCORE.finditer(answer))
    if not matches:
        return models.Malformed("no_grade")
    if len({match["value"] for match in matches}) > 1:
        return models.Malformed("ambiguous")
    if _is_open(answer[: matches[0].start()]):
        return models.Malformed("quoted")
    if not _SCORE_ENDS.fullmatch(answer, matches[-1].end()):
        return models.Malformed("text_after_grade")
    return _checked(_whole(matches[0]["value"]), max_grade)


def _whole(digits: str) -> str:
    """``2.0`` is as good as ``2``."""
    return digits.removesuffix(".0")
