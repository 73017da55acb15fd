"""A test set of another tool becomes queries.csv and labels.csv of a new folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.data import ImportSummary, new_corpus_folder, refuse_spaces, write_text
from harness.labels.testset.finished import FinishedTestset
from harness.labels.testset.formats import FORMATS, ImportResult
from harness.labels.testset.formats.tables import tables_of
from harness.running import BenchConfig, Context, load_documents
from harness.values import ConfigError, CorpusError


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
    nowhere = source / "none.csv"
    config = BenchConfig.of_documents(documents, nowhere, nowhere, cache=context.cache.root)
    texts = {one.doc_id: one for one in load_documents(config, context)}
    read = FORMATS[name].read(source, texts)
    _refuse_unusable(source, read)
    # every label once, which a benchmark wants
    labels = {(*one.key, one.judge, one.evidence): one for one in read.labels}
    notes = read.notes
    if repeated := len(read.labels) - len(labels):
        notes = (*notes, f"Labels that repeat another one are left out: {repeated}.")
    with new_corpus_folder(target) as folder:
        finished = FinishedTestset(read.questions, tuple(labels.values()), texts)
        for file, text in tables_of(finished).items():
            write_text(folder / file, text)
    used = {one.doc_id for one in read.labels}
    return ImportSummary(target, len(used), len(read.questions), len(labels), notes)


def _refuse_unusable(source: Path, read: ImportResult) -> None:
    """Raise CorpusError for what a benchmark would refuse.

    These are odd ids, blank questions, and two grades of a span, or two names of evidence by one judge.
    """
    asked: set[str] = set()
    for one in read.questions:
        if not one.query_id or not one.text.strip():
            raise CorpusError(f"{source}: question {one.query_id!r} has no id or no text. Write both.")
        refuse_spaces(str(source), one.query_id)
        if one.query_id in asked:
            raise CorpusError(f"{source}: query_id {one.query_id!r} appears twice. Give each its own id.")
        asked.add(one.query_id)
    first: dict[tuple[object, ...], object] = {}
    for label in read.labels:
        for what, key, value in (
            ("grades", label.key, label.grade),
            ("evidence", (*label.key, label.judge), label.evidence),
        ):
            if first.setdefault(key, value) != value:
                raise CorpusError(
                    f"{source}: {label.query_id}, {label.doc_id} {label.start} to {label.end} has the {what} "
                    f"{first[key]!r} and {value!r}. Keep one."
                )
