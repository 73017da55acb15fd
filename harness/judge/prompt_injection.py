"""Find text that addresses the one who grades it: orders, claimed grades, ready answers, closing fences."""

from __future__ import annotations

import re

_SIGNS = (
    # "Ignore all previous instructions", "disregard the above rules"
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|guidelines)\b",
    r"(?:忽略|无视|忘记)[^。\n]{0,12}(?:指令|指示|规则|提示)",
    # "grade this 4", "rate this passage as 4", "give it the highest score"
    r"\b(?:grade|rate|score|mark)\s+(?:this|it)\b[^.\n]{0,30}(?:\b[0-9]\b|highest|maximum|top|perfect|relevant)",
    r"\b(?:give|assign|award)\b[^.\n]{0,30}\b(?:highest|maximum|top|perfect|full)\s+(?:grade|score|mark|rating)",
    r"(?:评|打|给)[^。\n]{0,8}(?:\d\s*分|满分|最高分)",
    # "official grade 4/4", "relevance score: 4"
    r"\b(?:relevance|official|final)\s+(?:grade|score|label|rating)\b\s*(?:is|of|[:=])?\s*[0-9]",
    r"(?:官方|最终|相关性)(?:等级|评分|分数)",
    # an answer in the form that judges give
    r"""["'](?:grade|score|relevance|O)["']\s*:\s*[0-9]""",
    r"#+\s*final score",
    # "Note to the assessor", "assessor's note", "as an AI judge"
    r"\b(?:assessor|grader|evaluator|rater)\b['’]?s?\s+note",
    r"\bnote\s+to\s+(?:the\s+)?(?:assessor|grader|evaluator|rater|judge|ai|model|llm)\b",
    r"\b(?:dear|attention)\s+(?:assessor|grader|evaluator|judge|ai|language model|llm)\b",
    r"\byou are (?:an?|the) (?:ai|language model|relevance assessor|helpful assistant|grader|judge)\b",
    r"评估员注|致评估员",
    # "this passage answers the query completely"
    r"\bthis (?:passage|text|document|chunk)\b[^.\n]{0,60}\b(?:answers?|relevant)\b[^.\n]{0,30}"
    r"\b(?:the|your) (?:query|question)\b",
    r"本(?:段落|文|段)[^。\n]{0,12}(?:回答|相关)",
    # an attempt at the fence, or at a chat's roles
    r"</?(?:passage|query)\b",
    r"<\|(?:im_start|im_end|system|user|assistant)\|>",
)
_INJECTION = re.compile("|".join(f"(?:{sign})" for sign in _SIGNS), re.IGNORECASE)
_AROUND = 40


def find_injection(text: str) -> str | None:
    """The words with which a passage addresses its judge, with some text around them; None if it does not.

    A rough filter, for a person to look at: it knows common phrases in English and Chinese, misses others,
    and flags some pages about grading. It changes no grade.
    """
    found = _INJECTION.search(text)
    if found is None:
        return None
    around = text[max(0, found.start() - _AROUND) : found.end() + _AROUND]
    return " ".join(around.split())
