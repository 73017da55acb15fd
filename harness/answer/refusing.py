"""Phrases by which an answer says that it has none."""

from __future__ import annotations

from collections.abc import Sequence

from harness.text.characters import on_one_line
from harness.text.sentences import sentence_spans

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


def refuses(answer: str, phrases: Sequence[str] = PHRASES) -> bool:
    """Whether the first sentence of an answer holds one of the phrases, which are in lower case.

    Later sentences do not count: an answer may say besides what is not known. Typographic apostrophes are
    read as plain ones.
    """
    spans = sentence_spans(answer)
    first = answer[slice(*spans[0])] if spans else ""
    plain = on_one_line(first).lower().replace("’", "'")
    return any(phrase in plain for phrase in phrases)
