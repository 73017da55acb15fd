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
    ``answered``: the corpus has the answers of another pipeline. ``recipe``: the configuration of the
    repository that benchmarks such a corpus, '' for none; ``sample``: the corpus that it names.
    """

    about: str
    read: Callable[..., Any]
    options: tuple[str, ...] = ()
    answered: bool = False
    recipe: str = ""
    sample: str = ""


IMPORTS: OpenTable[ImportFormat] = OpenTable(
    "import",
    ImportFormat,
    {
        "beir": ImportFormat(
            "a folder of BEIR: corpus.jsonl, queries.jsonl, qrels/",
            At("harness.data.corpus.importers.beir", "import_beir"),
            options=("qrels",),
        ),
        "rgb": ImportFormat(
            "RGB: a file such as en_fact.json, or a folder of them",
            At("harness.data.corpus.importers.rgb", "import_rgb"),
            recipe="configs/recipes/abilities_rgb.yaml",
            sample="corpora/rgb_sample",
        ),
        "ragas": ImportFormat(
            "answers: user_input, retrieved_contexts, response, reference",
            At("harness.data.external.ragas", "import_ragas"),
            answered=True,
        ),
        "traces": ImportFormat(
            "production: exports of OpenTelemetry, Langfuse, LangSmith",
            At("harness.data.external.trace_corpus", "import_traces"),
            options=("traces_of", "since", "until", "sample"),
            answered=True,
        ),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How a tool's records are recognised, and how their steps are read.

    ``steps`` takes the records of an export and returns a list of ``TraceStep``.
    """

    knows: Callable[[Mapping[str, Any]], bool]
    steps: Callable[..., Any]


_TOOLS = "harness.data.external.traces"
TRACES: OpenTable[TraceFormat] = OpenTable(
    "traces",
    TraceFormat,
    {
        "opentelemetry": TraceFormat(
            lambda record: "resourceSpans" in record or "resource_spans" in record,
            At(f"{_TOOLS}.opentelemetry", "opentelemetry_steps"),
        ),
        "langsmith": TraceFormat(
            lambda record: bool({"run_type", "post", "patch"} & record.keys()),
            At(f"{_TOOLS}.langsmith", "langsmith_steps"),
        ),
        "langfuse": TraceFormat(
            lambda record: (
                bool({"observations", "traceId"} & record.keys()) or isinstance(record.get("trace"), dict)
            ),
            At(f"{_TOOLS}.langfuse", "langfuse_steps"),
        ),
    },
)
"""Tools by name; the first that knows a record reads it."""
