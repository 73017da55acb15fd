"""Test sets of other tools, in and out: one format per file, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.values import At, Document, OpenTable

if TYPE_CHECKING:
    from harness.labels.testset.finished import FinishedTestset
    from harness.labels.testset.formats.values import ExportResult, ImportResult


@dataclass(frozen=True, slots=True)
class Format:
    """How a test set is written and read. ``reads`` says what `harness import` is to be given."""

    about: str
    reads: str
    write: Callable[[FinishedTestset, Mapping[str, Document], Path], ExportResult]
    read: Callable[[Path, Mapping[str, Document]], ImportResult]


def _ours(name: str, about: str, reads: str, module: str = "") -> Format:
    home = f"{__name__}.{module or name}"
    return Format(about, reads, At(home, f"write_{name}"), At(home, f"read_{module or name}"))


FORMATS: OpenTable[Format] = OpenTable(
    "testset_formats",
    Format,
    {
        "csv": _ours("csv", "queries.csv and labels.csv", "the folder", "tables"),
        "jsonl": _ours("jsonl", "queries.jsonl and labels.jsonl", "the folder", "tables"),
        "xlsx": _ours("xlsx", "queries.xlsx and labels.xlsx", "the folder", "tables"),
        "trec": _ours("trec", "topics and qrels over passages", "the folder"),
        "label_studio": _ours("label_studio", "an export of Label Studio", "the JSON file"),
        "argilla": _ours("argilla", "the records of an Argilla dataset", "the JSON file"),
        "quepid": _ours("quepid", "a book or case of Quepid", "the CSV file"),
        "ragas": _ours("ragas", "questions with reference answers and contexts", "the JSONL file"),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""
