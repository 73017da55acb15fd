"""Test sets of other tools, in and out: one format per file, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.labels.testset.finished import FinishedTestset
from harness.labels.testset.formats.argilla import read_argilla, write_argilla
from harness.labels.testset.formats.label_studio import read_label_studio, write_label_studio
from harness.labels.testset.formats.quepid import read_quepid, write_quepid
from harness.labels.testset.formats.ragas import read_ragas, write_ragas
from harness.labels.testset.formats.tables import read_tables, write_csv, write_jsonl, write_xlsx
from harness.labels.testset.formats.trec import read_trec, write_trec
from harness.labels.testset.formats.values import ExportResult, ImportResult
from harness.values import Document


@dataclass(frozen=True, slots=True)
class Format:
    """How a test set is written and read. ``reads`` says what `harness import` is to be given."""

    reads: str
    write: Callable[[FinishedTestset, Mapping[str, Document], Path], ExportResult]
    read: Callable[[Path, Mapping[str, Document]], ImportResult]


FORMATS: dict[str, Format] = {
    "csv": Format("the folder", write_csv, read_tables),
    "jsonl": Format("the folder", write_jsonl, read_tables),
    "xlsx": Format("the folder", write_xlsx, read_tables),
    "trec": Format("the folder", write_trec, read_trec),
    "label_studio": Format("the JSON file", write_label_studio, read_label_studio),
    "argilla": Format("the JSON file", write_argilla, read_argilla),
    "quepid": Format("the CSV file", write_quepid, read_quepid),
    "ragas": Format("the JSONL file", write_ragas, read_ragas),
}

__all__ = ["FORMATS", "ExportResult", "Format", "ImportResult"]
