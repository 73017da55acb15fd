"""Test sets of other tools, in and out: a reader and a writer each, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.values import At, Document, Judgment, OpenTable

if TYPE_CHECKING:
    from harness.labels.testset.finished import FinishedTestset, TestQuestion
    from harness.labels.testset.rows import GradeRow


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The files of an export by name, and in ``notes`` what the format cannot hold."""

    files: Mapping[str, str | bytes]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The content of an import, and in ``notes`` its assumptions.

    ``grades`` has every rater's own grades where several graded one passage; ``labels`` then has what they
    agree on.
    """

    questions: tuple[TestQuestion, ...]
    labels: tuple[Judgment, ...]
    notes: tuple[str, ...] = ()
    grades: tuple[GradeRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """How a test set is written and read. ``reads`` says what `harness import` is to be given."""

    about: str
    reads: str
    write: Callable[[FinishedTestset], ExportResult]
    read: Callable[[Path, Mapping[str, Document]], ImportResult]


_OURS = {
    "csv": ("queries.csv and labels.csv", "the folder", "tables.write_csv", "tables.read_tables"),
    "jsonl": ("queries.jsonl and labels.jsonl", "the folder", "tables.write_jsonl", "tables.read_tables"),
    "xlsx": ("queries.xlsx and labels.xlsx", "the folder", "tables.write_xlsx", "tables.read_tables"),
    "trec": ("topics and qrels over passages", "the folder", "qrels.write_trec", "qrels.read_trec"),
    "label_studio": (
        "an export of Label Studio",
        "the JSON file",
        "label_studio.write_label_studio",
        "label_studio.read_label_studio",
    ),
    "quepid": ("a book or case of Quepid", "the CSV file", "qrels.write_quepid", "qrels.read_quepid"),
    "ragas": (
        "questions with reference answers and contexts",
        "the JSONL file",
        "ragas.write_ragas",
        "ragas.read_ragas",
    ),
}


def _at(place: str) -> At:
    module, _, name = place.partition(".")
    return At(f"{__name__}.{module}", name)


FORMATS: OpenTable[Format] = OpenTable(
    "testset_formats",
    Format,
    {
        name: Format(about, reads, _at(write), _at(read))
        for name, (about, reads, write, read) in _OURS.items()
    },
)
"""By name; other packages add theirs, see docs/own-steps.md."""
