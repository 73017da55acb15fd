"""Whether two questions ask the same thing: words that matter, figures, and words that turn a meaning."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from harness.steps import Analyser

# Shares of the weight of words: of the shorter question, which a rephrasing adds to, and of both together.
_OF_SHORTER, _OF_BOTH = 0.75, 0.5
# Words are one where they begin alike and share this part of their groups of three letters (Dice).
_PREFIX, _SAME_WORD = 4, 0.6
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WORDS_OF_FIGURES = {
    "first": "1", "second": "2", "third": "3", "fourth": "4", "two": "2", "three": "3", "four": "4",
    "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
}  # fmt: skip
_CHINESE_DATE = re.compile(r"\d+[年月日]度?")
_CHINESE_FIGURE = re.compile(r"[一二三四五六七八九十两]+(?=[季年月期个名次届章条])")

# Words that turn a question into another: both questions have them, or neither.
_TURNING: Mapping[str, str] = {
    "most": "highest highest maximum max largest biggest greatest most longest 最高 最大 最多",
    "least": "lowest minimum min smallest least fewest shortest 最低 最小 最少",
    "up": "increase grow growth rise rose raise gain 增长 增加 上升 提高",
    "down": "decrease decline fall fell drop reduce reduction 下降 减少 降低",
    "share": "ratio rate percent percentage margin proportion % 比例 占比 百分比 率",
    "average": "average mean median 平均",
    "not": "not no never without except exclude 不 未 没有 除",
    "before": "before prior previous 之前 上一",
    "after": "after following next 之后 下一",
    "why": "why reason cause because driver 为什么 为何 原因",
}
# What is asked for; two questions that ask for other things are not one, whatever words they share.
_ASKED_FOR: Mapping[str, str] = {
    "who": r"\b(?:who|whom|whose)\b|谁",
    "when": r"\bwhen\b|\b(?:what|which) (?:date|day|month|year)\b|何时|什么时候|哪一?年",
    "where": r"\bwhere\b|哪里|何处|什么地方",
    "how much": r"\bhow (?:much|many|high|large|big)\b|多少",
}
_FILLING = (
    "high much many large big report company give tell show state amount value total figure record stand "
    "reach come achieve post generate overall please answer question base accord information detail "
    "respond response provide know find number count quarter q year fy"
)
_CHINESE_FILLING = re.compile(
    "请问|请|多少|什么时候|什么|哪些|哪个|哪里|如何|怎样|怎么|是否|达到|以及|一共|总共|"
    "[的是为了在吗呢有和与该其由谁]"
)


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question says: ``terms`` that matter, ``figures``, words that are ``turning``, ``asked_for``."""

    terms: frozenset[str]
    figures: frozenset[str]
    turning: frozenset[str]
    asked_for: frozenset[str]


def wording(text: str) -> Wording:
    """The wording of a question in English, Chinese, or what else the analyser `auto` cuts into words."""
    lower = text.lower()
    turning = {name for name, pattern in _turning_in_chinese().items() if pattern.search(lower)}
    figures = {figure.replace(",", "") for figure in _FIGURE.findall(lower)}
    figures |= set(_CHINESE_FIGURE.findall(lower))
    terms = set()
    for word in re.findall(r"[^\W\d_]+|%", lower):
        if word in _WORDS_OF_FIGURES:
            figures.add(_WORDS_OF_FIGURES[word])
        elif name := _turning_words().get(_stem(word)):
            turning.add(name)
    plain = _FIGURE.sub(" ", _CHINESE_DATE.sub("", _CHINESE_FILLING.sub("", lower)))
    for pattern in _turning_in_chinese().values():
        plain = pattern.sub("", plain)
    for term in _analyser().terms(plain):
        if term not in _left_out() and term not in _WORDS_OF_FIGURES and not term.isdigit():
            terms.add(term)
    asked_for = {name for name, pattern in _ASKED_FOR.items() if re.search(pattern, lower)}
    return Wording(frozenset(terms), frozenset(figures), frozenset(turning), frozenset(asked_for))


def weights_of(groups: Iterable[Iterable[Wording]]) -> dict[str, float]:
    """The weight of every term: the more groups of questions use it, the less it tells them apart."""
    used = [{term for question in group for term in question.terms} for group in groups]
    counts = Counter(term for terms in used for term in terms)
    return {term: math.log(1 + len(used) / count) for term, count in counts.items()}


def ask_the_same(first: Wording, second: Wording, weights: Mapping[str, float]) -> bool:
    """Whether two questions ask the same thing, as far as their words can tell."""
    if (first.figures, first.turning) != (second.figures, second.turning):
        return False
    if first.asked_for and second.asked_for and not first.asked_for & second.asked_for:
        return False
    if not first.terms or not second.terms:
        return first.terms == second.terms and first.asked_for == second.asked_for and bool(first.figures)
    shared = set(first.terms & second.terms)
    rest = set(second.terms - shared)
    for term in sorted(first.terms - shared):
        if match := next((other for other in sorted(rest) if _same_word(term, other)), None):
            shared.add(term)
            rest.remove(match)
    whole = [sum(weights[term] for term in question.terms) for question in (first, second)]
    common = sum(weights[term] for term in shared)
    shorter, longer = sorted((len(first.terms), len(second.terms)))
    if shorter == 1:
        return len(shared) == longer
    # equal weights summed in another order differ by rounding
    both = common * (1 + 1e-9)
    return both >= _OF_SHORTER * min(whole) and both >= _OF_BOTH * (sum(whole) - common)


def _same_word(first: str, second: str) -> bool:
    if first[:_PREFIX] != second[:_PREFIX] or min(len(first), len(second)) <= _PREFIX:
        return False
    one, other = ({word[at : at + 3] for at in range(len(word) - 2)} for word in (first, second))
    return 2 * len(one & other) >= _SAME_WORD * (len(one) + len(other))


@cache
def _analyser() -> Analyser:
    return Analyser("auto", "long")


def _stem(word: str) -> str:
    return next(iter(_plain_stems().terms(word)), word)


@cache
def _plain_stems() -> Analyser:
    return Analyser("auto", "none")


@cache
def _turning_words() -> dict[str, str]:
    return {_stem(word): name for name, words in _TURNING.items() for word in words.split() if word.isascii()}


@cache
def _turning_in_chinese() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(word for word in words.split() if not word.isascii()))
        for name, words in _TURNING.items()
    }


@cache
def _left_out() -> frozenset[str]:
    return frozenset({*map(_stem, _FILLING.split()), *_turning_words()})
