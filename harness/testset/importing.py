"""A test set of another tool becomes queries.csv and labels.csv of a new folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.chunk import PageConfig
from harness.config import BenchConfig, Setting
from harness.corpus.importers.folder import ImportSummary, new_corpus_folder, write_text
from harness.errors import ConfigError, CorpusError
from harness.running.context import Context
from harness.running.corpus import load_documents
from harness.search.retrieve import Bm25Config
from harness.testset.formats import FORMATS
from harness.testset.formats.tables import LABELS, QUERIES, csv_of, label_cells, query_cells


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
    setting = Setting(name="any", tokenizer="", chunk=PageConfig(), retrieve=Bm25Config())
    config = BenchConfig(
        name="import",
        documents=tuple(documents),
        queries=source / "queries.csv",
        labels=source / "labels.csv",
        cache=context.cache.root,
        settings=(setting,),
    )
    found = {one.doc_id: one for one in load_documents(config, context)}
    read = FORMATS[name].read(source, found)
    with new_corpus_folder(target) as folder:
        write_text(folder / "queries.csv", csv_of(QUERIES, query_cells(read.questions)))
        write_text(folder / "labels.csv", csv_of(LABELS, label_cells(read.labels)))
    used = {one.doc_id for one in read.labels}
    return ImportSummary(target, len(used), len(read.questions), len(read.labels), read.notes)
