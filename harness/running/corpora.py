"""The documents as read by every parser of a sweep: one corpus per parser, and all of them as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

from harness import data
from harness.data import AnchorResult, refuse_disputed
from harness.running.chunks import Chunking
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.context import Context
from harness.running.corpus import Corpus, other_files, read_documents
from harness.running.search import Searched
from harness.values import ConfigError, Document, Judgment, counted, text_id


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

    def in_united(self, one: Searched) -> Searched:
        """The searched settings, renamed to the texts in ``united``."""
        parser = self.parsers.get(one.setting.name)
        renamed: Searched = one if parser is None else _renamed(one, parser)
        return renamed


def load_corpus(config: BenchConfig, context: Context) -> Corpus:
    """As `load_corpora`, where there is one text a document; ConfigError where there are several parsers."""
    parsers = parsers_of(config.settings)
    if len(parsers) > 1:
        raise ConfigError(
            f"{config.name}: this needs one text per document, but the settings use several parsers "
            f"({', '.join(parsers)}). Choose one under parse."
        )
    return load_corpora(config, context).united


def load_corpora(config: BenchConfig, context: Context) -> Corpora:
    """Read queries and labels, and the documents once with each parser.

    Raises CorpusError or LabelError for what cannot be used.
    """
    parsers, note = parsers_of(config.settings), context.reporter.note
    # before the documents, which may take long
    with context.timed("labels"):
        queries = data.read_queries(config.queries, config.split, note)
        rows = tuple(data.read_labels(config.labels, note)) if config.labels else ()
        if config.labels:
            refuse_disputed(data.graded_passages(rows), config.labels)
        others = other_files(config)
    read = {}
    for name, parser in parsers.items():
        if len(parsers) > 1:
            note(f"Reading the documents with {name}.")
        read[name] = read_documents(config, parser, others, context)
        documents = [one.document for one in read[name][0]]
        queries.warn_of_answer_keys(documents, partial(context.warn, "questions"))
    texts = {
        name: {one.document.doc_id: one.document for one in parsed} for name, (parsed, _, _) in read.items()
    }
    skipped = {name: [item.doc_id for item in missing] for name, (_, missing, _) in read.items()}
    with context.timed("labels"):
        ids = [query.query_id for query in queries.queries]
        if len(parsers) == 1:
            anchored = {
                name: data.anchor(rows, own, config.anchor, ids, skipped[name]) for name, own in texts.items()
            }
        else:
            anchored = data.anchor_in_each(rows, texts, config.anchor, ids, skipped)
        labels = _labels(anchored, texts, rows, config, context)
    corpora = {
        name: Corpus(tuple(parsed), tuple(missing), queries, anchored[name], labels[name], hashes, rows)
        for name, (parsed, missing, hashes) in read.items()
    }
    if len(corpora) == 1:
        (corpus,) = corpora.values()
        return Corpora({setting.name: corpus for setting in config.settings}, corpus, {})
    name_of = {parser.model_dump_json(): name for name, parser in parsers.items()}
    own = {setting.name: name_of[setting.parse.model_dump_json()] for setting in config.settings}
    return Corpora({setting: corpora[name] for setting, name in own.items()}, _united(corpora, own), own)


def _labels(
    anchored: Mapping[str, AnchorResult],
    texts: Mapping[str, Mapping[str, Document]],
    rows: Sequence[data.LabelRow],
    config: BenchConfig,
    context: Context,
) -> Mapping[str, tuple[Judgment, ...]]:
    """The graded spans in the text of every parser."""
    if config.labels:
        for one in anchored.values():
            # a quote and a page may turn out to be the same text
            refuse_disputed(one.graded(), config.labels)
    found = {
        name: replace(one, judgments=_with_duplicates(one.judgments, texts[name], config, context))
        for name, one in anchored.items()
    }
    if len(found) == 1:
        return {name: one.judgments for name, one in found.items()}
    return data.one_evidence_a_row(rows, found)


def _with_duplicates(
    labels: tuple[Judgment, ...], documents: Mapping[str, Document], config: BenchConfig, context: Context
) -> tuple[Judgment, ...]:
    """The labels and, unless switched off, the other places that hold their text; says how many."""
    if not config.anchor.duplicates:
        return labels
    found = data.credit_duplicates(labels, documents, config.anchor.duplicate_length)
    context.counts["duplicates_credited"] += found.added
    context.counts["duplicates_joined"] += found.joined
    if found.added:
        context.reporter.note(
            f"{counted(found.repeated, 'label occurs', 'labels occur')} word for word elsewhere too: "
            f"{counted(found.added, 'place counts', 'places count')} as the same evidence "
            "(anchor.duplicates: false counts the labelled places only)."
        )
    if found.joined:
        context.reporter.note(
            f"{counted(found.joined, 'label has', 'labels have')} no evidence name and the text of another "
            "label of the query: such labels count as the same evidence."
        )
    return found.judgments


def _united(corpora: Mapping[str, Corpus], parsers: Mapping[str, str]) -> Corpus:
    """All texts as documents of their own; ``parsers`` is by setting the name of its parser."""
    texts: dict[str, Corpus] = {name: _renamed(corpus, name) for name, corpus in corpora.items()}
    ids = {name: frozenset(one.doc_id for one in corpus.documents) for name, corpus in texts.items()}
    every = list(texts.values())
    first, anchored = every[0], [one.anchored for one in every]
    return Corpus(
        tuple(item for one in every for item in one.parsed),
        tuple(item for one in every for item in one.skipped),
        first.queries,
        AnchorResult(
            tuple(row for one in anchored for row in one.judgments),
            tuple(row for one in anchored for row in one.anchorings),
            tuple(row for one in anchored for row in one.skipped),
        ),
        tuple(row for one in every for row in one.labels),
        {path: digest for one in every for path, digest in one.hashes.items()},
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
        return {key: _renamed(one, parser) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(one, parser) for one in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    here = {one.name: getattr(value, one.name) for one in fields(value)}
    changed = {name: _name(one, parser) for name, one in here.items() if name in _NAMES}
    changed |= {name: _renamed(one, parser) for name, one in here.items() if name in _HOLDERS}
    if isinstance(value, Chunking):
        # reading uses the ids of the parser's own texts, and is already done
        changed |= {"key": f"{value.key}@{parser}", "reading": None}
    return replace(value, **changed)


def _name(value: Any, parser: str) -> Any:
    """The name of a document, or of a chunk, which ends in its place; several names; None for none."""
    if isinstance(value, str):
        document, colon, place = value.rpartition(":")
        return f"{text_id(document, parser)}:{place}" if colon else text_id(value, parser)
    return value if value is None else type(value)(_name(one, parser) for one in value)
