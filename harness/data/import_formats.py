"""The tables of what `harness import` turns into a corpus folder; its help is made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.values import At, OpenTable


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format: what it is, in a line, and what reads it.

    ``read(source, target, **options)`` writes the corpus folder ``target`` and returns an ``ImportSummary``;
    it raises CorpusError where the source cannot be read. ``options`` are those of the command that it takes.
    ``answered``: the corpus has the answers of another pipeline.
    """

    about: str
    read: Callable[..., Any]
    options: tuple[str, ...] = ()
    answered: bool = False


_IMPORTERS = "harness.data.corpus.importers"
_COLLECTION = "harness.data.external.collection"

IMPORTS: OpenTable[ImportFormat] = OpenTable(
    "import",
    ImportFormat,
    {
        "beir": ImportFormat(
            "a folder of BEIR: corpus.jsonl, queries.jsonl, qrels/",
            At(f"{_IMPORTERS}.beir", "import_beir"),
            options=("qrels",),
        ),
        "chunking_eval": ImportFormat(
            "the data of Chroma's chunking evaluation",
            At(f"{_IMPORTERS}.chunking_eval", "import_chunking_eval"),
        ),
        "financebench": ImportFormat(
            "the filings, questions and evidence of FinanceBench",
            At(f"{_IMPORTERS}.financebench", "import_financebench"),
        ),
        "ragas": ImportFormat(
            "answers: user_input, retrieved_contexts, response, reference",
            At(_COLLECTION, "import_ragas"),
            options=("texts",),
            answered=True,
        ),
        "traces": ImportFormat(
            "an export of OpenTelemetry, Langfuse or LangSmith",
            At(_COLLECTION, "import_traces"),
            options=("texts", "traces_of"),
            answered=True,
        ),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How to recognise an export by one of its records, and how to read its steps."""

    name: str
    knows: Callable[[Mapping[str, Any]], bool]
    steps: Callable[..., Any]
    """From the records of an export to a list of ``TraceStep``."""


_TRACES = "harness.data.external.traces"
_OURS = (
    TraceFormat(
        "opentelemetry",
        lambda record: "resourceSpans" in record or "resource_spans" in record,
        At(f"{_TRACES}.opentelemetry", "otel_steps"),
    ),
    TraceFormat(
        "langsmith", lambda record: "run_type" in record, At(f"{_TRACES}.langsmith", "langsmith_steps")
    ),
    TraceFormat(
        "langfuse",
        lambda record: (
            "observations" in record or "traceId" in record or isinstance(record.get("trace"), dict)
        ),
        At(f"{_TRACES}.langfuse", "langfuse_steps"),
    ),
)
TRACES: OpenTable[TraceFormat] = OpenTable("traces", TraceFormat, {one.name: one for one in _OURS})
"""Exports of traces by name; the first that knows a record reads it."""
