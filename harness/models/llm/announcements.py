"""The words before a value that merely announce it, as a short grammar: whatever else stands there is none.

"I refuse to output:" announces nothing that is meant, and "Output format:" and "Passage:" announce something
else. So every word is listed at its place, and a noun says what comes.
"""

from __future__ import annotations

import re

_STYLE = re.compile(r"[\s*_#]+")
_LONGEST = 80
_BEFORE = (
    r"(?i)(?:(?:well|sure(?: thing)?|certainly|of course|okay|ok|absolutely|understood|got it)[ ,.!:]*)?"
    r"(?:(?:so|therefore|thus|hence|overall|in conclusion|to conclude|in summary|to summari[sz]e)[ ,:]+)?"
    r"(?:(?:based on|after|following)(?: (?:the|my|this))?(?: (?:above|careful|preceding))?"
    r" (?:analysis|assessment|evaluation|reasoning|review|criteria)(?: above)?[ ,:]+)?"
    r"(?:here(?:['’]s| is| are)|this is|these are|below (?:is|are)|i (?:give|assign))?[ :]*"
)
_NOUNS = (
    r"answer|assessment|evaluation|judge?ment|grades?|grading|ratings?|scor(?:es?|ing)|relevanc[ey]|results?"
    r"|output|response|verdicts?|json|object|list|statements?|entities"
)
_AFTER = (
    r"(?: (?:json|object|list|array|results?|output|response))?(?: assigned)?"
    r"(?: (?:for|of) (?:the|this|each|all|these)(?: (?:given|provided))? (?:passages?|pairs?|query))?"
    r"(?: (?:in|as) (?:the |a )?(?:json|requested|required|specified)(?: (?:format|form|object))?)?"
    r"(?: (?:is|are))?(?: as follows)?"
)


def _english(nouns: str) -> re.Pattern[str]:
    kinds = r"the|my|a|an|its|final|overall|relevanc[ey]|json|graded|single|requested|assigned|resulting"
    return re.compile(rf"{_BEFORE}(?:(?:(?:{kinds}) )*(?:{nouns}){_AFTER})?[ :：.=]*")


_ANNOUNCED = _english(_NOUNS)
# The passages in their order are no scores, though they look like them.
_RANKING_ANNOUNCED = _english(rf"{_NOUNS}|ranking|order")
_ANNOUNCED_IN_CHINESE = re.compile(
    r"(?i)(?:好的|好|当然|没问题|明白了?|收到)?[ ，,。!！]*"
    r"(?:(?:因此|所以|综上|综上所述|总之)[ ，,]*)?"
    r"(?:(?:根据|基于|经过)(?:以上|上述|我的|前面的)?的?(?:分析|评估|判断|评分标准)[ ，,]*)?"
    r"(?:以下|下面|这)?(?:就?是|为)?(?:我(?:的|给出的?)|本次|对?(?:该|此|这个|本)段落的)?"
    r"(?:(?:最终|综合|总体|相关性|相关度|json)*的?(?:"
    r"(?:评分|得分|打分|分数|等级|评级|答案|结果|输出|回答|评定|评估|判断|相关性|相关度)(?:结果|等级|分数|列表)?"
    r"|json(?:对象|列表)?))?(?:如下|为|是)?[ ：:，,。=]*"
)


def announces(words: str, *, ranking: bool = False) -> bool:
    """Whether words before a value only announce it, as no words at all do; ``ranking``: also as an order."""
    plain = _STYLE.sub(" ", words).strip() if len(words) <= 10 * _LONGEST else words
    form = _RANKING_ANNOUNCED if ranking else _ANNOUNCED
    return len(plain) <= _LONGEST and bool(form.fullmatch(plain) or _ANNOUNCED_IN_CHINESE.fullmatch(plain))
