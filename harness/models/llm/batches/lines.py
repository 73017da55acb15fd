"""The lines of the files that go up and come back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.models.llm.batches.client import BatchState
from harness.models.llm.client import ChatClient, Reply
from harness.models.llm.faults import CallError
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.values import LlmAnswer

_OK = range(200, 300)
# Between the names of a batch and of a request in it.
_OF_BATCH = "/"
# Codes of requests that an endpoint did not process.
_NOT_REACHED = {"batch_expired", "batch_cancelled"}


@dataclass(slots=True)
class Answers:
    """The content of the files of a batch: the answer, or why there is none, by the id of the request.

    ``broken`` counts lines that cannot be read. ``double`` are ids with two different answers, which are
    both left out: one of them belongs to somebody else.
    """

    found: dict[str, Reply | CallError] = field(default_factory=dict)
    broken: int = 0
    double: set[str] = field(default_factory=set)


def written(request: Mapping[str, Any]) -> bytes:
    """A request as a line; lone surrogates, which JSON parsers may refuse, are left out."""
    return json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def came_in_batch(answer: LlmAnswer) -> bool:
    """Whether an answer on record came in a batch, so that its time is that of the batch."""
    return _OF_BATCH in answer.request_id


def read_answers(files: list[bytes], chat: ChatClient, state: BatchState) -> Answers:
    """Read the lines of a batch's files, in any order."""
    answers = Answers()
    seen: dict[str, object] = {}
    for line in (line for data in files for line in data.splitlines() if line.strip()):
        row = _row(line)
        if row is None:
            answers.broken += 1
            continue
        name, content = row["custom_id"], _content(row)
        if name in seen and seen[name] != content:
            answers.double.add(name)
        elif name not in seen:
            seen[name] = content
            answers.found[name] = _outcome(row, chat, state)
    for name in answers.double:
        answers.found[name] = CallError(
            "double_answer", "the batch holds two different answers to this request", again=True, billed=True
        )
    return answers


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = read_json(line)
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


def _outcome(row: dict[str, Any], chat: ChatClient, state: BatchState) -> Reply | CallError:
    from openai.types.chat import ChatCompletion

    response, error = row.get("response"), row.get("error")
    if not isinstance(response, dict):
        code = str(error.get("code") or "") if isinstance(error, dict) else ""
        if code in _NOT_REACHED:
            return CallError(code, "the batch ended before this request was answered", again=True)
        fault = chat.failure(500, error, {})
        return CallError("line_failed", fault.detail, again=True)
    status, body = response.get("status_code"), response.get("body")
    if status not in _OK:
        return chat.failure(status if isinstance(status, int) else 500, body, {})
    try:
        if not isinstance(body, dict):
            raise CallError("broken_reply", "the answer is not a chat completion", again=True, billed=True)
        reply = chat.read(ChatCompletion.construct(**body), state.seconds or 0.0)
    except CallError as fault:
        return fault
    # What the batch is called makes the id unlike that of any other try.
    own = chat.clean(str(response.get("request_id") or row.get("id") or ""))
    return replace(reply, request_id=f"{state.batch_id}{_OF_BATCH}{own}"[:200])
