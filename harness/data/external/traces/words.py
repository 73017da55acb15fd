"""The question in the input of a step, and the answer in its output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_ASKED = ("question", "query", "user_input", "input", "user_query", "prompt", "text", "content", "value")
_ANSWERED = (
    "answer",
    "response",
    "output",
    "result",
    "output_text",
    "text",
    "content",
    "generation",
    "value",
)
_WRAPPED = ("messages", "input", "output", "outputs", "inputs", "choices", "generations", "message", "kwargs")
_USER = {"user", "human", "HumanMessage"}
_ASSISTANT = {"assistant", "ai", "AIMessage", "model"}
_DEEPEST = 12


def question_in(value: Any) -> str:
    """The question: a text, the field of one, or the last message of a user in a list."""
    return _text(value, _ASKED, _USER, 0)


def answer_in(value: Any) -> str:
    """The answer: a text, the field of one, or the last message of the assistant in a list."""
    return _text(value, _ANSWERED, _ASSISTANT, 0)


def unpacked(value: Any) -> Any:
    """JSON that is in a text, as attributes of spans hold it; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _text(value: Any, keys: Sequence[str], roles: set[str], depth: int) -> str:
    value = unpacked(value)
    if isinstance(value, str):
        return value.strip()
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return _of_list(value, keys, roles, depth)
    if not isinstance(value, dict):
        return ""
    for key in keys:
        found = unpacked(value.get(key))
        if isinstance(found, str) and found.strip():
            return found.strip()
    for key in (*_WRAPPED, "parts", *keys):
        if isinstance(value.get(key), dict | list) and (found := _text(value[key], keys, roles, depth + 1)):
            return found
    return ""


def _of_list(values: list[Any], keys: Sequence[str], roles: set[str], depth: int) -> str:
    """The last message of one of the roles; without roles the parts of a text, or the first that has one."""
    from_whom = [role_of(one) for one in values]
    if any(from_whom):
        own = [one for one, role in zip(values, from_whom, strict=True) if role in roles]
        return next((text for one in reversed(own) if (text := _content(one, keys, roles, depth))), "")
    if all(isinstance(one, dict) and one.get("type") == "text" for one in values):
        return "\n".join(filter(None, (_text(one, ("text", "content"), roles, depth + 1) for one in values)))
    # parts of a message: those of other types than text say nothing
    kept = [one for one in values if not (isinstance(one, dict) and str(one.get("type")) in _NOT_TEXT)]
    return next((text for one in kept if (text := _text(one, keys, roles, depth + 1))), "")


_NOT_TEXT = {"tool_call", "tool_use", "tool_call_response", "reasoning", "thinking", "image_url", "blob"}


def _content(message: Any, keys: Sequence[str], roles: set[str], depth: int) -> str:
    if isinstance(message, list):
        return _text(message[1], keys, roles, depth + 1)
    inner = message.get("kwargs") if isinstance(message.get("kwargs"), dict) else message
    for key in ("content", "parts", "text", "message"):
        if inner.get(key):
            return _text(inner[key], ("text", "content", *keys), roles, depth + 1)
    return ""


def role_of(message: Any) -> str:
    """Who a message is from: its role, LangChain's type, or the first of a pair; '' for no message."""
    if isinstance(message, list) and len(message) == 2 and all(isinstance(one, str) for one in message):
        return message[0] if message[0] in _USER | _ASSISTANT | {"system", "tool"} else ""
    if not isinstance(message, dict):
        return ""
    if isinstance(message.get("role"), str):
        return str(message["role"])
    if isinstance(message.get("message"), dict):
        return role_of(message["message"])
    kind, path = str(message.get("type")), message.get("id")
    if kind in _USER | _ASSISTANT | {"system", "tool"}:
        return kind
    # LangChain's serialised messages: {"type": "constructor", "id": [..., "HumanMessage"], "kwargs": ...}
    return str(path[-1]) if kind == "constructor" and isinstance(path, list) and path else ""
