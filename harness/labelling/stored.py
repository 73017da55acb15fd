"""From a folder of results to the sheet of what nobody has judged in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.chunk import PageConfig
from harness.config import BenchConfig, Setting
from harness.errors import HarnessError
from harness.labelling.sheet import sheet_rows
from harness.labelling.unjudged import Wanted, unjudged
from harness.progress import Reporter
from harness.report import cells_of, read_result
from harness.running.context import Context
from harness.running.corpus import load_documents
from harness.search.retrieve import Bm25Config

_OF_DOCUMENTS = ("documents", "parser", "parsing", "on_bad_document", "queries", "labels", "cache", "name")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is to grade, as rows; ``unanswerable`` queries were left out, ``judge`` graded the results."""

    rows: list[dict[str, Any]]
    wanted: list[Wanted]
    unanswerable: int
    judge: str


def sheet_of(folder: Path, top: int, reporter: Reporter) -> Sheet:
    """The unjudged among the first ``top`` of all settings of a folder of results.

    The documents are read again, from the cache where they are known. Raises HarnessError where their text is
    not what the results were made of.
    """
    result = read_result(folder)
    config = _documents_of(result.record)
    with Context.at(config.cache, reporter, may_ask=False) as context:
        documents = {one.doc_id: one for one in load_documents(config, context)}
    now = {name: document.sha256 for name, document in documents.items()}
    other = [name for name, sha in result.texts.items() if now.get(name) != sha]
    if other:
        raise HarnessError(
            f"{folder} was made of other texts: {', '.join(other[:5])} changed since, or are not found from "
            "this folder. Run the benchmark again."
        )
    queries = cells_of(folder, "queries")
    answerable = {row["query_id"] for row in queries if row.get("answerable", "yes") != "no"}
    wanted = unjudged(folder, documents, top, answerable)
    questions = {row["query_id"]: row["text"] for row in queries}
    judge = result.record["config"].get("relevance", {}).get("judge", {}).get("kind", "labels")
    return Sheet(sheet_rows(wanted, documents, questions), wanted, len(queries) - len(answerable), judge)


def _documents_of(record: dict[str, Any]) -> BenchConfig:
    """The configuration of a run as far as it says what the documents are."""
    own = {name: record["config"][name] for name in _OF_DOCUMENTS if name in record["config"]}
    setting = Setting(name="any", tokenizer="", chunk=PageConfig(), retrieve=Bm25Config())
    return BenchConfig(**own, settings=(setting,))
