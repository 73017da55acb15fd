"""Test sets of other tools, in and out: a reader and a writer each, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.values import At, ConfigError, Document, Judgment, OpenTable

if TYPE_CHECKING:
    from harness.labels.testset.finished import FinishedTestset, TestQuestion


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The files of an export by name, and in ``notes`` what the format cannot hold."""

    files: Mapping[str, str | bytes]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The content of an import, and in ``notes`` its assumptions."""

    questions: tuple[TestQuestion, ...]
    labels: tuple[Judgment, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """How a test set is written and read. ``reads`` says what `harness import` is to be given."""

    about: str
    reads: str
    write: Callable[[FinishedTestset], ExportResult]
    read: Callable[[Path, Mapping[str, Document]], ImportResult]


# what it is, what is read, and the module that has its functions write_NAME and read_NAME
_OURS = {
    "csv": ("queries.csv and labels.csv", "the folder", "tables"),
    "jsonl": ("queries.jsonl and labels.jsonl", "the folder", "tables"),
    "xlsx": ("queries.xlsx and labels.xlsx", "the folder", "tables"),
    "trec": ("topics and qrels over passages", "the folder", "qrels"),
    "quepid": ("a book or case of Quepid", "the CSV file", "qrels"),
    "ragas": ("questions with reference answers and contexts", "the JSONL file", "ragas"),
}


def _ours(name: str) -> Format:
    about, reads, module = _OURS[name]
    home = f"{__name__}.{module}"
    return Format(about, reads, At(home, f"write_{name}"), At(home, f"read_{name}"))


FORMATS: OpenTable[Format] = OpenTable("testset_formats", Format, {name: _ours(name) for name in _OURS})
"""By name; other packages add theirs, see docs/own-steps.md."""


def unknown_format(name: str, known: Iterable[str]) -> ConfigError:
    """The error of a format that is not among those that are ``known``."""
    if name == "label_studio":
        return ConfigError("The format label_studio was removed. Use csv or jsonl.")
    return ConfigError(f"There is no format {name!r}. Known: {', '.join(dict.fromkeys(known))}.")
