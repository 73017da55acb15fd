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


def _ours(about: str, reads: str, module: str, write: str, read: str) -> Format:
    home = f"{__name__}.{module}"
    return Format(about, reads, At(home, write), At(home, read))


_AS_TABLES = {
    "csv": ("queries.csv and labels.csv", "write_csv"),
    "jsonl": ("queries.jsonl and labels.jsonl", "write_jsonl"),
    "xlsx": ("queries.xlsx and labels.xlsx", "write_xlsx"),
}
FORMATS: OpenTable[Format] = OpenTable(
    "testset_formats",
    Format,
    {
        name: _ours(about, "the folder", "tables", write, "read_tables")
        for name, (about, write) in _AS_TABLES.items()
    }
    | {
        "trec": _ours("topics and qrels over passages", "the folder", "trec", "write_trec", "read_trec"),
        "label_studio": _ours(
            "an export of Label Studio",
            "the JSON file",
            "label_studio",
            "write_label_studio",
            "read_label_studio",
        ),
        "quepid": _ours("a book or case of Quepid", "the CSV file", "quepid", "write_quepid", "read_quepid"),
        "ragas": _ours(
            "questions with reference answers and contexts",
            "the JSONL file",
            "ragas",
            "write_ragas",
            "read_ragas",
        ),
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""
