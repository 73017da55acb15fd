"""What a model's reply holds: one value with nothing around it but what is known to mean nothing.

Words beside a value may quote it, doubt it or take it back, in more ways than any list of suspicious words
has. So it is the other way round: a short list says what may stand around a value, and anything else makes
the reply unusable.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness.models.llm.announcements import announces
from harness.models.llm.notation import in_json
from harness.models.llm.untrusted import NamedTwiceError, UntrustedJsonError, read_json_at, reports_error

LONGEST = 50_000
"""A longer reply is no value that was asked for."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """An answer that cannot be used, and the short name of its fault."""

    reason: str


# The marks between which reasoning models put their thoughts, each with the one that ends them.
_THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
_BEGINS = {begin: kind for kind, (begin, _) in enumerate(_THOUGHTS)}
_ENDS = {end: kind for kind, (_, end) in enumerate(_THOUGHTS)}
# The last channel may say in which form it is.
_ENDS |= dict.fromkeys(
    (f"<|channel|>final{space}<|constrain|>json<|message|>" for space in ("", " ")), len(_THOUGHTS) - 1
)
_MARK = re.compile("|".join(map(re.escape, (*_BEGINS, *_ENDS))), re.IGNORECASE)


def after_thoughts(text: str) -> str | Malformed:
    """The text after a reasoning model's thoughts; a thought that does not end has no answer after it.

    The first mark of the thoughts may be missing, since some chat templates hold it. Words before the
    thoughts or between two of them may be another answer: such a reply is ambiguous.
    """
    marks = [(mark.start(), mark.end(), mark[0].lower()) for mark in _MARK.finditer(text)]
    if not marks:
        return text.strip()
    first, last = marks[0], marks[-1]
    kind = _BEGINS.get(first[2], _ENDS.get(first[2]))
    if _ENDS.get(last[2]) != kind:
        return Malformed("unfinished_thought")
    outside = [text[: first[0]]] if first[2] in _BEGINS else []
    for (_, end, mark), (begin, _, following) in pairwise(marks):
        if mark in _ENDS and following in _BEGINS:
            outside.append(text[end:begin])
    return Malformed("ambiguous") if any(map(str.strip, outside)) else text[last[1] :].strip()


# Beginnings and ends of the assistant's turn by chat templates that some servers leave in.
_TURN_BEGINS = re.compile(
    r"\ufeff?\s*(?:<s>|<bos>|<\|begin_of_text\|>)?\s*(?:<\|im_start\|>assistant\b|<\|assistant\|>|<｜Assistant｜>"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model\b|\[\|assistant\|\]"
    r"|<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>|<\|im_assistant\|>assistant<\|im_middle\|>|\]~b\]ai\b"
    r"|<\|start\|>assistant(?=<\|channel\|>))?"
)
_TURN_ENDS = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<|return|>", "<|eom_id|>"),
    *("</s>", "<end_of_turn>", "<eos>", "<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>", "[e~[", "<|user|>"),
    *("<|observation|>", "<|END_OF_TURN_TOKEN|>", "<seed:eos>", "[|endofturn|]"),
)
_HOLDS_A_VALUE = re.compile(r"[{\d]|\[\s*\]")
_VALUE = re.compile(r"[\[{\d`~<-]")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:(?i:json|jsonc|json5|text|txt|plaintext|python|py)\b)?[ \t]*\n?")
# Marks that some models are trained to put around an answer.
_AROUND = (
    *(("<answer>", "</answer>"), ("<response>", "</response>"), ("<|begin_of_box|>", "<|end_of_box|>")),
    *(("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("`", "`"), ("```", "```")),
)


def reply_in(text: str) -> str | Malformed:
    """A reply without thoughts, fence and end of turn."""
    begun = _TURN_BEGINS.match(text)
    answer = after_thoughts(text[begun.end() :] if begun else text)
    if isinstance(answer, Malformed):
        return answer
    return Malformed("too_long") if len(answer) > LONGEST else _unfenced(_at_end_cut(answer))


def value_in(text: str, *, ranking: bool = False) -> str | Malformed:
    """The text of the value that a reply is, without thoughts, announcement, fence and end of turn.

    ``ranking``: an order is asked for, which may be announced as such.
    '' where nothing in the reply could be a value; Malformed with words before one that do not merely
    announce it. What comes behind a value is left for its reader to refuse.
    """
    answer = reply_in(text)
    if isinstance(answer, Malformed):
        return answer
    start = _VALUE.search(answer)
    if start is None or not _HOLDS_A_VALUE.search(answer):
        return ""
    if not announces(answer[: start.start()], ranking=ranking):
        return Malformed("text_around")
    value = _unfenced(answer[start.start() :])
    for begin, end in _AROUND:
        if value.startswith(begin) and value.endswith(end) and len(value) >= len(begin + end):
            value = value[len(begin) : len(value) - len(end)]
    return _at_end_cut(value.strip())


def _unfenced(value: str) -> str:
    """What is in the code fence that a value is; a stop sequence may have cut off its end."""
    fence = _FENCE.match(value)
    return value[fence.end() :].strip().removesuffix(fence[1]) if fence else value


def _at_end_cut(value: str) -> str:
    """A value without what may stand behind it; a search for it from every place would be quadratic."""
    while True:
        shorter = value.rstrip(" \t\r\n*.。")
        for mark in _TURN_ENDS:
            shorter = shorter.removesuffix(mark)
        if shorter == value:
            return value
        value = shorter


def json_in(text: str, bracket: str) -> Any | Malformed:
    """The JSON value that a reply is, which begins with ``bracket``; a field named twice is ambiguous.

    It may have the notation of Python, a comma before a closing bracket, or typographic quotes.
    """
    value = value_in(text)
    if isinstance(value, Malformed):
        return value
    if not value.startswith(bracket):
        return Malformed("no_object" if value else "no_json")
    try:
        parsed, end = read_json_at(value, 0)
    except NamedTwiceError:
        return Malformed("ambiguous")
    except UntrustedJsonError:
        as_json = in_json(value)
        return json_in(as_json, bracket) if as_json else Malformed("broken_json")
    if end == len(value):
        return parsed
    # what follows may be another value, or words that take this one back
    return Malformed("ambiguous" if _HOLDS_A_VALUE.search(value, end) else "text_around")


def object_in(text: str, fields: Collection[str], also: Collection[str] = ()) -> dict[str, Any] | Malformed:
    """The one JSON object that a reply is: it has all of ``fields``, maybe some of ``also``, and no other.

    A field that nobody asked for may say that the others are not meant, under any name. Whether a name is
    written in capital letters says nothing, nor does a list with the object alone.
    """
    parsed = json_in(text, "{")
    if parsed == Malformed("no_object") and isinstance(listed := json_in(text, "["), list):
        parsed = listed[0] if len(listed) == 1 and isinstance(listed[0], dict) else parsed
    if isinstance(parsed, Malformed):
        return parsed
    return object_of(parsed, fields, also)


def object_of(
    parsed: dict[str, Any], fields: Collection[str], also: Collection[str] = ()
) -> dict[str, Any] | Malformed:
    """An object with its fields named as in ``fields`` and ``also``; rules as of ``object_in``."""
    names = {name.casefold(): name for name in (*also, *fields)}
    renamed = {names.get(name.casefold(), name): value for name, value in parsed.items()}
    if len(renamed) < len(parsed):
        return Malformed("ambiguous")
    return fault_of(renamed, fields, also) or renamed


def first_object_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text, whatever stands around it; None for none, or if it reports an error.

    For what was taken for an answer before `object_in` said what one is, and for nothing new.
    """
    start = text.find("{")
    if start < 0 or len(text) > LONGEST:
        return None
    try:
        parsed, _ = read_json_at(text, start)
    except UntrustedJsonError:
        return None
    return parsed if isinstance(parsed, dict) and not reports_error(parsed) else None


def fault_of(parsed: dict[str, Any], fields: Collection[str], also: Collection[str] = ()) -> Malformed | None:
    """Why an object is not one with all of ``fields`` and none beside ``also``; None if it is."""
    if reports_error(parsed):
        return Malformed("error_reported")
    if not parsed.keys() <= {*fields, *also}:
        return Malformed("unknown_field")
    return None if parsed.keys() >= set(fields) else Malformed("missing_field")


_IN_OBJECT = re.compile(r"[\"“]([\w ]+)[\"”]\s*[:：]")


def fields_named(*words: str) -> frozenset[str]:
    """The fields that the words of a prompt name as those of a JSON object, such as ``"reason": "…"``."""
    return frozenset(name for part in words for name in _IN_OBJECT.findall(part))


_NUMBER = re.compile(r"(-?\d{1,4}(?:\.\d+)?)\s*分?")
_COMMA = r"(?:[ \t]*[,，、]\s*|[ \t]*\n\s*)"
_LIST = re.compile(rf"-?\d{{1,4}}(?:{_COMMA}-?\d{{1,4}})*")


def number_in(text: str) -> float | Malformed | None:
    """The one number that a reply is; None if it is none."""
    value = value_in(text)
    if isinstance(value, Malformed):
        return value
    number = _NUMBER.fullmatch(value)
    return float(number[1]) if number else None


def list_in(text: str) -> list[Any] | Malformed | None:
    """The one list that a reply is, as JSON or as whole numbers between commas or lines; None if none."""
    value = value_in(text)
    if isinstance(value, Malformed):
        return value
    if value.startswith("["):
        parsed = json_in(value, "[")
        return parsed if isinstance(parsed, list | Malformed) else None
    if not _LIST.fullmatch(value):
        return None
    return [int(number) for number in re.split(_COMMA, value)]
