"""What makes a body a chat completion: one message of the assistant, and nothing that reports a failure.

Servers add fields of their own, so these are not listed. What is listed are the words that name a status, and
the values that mean success: a field with such a name and any other value says that the completion was not
made, or not as it stands. Vectors and scores are held to the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.models.llm.openai_client import typed

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionMessage
    from openai.types.chat.chat_completion import Choice
    from pydantic import BaseModel

# The kinds of an object that hold a message. Some servers name none.
_KINDS = {None, "", "chat.completion", "text_completion", "extensions.chat.completion"}
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
# Fields that are true where all went well, those that are 0 or say so, and those that are false or empty.
_TRUE = {"success", "succeeded", "successful", "ok", "valid"}
_STATUS = {"code", "status", "errno", "ret", "retcode"}
_FAULT = {
    *("error", "errors", "err", "errcode", "errmsg", "exception", "fault", "failed", "failure", "fail"),
    *("blocked", "rejected", "aborted", "cancelled", "canceled", "invalid", "incomplete", "truncated"),
    *("sensitive", "refused", "filtered"),
}
# Other words in the names of such fields; with any other word, as in country_code, it is none of them.
_WORDS = {"msg", "message", "text", "description", "desc", "detail", "details", "reason", "type"}
_BESIDE = {
    *("is", "has", "was", "http", "response", "resp", "result", "return", "base", "biz", "sub", "input"),
    *("output", "int", "flag", "request", "api"),
}
_SUCCESS = {
    *("", "0", "00", "000", "0000", "00000", "000000", "200", "ok", "success", "successful", "succeeded"),
    *("complete", "completed", "done", "finished", "normal", "true", "none", "null", "成功"),
}
_NO_FAULT = {"", "0", "none", "null", "no", "n/a", "false", "ok", "success"}
_SAYS_FAILURE = {"error", "failed", "failure", "fail", "失败", "错误"}
# What the model wrote and why it ended, which are read for themselves, and sections that count or describe.
_APART = {
    "finish_reason",
    *("content", "reasoning_content", "reasoning", "thinking", "refusal", "text"),
    *("usage", "choices", "message", "logprobs", "prompt_logprobs", "metadata"),
}
# The kinds of parts of a content in which some models think.
_THOUGHT_PARTS = ("thinking", "reasoning")
# Azure describes there what its filters saw, also where it passed.
_FILTERS = {"content_filter_results", "content_filter_result", "prompt_filter_results"}
_DEEPEST = 3
# The kinds of a reply with vectors or scores, and of one of them.
_NUMBER_KINDS = {None, "", "list", "embedding", "rerank"}
# What holds the numbers, and the texts that they are of: fields of documents may have any name.
_NUMBERS = {"data", "results", "embedding", "index", "score", "relevance_score", "document", "text"}


def choice_in(choices: list[Any]) -> Choice:
    """The first choice and its message, both without a field where there is none; raises TypeError."""
    from openai.types.chat import ChatCompletionMessage
    from openai.types.chat.chat_completion import Choice

    choice = typed(Choice, choices[0] if choices else {})
    choice.message = typed(ChatCompletionMessage, choice.message or {})
    return choice


def failure_in(completion: ChatCompletion) -> str:
    """Why a completion may not be used, as a clause; '' if it is one; raises TypeError.

    One without choices is not judged here: it is an answer of its own.
    """
    if completion.object not in _KINDS:
        return "its object is no chat.completion"
    if bad := next(_bad_status(completion), ""):
        return f"its field {bad} reports a failure"
    choices: Any = completion.choices
    if not isinstance(choices, list) or not choices:
        return ""
    if len(choices) > 1 or not isinstance(choices[0], dict):
        return "it has no single message"
    message = (choice := choice_in(choices)).message
    for part in (choice, message):
        if bad := next(_bad_status(part), ""):
            return f"the field {bad} of its choice reports a failure"
    if message.role != "assistant":
        return "its message has another role than assistant"
    if message.tool_calls or message.function_call:
        return "its message calls a tool"
    return "" if isinstance(content_of(message), str | None) else "its content is no text"


def content_of(message: ChatCompletionMessage) -> Any:
    """What a message says: its content, or the text of its only part that is no thought."""
    content: Any = message.content
    parts = content if isinstance(content, list) else ()
    if not all(isinstance(part, dict) and part.get("type") in ("text", *_THOUGHT_PARTS) for part in parts):
        return content
    texts = [part.get("text") for part in parts if part["type"] == "text"]
    return texts[0] if len(texts) == 1 else content


def failure_in_numbers(reply: Any) -> str:
    """Why a reply holds no vectors or scores that may be used, as a clause; '' if nothing says so.

    Whether the numbers themselves are whole is not judged here.
    """
    items = reply
    if isinstance(reply, dict):
        if reply.get("object") not in _NUMBER_KINDS:
            return "its object is none of vectors or scores"
        plain = {name: value for name, value in reply.items() if name not in _NUMBERS}
        if bad := next(_bad_status(plain), ""):
            return f"its field {bad} reports a failure"
        items = reply.get("data") or reply.get("results")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            plain = {name: value for name, value in item.items() if name not in _NUMBERS}
            if item.get("object") not in _NUMBER_KINDS:
                return "the object of one of its items is none of vectors or scores"
            if bad := next(_bad_status(plain), ""):
                return f"the field {bad} of one of its items reports a failure"
    return ""


def was_filtered(choice: Choice) -> bool:
    """Whether a filter says that it took something out of a choice."""
    results = extra(choice, "content_filter_results")
    kinds = results.values() if isinstance(results, dict) else ()
    return any(isinstance(kind, dict) and kind.get("filtered") is True for kind in kinds)


def extra(model: BaseModel, name: str) -> Any:
    """A field that the package does not know; None where it was not sent."""
    return (model.model_extra or {}).get(name)


def _bad_status(section: BaseModel | dict[str, Any], depth: int = 0) -> Iterator[str]:
    """The names of fields of a section, and of sections in it, that report a failure."""
    for name, value in dict(section).items():
        if name in _APART or name in _FILTERS:
            continue
        if _reports_failure(name, value):
            yield name[:60]
        elif isinstance(value, dict) and depth < _DEEPEST:
            yield from _bad_status(value, depth + 1)


def _reports_failure(name: str, value: Any) -> bool:
    """Whether a field is one of status with a value that does not mean success."""
    spelled = str(value).strip().casefold()
    if isinstance(value, str) and spelled in _SAYS_FAILURE:
        return True
    words = {word.lower() for word in _WORD.findall(name)}
    if value is None or not words <= _TRUE | _STATUS | _FAULT | _WORDS | _BESIDE:
        return False
    if words & _FAULT:
        return bool(value) and spelled not in _NO_FAULT
    if words & _WORDS or isinstance(value, dict | list):
        return False
    if words & _TRUE:
        return spelled not in _SUCCESS - {"0"} | {"1"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value != 0 and not 200 <= value < 300
    return bool(words & _STATUS) and spelled not in _SUCCESS
