"""The files of a batch: a line for each request that goes up, and the lines that come back.

Source: OpenAI's Batch API, platform.openai.com/docs/guides/batch. The package openai (3.57) has no type for a
line that comes back. The completion in one is read as that of a single call is, by ``ChatClient.reply``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.models.llm.client import Reply
from harness.models.llm.faults import CallError
from harness.models.llm.untrusted import MOST_BYTES_OF_CHAT, UntrustedJsonError, read_json

# Codes of requests that an endpoint did not process.
_NOT_REACHED = {"batch_expired", "batch_cancelled"}
_NOT_REACHED_WORDS = "the batch ended before this request was answered"
Outcome = Reply | CallError
"""What came of a request."""


@dataclass(slots=True)
class BatchAnswers:
    """The content of the files of a batch: what came of a request, by its id.

    ``broken`` counts lines that cannot be read. ``double`` are ids with two different answers, neither of
    which counts: one of them belongs to somebody else.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    broken: int = 0
    double: set[str] = field(default_factory=set)


def request_line(custom_id: str, path: str, arguments: Mapping[str, Any]) -> bytes:
    """One line of a file of requests, from the arguments of ``chat.completions.create``.

    It has the body that the package would send. Lone surrogates, which JSON parsers may refuse, are escaped.
    """
    body = {name: value for name, value in arguments.items() if name != "extra_body"}
    body |= arguments.get("extra_body") or {}
    request = {"custom_id": custom_id, "method": "POST", "url": path, "body": body}
    return json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def read_answers(
    files: Iterable[bytes],
    reply_of: Callable[[Any, str], Reply],
    failure: Callable[[int, Any], CallError],
) -> BatchAnswers:
    """The lines of a batch's files, in any order.

    ``reply_of`` reads the body of a completion, with the id of its request, and raises CallError; ``failure``
    is the fault that a status with a body is.
    """
    answers = BatchAnswers()
    contents: dict[str, object] = {}
    for line in (line for content in files for line in content.splitlines() if line.strip()):
        row = _row(line)
        if row is None:
            answers.broken += 1
            continue
        name, content = row["custom_id"], _content(row)
        if name in contents and contents[name] != content:
            answers.double.add(name)
        elif name not in contents:
            contents[name] = content
            answers.outcomes[name] = _outcome(row, reply_of, failure)
    for name in answers.double:
        words = "the batch holds two different answers to this request"
        answers.outcomes[name] = CallError("double_answer", words, again=True, billed=True)
    return answers


def missing(status: str) -> CallError:
    """The fault of a call that is not in the files of its batch, which has ended with ``status``."""
    if status in {"expired", "cancelled"}:
        return CallError(f"batch_{status}", _NOT_REACHED_WORDS, again=True)
    words = "the batch ended without an answer to this request"
    return CallError("missing_line", words, again=True, billed=True)


def _outcome(
    row: dict[str, Any],
    reply_of: Callable[[Any, str], Reply],
    failure: Callable[[int, Any], CallError],
) -> Outcome:
    response, error = row.get("response"), row.get("error")
    if not isinstance(response, dict):
        code = str(error.get("code") or "") if isinstance(error, dict) else ""
        if code in _NOT_REACHED:
            return CallError(code, _NOT_REACHED_WORDS, again=True)
        return CallError("line_failed", failure(500, error).detail, again=True)
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int) or not 200 <= status < 300:
        return failure(status if isinstance(status, int) else 500, body)
    try:
        return reply_of(body, str(response.get("request_id") or row.get("id") or row["custom_id"]))
    except CallError as fault:
        return fault


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = read_json(line, MOST_BYTES_OF_CHAT)
    except UntrustedJsonError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        return None
    return row if isinstance(row.get("response"), dict) or row.get("error") else None


def _content(row: dict[str, Any]) -> object:
    """The content in which two lines for one request must agree."""
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return body.get("choices", body) if isinstance(body, dict) else row.get("error")
