"""What a step of a trace recorded as its input and output: a question, an answer, passages.

Every tool lets a pipeline record what it likes, so these look for the usual names. No function recurses: what
is nested is walked from a stack, every part once and to a depth of 16, so that time is linear in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.data.external.answer_files import Passage

_DEEPEST = 16
# keys under which tools keep the text of a document, its source and its id
_TEXTS = ("page_content", "pageContent", "content", "text", "document.content", "chunk", "snippet")
_SOURCES = ("source", "file_name", "filename", "file_path", "document", "title", "url", "source_id")
_IDS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "id_", "document.id")
_LISTS = ("documents", "docs", "output", "results", "matches", "nodes", "chunks", "context")

_QUESTIONS = ("question", "query", "user_input", "input", "user_query", "prompt", "text", "content", "value")
_ANSWERS = (
    *("answer", "response", "output", "result", "output_text", "text", "content", "generation", "value"),
)
_WRAPPERS = (
    *("messages", "input", "output", "outputs", "inputs", "choices", "generations", "message", "kwargs"),
    *("parts",),
)
_USER = {"user", "human", "HumanMessage"}
_ASSISTANT = {"assistant", "ai", "AIMessage", "model"}
_OTHERS = {"system", "tool", "developer", "SystemMessage", "ToolMessage"}
_NOT_TEXT = {"tool_call", "tool_use", "tool_call_response", "reasoning", "thinking", "image_url", "blob"}


def question_in(content: Any) -> str:
    """The question: a text, the field of one, or the last message of a user; '' where there is none."""
    return _text_in(content, _QUESTIONS, _USER)


def answer_in(content: Any) -> str:
    """The answer: a text, the field of one, or the last message of the assistant; '' where there is none."""
    return _text_in(content, _ANSWERS, _ASSISTANT)


def unpacked(content: Any) -> Any:
    """JSON that is in a text, as attributes of spans hold it; any other value as it is."""
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return content
    return content


def plain(value: Any) -> str:
    """A text or number as text; '' for anything else, of which no id, name or message consists."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def passages_in(content: Any) -> tuple[Passage, ...]:
    """The documents that a retriever returned: a list of texts or objects, or an object that holds one."""
    for _ in range(_DEEPEST):
        if not isinstance(content, dict):
            break
        lists = (content[key] for key in _LISTS if isinstance(content.get(key), list | dict))
        content = next(lists, None)
    if not isinstance(content, list):
        return ()
    return tuple(passage for entry in content if (passage := _passage(entry)) is not None)


def _passage(entry: Any) -> Passage | None:
    if isinstance(entry, str):
        return Passage(entry) if entry.strip() else None
    if not isinstance(entry, dict):
        return None
    # LlamaIndex wraps a node with its score, LangChain's serialised documents keep their fields in kwargs
    for wrapper in ("node", "document", "kwargs", "payload"):
        if isinstance(entry.get(wrapper), dict):
            entry = {**entry, **entry[wrapper]}
    metadata = unpacked(entry.get("metadata"))
    metadata = metadata if isinstance(metadata, dict) else {}
    text = _first(entry, _TEXTS)
    passage_id = _first(entry, _IDS) or _first(metadata, _IDS)
    source = _first(metadata, _SOURCES) or _first(entry, _SOURCES)
    return Passage(text, source, passage_id) if text or passage_id else None


def _first(fields: Mapping[str, Any], keys: Iterable[str]) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def _text_in(content: Any, keys: Sequence[str], roles: set[str]) -> str:
    """The first text in the order in which `_parts` leads; a bare text counts wherever it is reached."""
    stack = [(content, 0)]
    while stack:
        content, depth = stack.pop()
        content = unpacked(content)
        if isinstance(content, str):
            if text := content.strip():
                return text
        elif depth < _DEEPEST:
            if isinstance(content, list) and (text := _joined(content)):
                return text
            parts = list(_parts(content, keys, roles))
            stack += [(part, depth + 1) for part in reversed(parts)]
    return ""


def _parts(content: Any, keys: Sequence[str], roles: set[str]) -> Iterator[Any]:
    """What may hold the text, the likeliest first: texts under the keys, then what wraps them."""
    if isinstance(content, dict):
        names = [key for key in dict.fromkeys((*keys, *_WRAPPERS)) if content.get(key)]
        yield from (content[key] for key in names if isinstance(content[key], str) and key in keys)
        wrapped = sorted(names, key=lambda key: key not in _WRAPPERS)
        yield from (content[key] for key in wrapped if isinstance(content[key], dict | list))
    elif isinstance(content, list):
        senders = [role_of(entry) for entry in content]
        if any(senders):
            for entry, role in zip(reversed(content), reversed(senders), strict=True):
                if role in roles:
                    yield from _content_of(entry)
        else:
            yield from (
                entry
                for entry in content
                if not (isinstance(entry, dict) and plain(entry.get("type")) in _NOT_TEXT)
            )


def _joined(content: list[Any]) -> str:
    """The text of a message that is recorded in parts of text alone."""
    if not all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return ""
    texts = (part.get("text") or part.get("content") for part in content)
    return "\n".join(text.strip() for text in texts if isinstance(text, str)).strip()


def _content_of(message: Any) -> Iterator[Any]:
    """The content of a message, in whichever field it is."""
    if isinstance(message, list):
        yield message[1]
        return
    kwargs = message.get("kwargs")
    fields = kwargs if isinstance(kwargs, dict) else message
    yield from (fields[key] for key in ("content", "parts", "text", "message") if fields.get(key))


def role_of(message: Any) -> str:
    """Who a message is from: its role, LangChain's type, or the first of a pair; '' for no message."""
    if isinstance(message, list) and len(message) == 2 and all(isinstance(part, str) for part in message):
        return message[0] if message[0] in _USER | _ASSISTANT | _OTHERS else ""
    if isinstance(message, dict) and isinstance(message.get("message"), dict):
        # a choice of an API wraps its message once
        message = {**message["message"], **{key: message[key] for key in ("role",) if key in message}}
    if not isinstance(message, dict):
        return ""
    if isinstance(message.get("role"), str):
        return str(message["role"])
    kind, path = plain(message.get("type")), message.get("id")
    if kind in _USER | _ASSISTANT | _OTHERS:
        return kind
    # LangChain's serialised messages: {"type": "constructor", "id": [..., "HumanMessage"], "kwargs": ...}
    return plain(path[-1]) if kind == "constructor" and isinstance(path, list) and path else ""
