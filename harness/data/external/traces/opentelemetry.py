"""OpenTelemetry: spans in OTLP JSON, by the conventions for generative AI, OpenInference and others.

The file exporters of the SDK and of the collector write one object with ``resourceSpans`` a line. Sources:
the OTLP JSON encoding; OpenTelemetry semantic conventions for generative AI (``gen_ai.*``); OpenInference
(``openinference.*``, ``retrieval.documents.*``, ``input.value``); OpenLLMetry (``traceloop.*``,
``gen_ai.prompt.0.content``); what the client of Langfuse sends (``langfuse.observation.*``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from harness.data.external.answer_files import Passage
from harness.data.external.traces.recorded import passages_in, plain, unpacked
from harness.data.external.traces.trace_steps import StepKind, TraceStep

_DOCUMENT = re.compile(r"(?:retrieval|reranker)\.(?:output_)?documents\.(\d{1,9})\.document\.([a-z_]{1,40})")
_MESSAGE = re.compile(
    r"(?:llm\.(input|output)_messages|gen_ai\.(prompt|completion))\.(\d{1,9})\.(?:message\.)?(role|content)"
)
_KIND_KEYS = (
    "langfuse.observation.type",
    "openinference.span.kind",
    "gen_ai.operation.name",
    "llm.request.type",
)
_KINDS: Mapping[str, StepKind] = {
    "retrieval": "retriever",
    "retriever": "retriever",
    "reranker": "reranker",
    "rerank": "reranker",
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "generation": "llm",
    "completion": "llm",
    "llm": "llm",
}
_INPUTS = (
    "gen_ai.input.messages",
    "gen_ai.retrieval.query.text",
    "langfuse.observation.input",
    "input.value",
    "traceloop.entity.input",
)
_OUTPUTS = (
    "gen_ai.output.messages",
    "langfuse.observation.output",
    "output.value",
    "traceloop.entity.output",
)
_DEEPEST = 16


def opentelemetry_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """The spans of an export as steps."""
    return [_step(span) for record in records for span in _spans(record)]


def _spans(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _objects(_either(record, "resourceSpans", "resource_spans")):
        for scope in _objects(_either(resource, "scopeSpans", "scope_spans")):
            yield from _objects(scope.get("spans"))


def _step(span: Mapping[str, Any]) -> TraceStep:
    attributes = _attributes(span.get("attributes"))
    events = [
        (event.get("name"), _attributes(event.get("attributes"))) for event in _objects(span.get("events"))
    ]
    kind = _kind(attributes)
    # messages in events, as the conventions had them up to 1.36
    contents = [unpacked(fields.get("content")) for name, fields in events if name == "gen_ai.user.message"]
    queries = [{"role": "user", "content": content} for content in contents]
    choices = [None, *(unpacked(fields.get("message")) for name, fields in events if name == "gen_ai.choice")]
    received = _first(attributes, _OUTPUTS) or _messages(attributes, ("output", "completion")) or choices[-1]
    return TraceStep(
        plain(_either(span, "traceId", "trace_id")),
        plain(_either(span, "spanId", "span_id")),
        plain(_either(span, "parentSpanId", "parent_span_id")),
        _time(_either(span, "startTimeUnixNano", "start_time_unix_nano")),
        kind,
        _first(attributes, _INPUTS) or _messages(attributes, ("input", "prompt")) or queries,
        received,
        _documents(attributes, received) if kind in ("retriever", "reranker") else (),
        _error(span, attributes),
    )


def _kind(attributes: Mapping[str, Any]) -> StepKind:
    names = (attributes.get(key) for key in _KIND_KEYS)
    kinds = (_KINDS.get(name.lower()) for name in names if isinstance(name, str))
    return next(filter(None, kinds), "other")


def _time(nanoseconds: Any) -> str:
    """Nanoseconds since 1970, a number or its digits, as ISO 8601; '' for what is neither."""
    try:
        seconds, rest = divmod(int(plain(nanoseconds)[:20]), 10**9)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
    except (ValueError, OverflowError, OSError):
        return ""


def _error(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> str:
    status = span.get("status")
    status = status if isinstance(status, Mapping) else {}
    if (
        status.get("code") in (2, "STATUS_CODE_ERROR")
        or attributes.get("langfuse.observation.level") == "ERROR"
    ):
        messages = (status.get("message"), attributes.get("langfuse.observation.status_message"))
        return next(filter(None, map(plain, messages)), "error")
    return ""


def _documents(attributes: Mapping[str, Any], received: Any) -> tuple[Passage, ...]:
    if passages := passages_in(unpacked(attributes.get("gen_ai.retrieval.documents"))):
        return passages
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = _DOCUMENT.fullmatch(key)
        if match and not key.startswith("reranker.input"):
            rows.setdefault(int(match[1]), {})[match[2]] = unpacked(value)
    return passages_in([rows[place] for place in sorted(rows)]) or passages_in(unpacked(received))


def _messages(attributes: Mapping[str, Any], sides: tuple[str, str]) -> list[dict[str, Any]]:
    """Messages whose fields are in attributes of their own."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = _MESSAGE.fullmatch(key)
        if match and (match[1] or match[2]) in sides:
            rows.setdefault(int(match[3]), {})[match[4]] = value
    return [rows[place] for place in sorted(rows)]


def _attributes(pairs: Any, depth: int = 0) -> dict[str, Any]:
    """Attributes by key; some tools write them as an object already."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    return {plain(pair.get("key")): _value(pair.get("value"), depth) for pair in _objects(pairs)}


def _value(value: Any, depth: int) -> Any:
    """The content of an AnyValue of OTLP; None for what is nested more deeply than any tool writes."""
    if not isinstance(value, Mapping):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(array := value.get("arrayValue"), Mapping):
        entries = array.get("values")
        return [_value(entry, depth + 1) for entry in entries] if isinstance(entries, list) else []
    if isinstance(pairs := value.get("kvlistValue"), Mapping):
        return _attributes(pairs.get("values"), depth + 1)
    return next(iter(value.values()), None)


def _objects(entries: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _first(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key)), None)


def _either(fields: Mapping[str, Any], *keys: str) -> Any:
    return next((fields[key] for key in keys if key in fields), None)
