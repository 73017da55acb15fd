"""Read the answers of published prompts, which ask for a line of text and not for JSON."""

from __future__ import annotations

import re

from harness.judge.parsing import LONGEST
from harness.llm.form import Malformed

_FINAL_SCORE = re.compile(r"(?i)final[ _]score\b[\s*:\"'=(]*(?P<value>-?\d+(?:[.,]\d+)?)")
_BARE = re.compile(r"\s*(?:#+\s*)?(?P<value>-?\d{1,4})\s*\.?\s*")


def parse_final_score(text: str, max_grade: int) -> int | Malformed:
    """Read ``##final score: 2``, also without the marks, or the number alone.

    Two different scores in one answer are ambiguous. UMBRELA's own reader takes the first pattern that it
    finds and counts an answer without any as 0; here such an answer has no grade.
    """
    if len(text) > LONGEST:
        return Malformed("too_long")
    bare = _BARE.fullmatch(text)
    found = {match["value"] for match in ([bare] if bare else _FINAL_SCORE.finditer(text))}
    if not found:
        return Malformed("no_grade")
    if len(found) > 1:
        return Malformed("ambiguous")
    value = found.pop()
    if not value.lstrip("-").isdigit():
        return Malformed("not_a_whole_number")
    return int(value) if 0 <= int(value) <= max_grade else Malformed("out_of_scale")
