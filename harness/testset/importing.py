"""A test set of another tool becomes queries.csv and labels.csv of a new folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.config import BenchConfig
from harness.corpus.importers.folder import ImportSummary, new_corpus_folder, write_text
from harness.corpus.queries import refuse_spaces
from harness.errors import ConfigError, CorpusError
from harness.running.context import Context
from harness.running.corpus import load_documents
from harness.testset.formats import FORMATS, ImportResult
from harness.testset.formats.tables import tables_of


def import_testset(
    name: str, source: Path, documents: Sequence[str], target: Path, context: Context
) -> ImportSummary:
    """Read a test set, check every offset against the documents, and write it as a benchmark reads it.

    ``documents`` are globs. Raises CorpusError or LabelError for what cannot be used, and where ``target`` is
    there already.
    """
    if not documents:
        raise ConfigError(
            f"Labels of {name} are spans of documents: name these with --documents, such as "
            "'contracts/**/*.pdf'."
        )
    if not source.exists():
        raise CorpusError(f"{source} is not there. Name {FORMATS[name].reads}.")
    queries, labels = source / "queries.csv", source / "labels.csv"
    config = BenchConfig.of_documents(documents, queries, labels, cache=context.cache.root)
    found = {one.doc_id: one for one in load_documents(config, context)}
    read = FORMATS[name].read(source, found)
    _refuse_unusable(source, read)
    with new_corpus_folder(target) as folder:
        for file, text in tables_of(read.questions, read.labels).items():
            write_text(folder / file, text)
    used = {one.doc_id for one in read.labels}
    return ImportSummary(target, len(used), len(read.questions), len(read.labels), read.notes)


def _refuse_unusable(source: Path, read: ImportResult) -> None:
    """Raise CorpusError for what a benchmark would refuse: odd ids, blank questions, two grades of a span."""
    asked: set[str] = set()
    for one in read.questions:
        if not one.query_id or not one.text.strip():
            raise CorpusError(f"{source}: question {one.query_id!r} has no id or no text. Write both.")
        refuse_spaces(str(source), one.query_id)
        if one.query_id in asked:
            raise CorpusError(f"{source}: query_id {one.query_id!r} appears twice. Give each its own id.")
        asked.add(one.query_id)
    grades: dict[tuple[str, str, int, int], int] = {}
    for label in read.labels:
        key = (label.query_id, label.doc_id, label.start, label.end)
        if grades.setdefault(key, label.grade) != label.grade:
            raise CorpusError(
                f"{source}: {label.query_id}, {label.doc_id} {label.start} to {label.end} has the grades "
                f"{grades[key]} and {label.grade}. Keep one."
            )
