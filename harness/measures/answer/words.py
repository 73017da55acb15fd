"""The words of an answer as SQuAD compares them, and the phrases of refusals."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from harness.values import WIDE, on_one_line, sentence_spans

_ARTICLES = re.compile(r"\b(a|an|the)\b")
# ASCII as in SQuAD; the others as in the script of CMRC 2018, which does for Chinese what SQuAD's does.
_PUNCTUATION = str.maketrans("", "", string.punctuation + "，。：？！“”；‘’《》…·、「」（）－～『』【】")
_TOKEN = re.compile(rf"[{WIDE}]|[^\s{WIDE}]+")
PHRASES = (
    "insufficient information",
    "not enough information",
    "cannot answer",
    "can not answer",
    "can't answer",
    "unable to answer",
    "cannot be answered",
    "cannot determine",
    "cannot be determined",
    "do not know",
    "don't know",
    "does not contain the answer",
    "do not contain the answer",
    "do not contain enough",
    "does not contain enough",
    "does not provide",
    "do not provide",
    "is not mentioned",
    "are not mentioned",
    "no information",
    "信息不足",
    "无法回答",
    "不能回答",
    "无法确定",
    "没有提到",
    "未提到",
    "未提及",
    "没有提供",
    "未提供",
    "不知道",
    "没有相关信息",
)
"""Phrases by which an answer refuses, in lower case."""


def words_of(text: str) -> tuple[str, ...]:
    """Lower case, without punctuation and the articles a, an, the; split at blanks, wide text everywhere.

    Rajpurkar et al., EMNLP 2016, evaluate-v2.0.py; Cui et al., A span-extraction dataset for Chinese machine
    reading comprehension, EMNLP 2019, for characters.
    """
    plain = text.lower().translate(_PUNCTUATION)
    return tuple(_TOKEN.findall(_ARTICLES.sub(" ", plain)))


def refuses(answer: str, phrases: Sequence[str] = PHRASES) -> bool:
    """Whether the first sentence of an answer holds one of the phrases, which are in lower case.

    Later sentences do not count: an answer may add what is not known. Typographic apostrophes are read as
    plain ones.
    """
    spans = sentence_spans(answer)
    first = answer[slice(*spans[0])] if spans else ""
    plain = on_one_line(first).lower().replace("’", "'")
    return any(phrase in plain for phrase in phrases)
