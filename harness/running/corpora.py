"""The documents as read by every parser of a sweep: one corpus per parser, and all of them as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from harness import data
from harness.comparison import sentence_of
from harness.data import AnchorResult, refuse_disputed
from harness.running.chunks import Chunking
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.corpus import Corpus, other_files, read_documents
from harness.running.document_reader import DocumentReader
from harness.running.note_wordings import CORPUS
from harness.running.notes import RunNotes
from harness.running.part import queries_in_part
from harness.running.passage_files import takes_passages
from harness.running.search import Searched
from harness.steps import passage_id
from harness.values import ConfigError, Document, Judgment, text_id, worded


@dataclass(frozen=True, slots=True)
class Corpora:
    """``by_setting`` is what each setting is searched in, ``united`` what all are judged and scored on.

    With one parser all of them are the same corpus. With several a document is in ``united`` once for each of
    them, under the id ``document@parser``, and a label row is one evidence with a copy in every text that has
    it. ``parsers`` is the name of each setting's parser; empty with one.
    """

    by_setting: Mapping[str, Corpus]
    united: Corpus
    parsers: Mapping[str, str]

    def in_united(self, result: Searched) -> Searched:
        """The searched settings, renamed to the texts in ``united``."""
        parser = self.parsers.get(result.setting.name)
        renamed: Searched = result if parser is None else _renamed(result, parser)
        return renamed


def load_corpus(config: BenchConfig, reader: DocumentReader) -> Corpus:
    """As `load_corpora`, where there is one text a document; ConfigError where there are several parsers."""
    refuse_several_parsers(config)
    return load_corpora(config, reader).united


def refuse_several_parsers(config: BenchConfig) -> None:
    """Raise ConfigError where the settings use several parsers."""
    parsers = parsers_of(config.settings)
    if len(parsers) > 1:
        raise ConfigError(
            f"{config.name}: this needs one text per document, but the settings use several parsers "
            f"({', '.join(parsers)}). Choose one under parse."
        )


def load_corpora(config: BenchConfig, reader: DocumentReader) -> Corpora:
    """Read queries and labels, and the documents once with each parser.

    Raises CorpusError or LabelError for what cannot be used.
    """
    parsers, note = parsers_of(config.settings), reader.notes.reporter.note
    # before the documents, which may take long
    with reader.notes.timed("labels"):
        queries, rows = queries_and_rows(config, note)
        if config.labels:
            refuse_disputed(data.graded_passages(rows), config.labels)
        others = other_files(config)
        every_row = rows
        queries, rows = queries_in_part(config, queries, rows)
    read = {}
    for name, parser in parsers.items():
        if len(parsers) > 1:
            note(worded(CORPUS, "documents.parser", parser=name))
        read[name] = read_documents(config, parser, others, reader, every_row)
        texts_read = [part.document for part in read[name].parsed]
        for document, held in queries.lists_of_queries(texts_read):
            count = len(queries.queries)
            reader.notes.warn(sentence_of("questions.listed", document=document, held=held, queries=count))
    texts = {
        name: {item.document.doc_id: item.document for item in documents.parsed}
        for name, documents in read.items()
    }
    skipped = {name: [item.doc_id for item in documents.skipped] for name, documents in read.items()}
    with reader.notes.timed("labels"):
        ids = [query.query_id for query in queries.queries]
        if takes_passages(config):
            rows = data.with_passages_named(rows, next(iter(texts.values())), passage_id)
        if len(parsers) == 1:
            anchored = {
                name: data.anchor(rows, text, config.anchor, ids, skipped[name])
                for name, text in texts.items()
            }
        else:
            anchored = data.anchor_in_each(rows, texts, config.anchor, ids, skipped)
        labels = _labels(anchored, texts, rows, config, reader.notes)
    corpora = {
        name: Corpus(
            *(tuple(documents.parsed), tuple(documents.skipped), queries, anchored[name], labels[name]),
            *(documents.hashes, rows),
            outside=documents.outside,
        )
        for name, documents in read.items()
    }
    if len(corpora) == 1:
        (corpus,) = corpora.values()
        return Corpora({setting.name: corpus for setting in config.settings}, corpus, {})
    name_of = {parser.model_dump_json(): name for name, parser in parsers.items()}
    parser_of = {setting.name: name_of[setting.parse.model_dump_json()] for setting in config.settings}
    return Corpora(
        {setting: corpora[name] for setting, name in parser_of.items()},
        _united(corpora, parser_of),
        parser_of,
    )


def queries_and_rows(
    config: BenchConfig, note: Callable[[str], None]
) -> tuple[data.QuerySet, tuple[data.LabelRow, ...]]:
    """All queries and label rows; ``note`` gets what was unusual in their files."""
    queries = data.read_queries(config.queries, config.split, note)
    if config.labels is None:
        return queries, ()
    read = data.read_passage_labels if takes_passages(config) else data.read_labels
    return queries, tuple(read(config.labels, note))


def _labels(
    anchored: Mapping[str, AnchorResult],
    texts: Mapping[str, Mapping[str, Document]],
    rows: Sequence[data.LabelRow],
    config: BenchConfig,
    notes: RunNotes,
) -> Mapping[str, tuple[Judgment, ...]]:
    """The graded spans in the text of every parser."""
    if config.labels:
        for corpus_labels in anchored.values():
            # a quote and a page may turn out to be the same text
            refuse_disputed(corpus_labels.graded(), config.labels)
    anchored_labels = {
        name: replace(labels, judgments=_with_duplicates(labels.judgments, texts[name], config, notes))
        for name, labels in anchored.items()
    }
    if len(anchored_labels) == 1:
        return {name: value.judgments for name, value in anchored_labels.items()}
    return data.one_evidence_a_row(rows, anchored_labels)


def _with_duplicates(
    labels: tuple[Judgment, ...], documents: Mapping[str, Document], config: BenchConfig, notes: RunNotes
) -> tuple[Judgment, ...]:
    """The labels and, unless switched off, the other places that hold their text; says how many."""
    if not config.anchor.duplicates:
        return labels
    credited = data.credit_duplicates(labels, documents, config.anchor.duplicate_length)
    notes.counts["duplicates_credited"] += credited.added
    notes.counts["duplicates_joined"] += credited.joined
    if credited.added:
        # a label that occurs again adds a place at least
        code = "labels.repeated once" if credited.added == 1 else "labels.repeated"
        notes.reporter.note(worded(CORPUS, code, count=credited.repeated, places=credited.added))
    if credited.joined:
        notes.reporter.note(worded(CORPUS, "labels.joined", count=credited.joined))
    return credited.judgments


def _united(corpora: Mapping[str, Corpus], parsers: Mapping[str, str]) -> Corpus:
    """All texts as documents of their own; ``parsers`` is by setting the name of its parser."""
    texts: dict[str, Corpus] = {name: _renamed(corpus, name) for name, corpus in corpora.items()}
    ids = {
        name: frozenset(document.doc_id for document in corpus.documents) for name, corpus in texts.items()
    }
    every = list(texts.values())
    first, anchored = every[0], [part.anchored for part in every]
    return Corpus(
        tuple(item for part in every for item in part.parsed),
        tuple(item for part in every for item in part.skipped),
        first.queries,
        AnchorResult(
            tuple(row for labels in anchored for row in labels.judgments),
            tuple(row for labels in anchored for row in labels.anchorings),
            tuple(row for labels in anchored for row in labels.skipped),
        ),
        tuple(row for part in every for row in part.labels),
        {path: digest for part in every for path, digest in part.hashes.items()},
        first.label_rows,
        texts_of={setting: ids[name] for setting, name in parsers.items()},
    )


# The fields that name a document or a chunk, and those that hold something with such a name.
_NAMES = {"doc_id", "chunk_id", "chunk_ids", "documents"}
_HOLDERS = {
    *("document", "parsed", "skipped", "anchored", "judgments", "anchorings", "labels"),
    *("chunking", "chunks", "rankings", "filtered", "over_chunks"),
}


def _renamed(value: Any, parser: str) -> Any:
    """The same value, with its documents and chunks under the ids of the parser's texts."""
    if isinstance(value, Mapping):
        return {key: _renamed(part, parser) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(part, parser) for part in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    changed = {name: _name(part, parser) for name, part in values.items() if name in _NAMES}
    changed |= {name: _renamed(part, parser) for name, part in values.items() if name in _HOLDERS}
    if isinstance(value, Chunking):
        # reading uses the ids of the parser's own texts, and is already done
        changed |= {"key": f"{value.key}@{parser}", "reading": None}
    return replace(value, **changed)


def _name(value: Any, parser: str) -> Any:
    """The name of a document, or of a chunk, which ends in its place; several names; None for none."""
    if isinstance(value, str):
        document, colon, place = value.rpartition(":")
        return f"{text_id(document, parser)}:{place}" if colon else text_id(value, parser)
    return value if value is None else type(value)(_name(part, parser) for part in value)
