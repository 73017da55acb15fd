"""A test set of another tool becomes queries.csv and labels.csv of a new folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.config import BenchConfig
from harness.corpus.importers.folder import ImportSummary, new_corpus_folder, write_text
from harness.errors import ConfigError, CorpusError
from harness.running.context import Context
from harness.running.corpus import load_documents
from harness.testset.formats import FORMATS
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
    with new_corpus_folder(target) as folder:
        for file, text in tables_of(read.questions, read.labels).items():
            write_text(folder / file, text)
    used = {one.doc_id for one in read.labels}
    return ImportSummary(target, len(used), len(read.questions), len(read.labels), read.notes)
