"""OpenTelemetry: spans in OTLP JSON, by the conventions for generative AI, OpenInference and OpenLLMetry.

A collector's file exporter writes one object with ``resourceSpans`` a line. Sources: the OTLP JSON encoding;
OpenTelemetry semantic conventions for generative AI (``gen_ai.*``); OpenInference (``openinference.*``,
``retrieval.documents.*``, ``input.value``); OpenLLMetry (``traceloop.*``, ``gen_ai.prompt.0.content``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.data.external.answer_files import Passage
from harness.data.external.traces.step import Kind, TraceStep, passages_in, unpacked

_DOCUMENT = re.compile(r"(?:retrieval|reranker)\.(?:output_)?documents\.(\d+)\.document\.(\w+)")
_MESSAGE = re.compile(
    r"(?:llm\.(input|output)_messages|gen_ai\.(prompt|completion))\.(\d+)\.(?:message\.)?(role|content)"
)
_KINDS: Mapping[str, Kind] = {
    "retrieval": "retriever",
    "retriever": "retriever",
    "reranker": "reranker",
    "rerank": "reranker",
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "completion": "llm",
    "llm": "llm",
}
_SAID = ("gen_ai.input.messages", "gen_ai.retrieval.query.text", "input.value", "traceloop.entity.input")
_GOT = ("gen_ai.output.messages", "output.value", "traceloop.entity.output")


def otel_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """The spans of an export as steps."""
    return [_step(span) for record in records for span in _spans(record)]


def _spans(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in _either(record, "resourceSpans", "resource_spans") or ():
        for scope in _either(resource, "scopeSpans", "scope_spans") or ():
            yield from scope.get("spans") or ()


def _step(span: Mapping[str, Any]) -> TraceStep:
    attributes = _attributes(span.get("attributes"))
    events = [
        (event.get("name", ""), _attributes(event.get("attributes"))) for event in span.get("events") or ()
    ]
    kind = _kind(attributes)
    # messages in events, as the conventions had them up to 1.36
    contents = [unpacked(its.get("content")) for name, its in events if name == "gen_ai.user.message"]
    asked = [{"role": "user", "content": content} for content in contents]
    choices = [None, *(unpacked(its.get("message")) for name, its in events if name == "gen_ai.choice")]
    sent = _first(attributes, _SAID) or _messages(attributes, ("input", "prompt")) or asked
    got = _first(attributes, _GOT) or _messages(attributes, ("output", "completion")) or choices[-1]
    passages = _documents(attributes, got) if kind in ("retriever", "reranker") else ()
    status = span.get("status") or {}
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return TraceStep(
        str(_either(span, "traceId", "trace_id") or ""),
        str(_either(span, "spanId", "span_id") or ""),
        str(_either(span, "parentSpanId", "parent_span_id") or ""),
        # nanoseconds since 1970, as a text or a number
        str(_either(span, "startTimeUnixNano", "start_time_unix_nano") or "").zfill(24),
        kind,
        sent,
        got,
        passages,
        str(status.get("message") or "error") if failed else "",
    )


def _kind(attributes: Mapping[str, Any]) -> Kind:
    for key in ("gen_ai.operation.name", "openinference.span.kind", "llm.request.type"):
        name = attributes.get(key)
        if isinstance(name, str) and name.lower() in _KINDS:
            return _KINDS[name.lower()]
    return "other"


def _documents(attributes: Mapping[str, Any], got: Any) -> tuple[Passage, ...]:
    listed = passages_in(unpacked(attributes.get("gen_ai.retrieval.documents")))
    if listed:
        return listed
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if (found := _DOCUMENT.fullmatch(key)) and not key.startswith("reranker.input"):
            rows.setdefault(int(found[1]), {})[found[2]] = unpacked(value)
    return passages_in([rows[place] for place in sorted(rows)]) or passages_in(unpacked(got))


def _messages(attributes: Mapping[str, Any], sides: tuple[str, str]) -> list[dict[str, Any]]:
    """Messages whose fields are in attributes of their own."""
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        found = _MESSAGE.fullmatch(key)
        if found and (found[1] or found[2]) in sides:
            rows.setdefault(int(found[3]), {})[found[4]] = value
    return [rows[place] for place in sorted(rows)]


def _attributes(listed: Any) -> dict[str, Any]:
    """Attributes by key; some tools write them as an object already."""
    if isinstance(listed, Mapping):
        return dict(listed)
    return {str(one.get("key")): _value(one.get("value")) for one in listed or ()}


def _value(value: Any) -> Any:
    """The content of an AnyValue of OTLP."""
    if not isinstance(value, Mapping):
        return value
    if "arrayValue" in value:
        return [_value(one) for one in value["arrayValue"].get("values") or ()]
    if "kvlistValue" in value:
        return _attributes(value["kvlistValue"].get("values"))
    return next(iter(value.values()), None)


def _first(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key)), None)


def _either(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if key in value), None)
