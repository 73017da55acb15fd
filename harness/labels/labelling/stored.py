"""A folder of results with its documents, and the sheet of its unjudged passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.labels.labelling.sheet import sheet_rows
from harness.labels.labelling.unjudged import retrieved_of, scored_grades, unjudged_passages
from harness.report import cells_of, read_result
from harness.running import BenchConfig, Context, Setting, load_documents
from harness.values import ConfigError, Document, HarnessError, Reporter

_OF_DOCUMENTS = ("documents", "parsing", "on_bad_document", "queries", "labels", "cache", "name", "anchor")


@dataclass(frozen=True, slots=True)
class Sheet:
    """Passages to grade, as rows; ``unanswerable`` queries were left out, ``judge`` graded the results."""

    rows: list[dict[str, Any]]
    unanswerable: int
    judge: str


@dataclass(frozen=True, slots=True)
class OpenedResults:
    """A folder of results with its documents, read again and found to be those it was made of."""

    record: dict[str, Any]
    documents: dict[str, Document]
    questions: dict[str, str]
    answerable: set[str]


def open_results(folder: Path, reporter: Reporter) -> OpenedResults:
    """Read a folder of results and its documents, from the cache where they are known.

    Raises HarnessError if their text is not what the results were made of.
    """
    result = read_result(folder)
    config = config_of(result.record)
    documents = documents_of(config, reporter)
    now = {name: document.sha256 for name, document in documents.items()}
    other = [name for name, sha in result.texts.items() if now.get(name) != sha]
    if other:
        raise HarnessError(
            f"{folder} was made of other texts: {', '.join(other[:5])} changed since, or are not found from "
            "this folder. Run the benchmark again."
        )
    queries = cells_of(folder, "queries")
    answerable = {row["query_id"] for row in queries if row.get("answerable", "yes") != "no"}
    questions = {row["query_id"]: row["text"] for row in queries}
    return OpenedResults(result.record, documents, questions, answerable)


def documents_of(config: BenchConfig, reporter: Reporter) -> dict[str, Document]:
    """The documents of a configuration by id; none that is known is read again."""
    with Context.at(config.cache, reporter, may_ask=False) as context:
        return {one.doc_id: one for one in load_documents(config, context)}


def labels_of(folder: Path, record: Mapping[str, Any], labels: Path | None) -> Path:
    """``labels``, or the file of labels of the configuration; raises ConfigError if there is none."""
    path = labels or record["config"].get("labels")
    if path is None:
        raise ConfigError(
            f"{folder} was scored without labels. Name the file that people's grades go into: --labels."
        )
    return Path(path)


def sheet_of(folder: Path, top: int, reporter: Reporter) -> Sheet:
    """The unjudged among the first ``top`` of all settings of a folder of results."""
    opened = open_results(folder, reporter)
    retrieved = retrieved_of(folder, top, opened.answerable, only_unjudged=True)
    wanted = unjudged_passages(retrieved, opened.documents, scored_grades(folder))
    rows = sheet_rows(wanted, opened.documents, opened.questions)
    judge = opened.record["config"].get("relevance", {}).get("judge", {}).get("kind", "labels")
    return Sheet(rows, len(opened.questions) - len(opened.answerable), judge)


def config_of(record: dict[str, Any]) -> BenchConfig:
    """The part of the configuration of a run that concerns its documents."""
    own = {name: record["config"][name] for name in _OF_DOCUMENTS if name in record["config"]}
    # a configuration takes labels, also where a language model has judged; they are not read here
    own["labels"] = own.get("labels") or own["queries"]
    parsers = [one["parse"] for one in record["config"].get("settings", []) if "parse" in one]
    if any(one != parsers[0] for one in parsers):
        raise HarnessError(
            "These results compare several parsers, and what is unjudged in one text is not in another. Run "
            "the benchmark with one parser and label that: quotes are then found in every text."
        )
    # results of earlier versions have one parser for all settings
    parse = parsers[0] if parsers else record["config"].get("parser", {"kind": "pypdf"})
    config = BenchConfig.of_documents(**own)
    setting = Setting.model_validate({**dict(config.settings[0]), "parse": parse})
    return config.model_copy(update={"settings": (setting,)})
