"""Steps of traces of any tool, what is said in them, and the questions that they answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.data.corpus.reading import read_objects
from harness.data.external.answer_files import AnsweredQuery, Passage

Kind = Literal["retriever", "reranker", "llm", "other"]
# Keys under which tools keep the text of a document, its source and its id.
_TEXTS = ("page_content", "pageContent", "content", "text", "document.content", "chunk", "snippet")
_SOURCES = ("source", "file_name", "filename", "file_path", "document", "title", "url", "source_id")
_IDS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "id_", "document.id")
# Where answers of web interfaces keep their list.
_LISTS = ("data", "runs", "traces", "results")


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A span, run or observation. ``parent`` is '' at the top; ``began`` orders the steps of a trace.

    ``sent`` and ``received`` are its input and output as recorded; ``passages`` what a retriever or reranker
    returned, in its order.
    """

    trace: str
    step_id: str
    parent: str
    began: str
    kind: Kind
    sent: Any = None
    received: Any = None
    passages: tuple[Passage, ...] = ()
    error: str = ""


def passages_in(value: Any) -> tuple[Passage, ...]:
    """The documents in the output of a retriever: a list of texts or objects, or an object that holds one."""
    if isinstance(value, dict):
        for key in ("documents", "docs", "output", "results", "matches", "nodes", "chunks", "context"):
            if isinstance(value.get(key), list):
                return passages_in(value[key])
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(found for one in value if (found := _passage(one)) is not None)


def _passage(value: Any) -> Passage | None:
    if isinstance(value, str):
        return Passage(value) if value.strip() else None
    if not isinstance(value, dict):
        return None
    # LlamaIndex wraps a node with its score; LangChain's serialised documents keep their fields in kwargs.
    for inner in ("node", "document", "kwargs", "payload"):
        if isinstance(value.get(inner), dict):
            value = {**value, **value[inner]}
    more = value.get("metadata")
    metadata = more if isinstance(more, dict) else {}
    text = _first(value, _TEXTS)
    passage_id = _first(value, _IDS) or _first(metadata, _IDS)
    source = _first(metadata, _SOURCES) or _first(value, _SOURCES)
    return Passage(text, source, passage_id) if text or passage_id else None


def _first(value: dict[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def read_records(path: Path) -> list[dict[str, Any]]:
    """All objects of a JSON or JSON Lines file; raises CorpusError that names the line or entry at fault."""
    return read_objects(path, _unpacked)


def _unpacked(whole: Any) -> list[Any]:
    if isinstance(whole, dict):
        for key in _LISTS:
            if isinstance(whole.get(key), list) and not {"resourceSpans", "run_type", "traceId"} & set(whole):
                return list(whole[key])
    return [whole]


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


@dataclass(frozen=True, slots=True)
class SkippedTraces:
    """How many traces were left out: those without a question, and those that neither read nor answered."""

    without_question: int = 0
    without_rest: int = 0

    def __str__(self) -> str:
        return (
            f"{self.without_question} without a question, {self.without_rest} that neither retrieved nor "
            "answered anything"
        )


def assemble(path: Path, steps: Sequence[TraceStep]) -> tuple[list[AnsweredQuery], SkippedTraces]:
    """The questions of the traces in the order of their first steps.

    The question is the input of the outermost step that has one, else that of the first retriever, else what
    the user has said last to the first model. What was read is the output of the last reranker, else of all
    retrievers, each passage once. The answer is the output of the outermost step, else of the last model.
    """
    traces: dict[str, list[TraceStep]] = {}
    for step in sorted(steps, key=lambda one: one.began):
        traces.setdefault(step.trace, []).append(step)
    found: list[AnsweredQuery] = []
    no_question = no_rest = 0
    for trace, own in traces.items():
        question, read, answer = _question(own), _read(own), _answer(own)
        if not question:
            no_question += 1
        elif not read and not answer:
            no_rest += 1
        else:
            found.append(_exchange(path, trace, own, question, read, answer))
    return found, SkippedTraces(no_question, no_rest)


def _exchange(
    path: Path, trace: str, steps: Sequence[TraceStep], question: str, read: Sequence[Passage], answer: str
) -> AnsweredQuery:
    faults = [step.error for step in steps if step.error]
    reason = "" if answer else (f"failed: {faults[0]}" if faults else "the trace has no answer")
    query_id = "-".join(trace.split())
    where = f"{path}, trace {trace}"
    return AnsweredQuery(query_id, question, tuple(read), answer or None, reason, where=where)


def _outermost(steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Steps whose parent is not in the trace, those other than models and retrievers first."""
    ids = {step.step_id for step in steps}
    top = [step for step in steps if step.parent not in ids]
    return sorted(top, key=lambda step: step.kind != "other")


def _question(steps: Sequence[TraceStep]) -> str:
    first = [step for step in _outermost(steps) if step.kind == "other"]
    for kinds in ({"retriever", "reranker"}, {"llm"}):
        first += [step for step in steps if step.kind in kinds]
    return next((text for step in first if (text := question_in(step.sent))), "")


def _answer(steps: Sequence[TraceStep]) -> str:
    last = [step for step in _outermost(steps) if step.kind == "other"]
    # a model that a retriever asks rewrites a question and answers none
    inside = {step.step_id for step in steps if step.kind in ("retriever", "reranker")}
    last += [step for step in reversed(steps) if step.kind == "llm" and step.parent not in inside]
    return next((text for step in last if (text := answer_in(step.received))), "")


def _read(steps: Sequence[TraceStep]) -> list[Passage]:
    rerankers = [step for step in steps if step.kind == "reranker" and step.passages]
    chosen = rerankers[-1:] or [step for step in steps if step.kind == "retriever"]
    passages = [passage for step in chosen for passage in step.passages]
    return list(
        {(one.text, one.passage_id if not one.text else ""): one for one in reversed(passages)}.values()
    )[::-1]
