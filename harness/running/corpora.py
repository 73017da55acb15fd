"""The documents as read by every parser of a sweep: one corpus per parser, and all of them as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.data import AnchorResult, FoundLabels, anchor_in_each, one_evidence_a_row, refuse_disputed
from harness.running.chunks import Chunking
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.context import Context
from harness.running.corpus import Corpus, load_corpus, read_documents, read_inputs, with_duplicates
from harness.running.search import Searched
from harness.steps import FilterResult
from harness.values import Chunk, Ranking, text_id


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

    @property
    def doc_ids(self) -> list[str]:
        """The ids of all documents that some parser has read, as the settings know them."""
        every = (document for corpus in self.by_setting.values() for document in corpus.documents)
        return list(dict.fromkeys(document.doc_id for document in every))

    def in_united(self, one: Searched) -> Searched:
        """The searched settings, renamed to the texts in ``united``."""
        parser = self.parsers.get(one.setting.name)
        return one if parser is None else _renamed(one, parser)


def load_corpora(config: BenchConfig, context: Context) -> Corpora:
    """Read queries and labels, and the documents once with each parser.

    Raises CorpusError or LabelError for what cannot be used.
    """
    parsers = parsers_of(config.settings)
    if len(parsers) == 1:
        corpus = load_corpus(config, context)
        return Corpora({setting.name: corpus for setting in config.settings}, corpus, {})
    by_parser = _read(config, context)
    name_of = {parser.model_dump_json(): name for name, parser in parsers.items()}
    own = {setting.name: name_of[setting.parse.model_dump_json()] for setting in config.settings}
    return Corpora({setting: by_parser[name] for setting, name in own.items()}, _united(by_parser, own), own)


def _read(config: BenchConfig, context: Context) -> dict[str, Corpus]:
    inputs = read_inputs(config, context)
    read = {}
    for name, parser in parsers_of(config.settings).items():
        context.reporter.note(f"Reading the documents with {name}.")
        read[name] = read_documents(config, parser, inputs, context)
    texts = {
        name: {item.document.doc_id: item.document for item in parsed}
        for name, (parsed, _, _) in read.items()
    }
    skipped = {name: [item.doc_id for item in missing] for name, (_, missing, _) in read.items()}
    with context.timed("labels"):
        rows = inputs.label_rows
        anchored = anchor_in_each(rows, texts, config.anchor, inputs.query_ids, skipped)
        if config.labels:
            for one in anchored.values():
                refuse_disputed(one.graded(), config.labels)
        found = {
            name: FoundLabels(one, with_duplicates(one.judgments, texts[name], config, context))
            for name, one in anchored.items()
        }
        labels = one_evidence_a_row(rows, found)
    return {
        name: Corpus(
            tuple(parsed), tuple(missing), inputs.queries, anchored[name], labels[name], hashes, rows
        )
        for name, (parsed, missing, hashes) in read.items()
    }


def _united(corpora: Mapping[str, Corpus], parsers: Mapping[str, str]) -> Corpus:
    """All texts as documents of their own; ``parsers`` is by setting the name of its parser."""
    texts = {name: _as_texts(corpus, name) for name, corpus in corpora.items()}
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


def _as_texts(corpus: Corpus, parser: str) -> Corpus:
    """The corpus with its documents under the ids of the parser's texts."""

    def renamed(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(replace(row, doc_id=text_id(row.doc_id, parser)) for row in rows)

    return replace(
        corpus,
        parsed=tuple(replace(item, document=renamed([item.document])[0]) for item in corpus.parsed),
        skipped=renamed(corpus.skipped),
        anchored=replace(
            corpus.anchored,
            judgments=renamed(corpus.anchored.judgments),
            anchorings=tuple(
                replace(one, document=renamed([one.document])[0]) for one in corpus.anchored.anchorings
            ),
        ),
        labels=renamed(corpus.labels),
    )


def _renamed(one: Searched, parser: str) -> Searched:
    """The same search, its chunks and documents under the ids of the parser's texts."""
    return replace(
        one,
        chunking=_of_texts(one.chunking, parser),
        rankings={step: _ranked(rankings, parser) for step, rankings in one.rankings.items()},
        filtered={step: _narrowed(own, parser) for step, own in one.filtered.items()},
        over_chunks=None if one.over_chunks is None else _renamed(one.over_chunks, parser),
    )


def _of_texts(chunking: Chunking, parser: str) -> Chunking:
    chunks = tuple(_chunk(chunk, parser) for chunk in chunking.chunks)
    # reading uses the ids of the parser's own texts, and is already done
    return replace(chunking, chunks=chunks, key=f"{chunking.key}@{parser}", reading=None)


def _chunk(chunk: Chunk, parser: str) -> Chunk:
    return replace(chunk, chunk_id=_chunk_id(chunk.chunk_id, parser), doc_id=text_id(chunk.doc_id, parser))


def _chunk_id(name: str, parser: str) -> str:
    document, _, place = name.rpartition(":")
    return f"{text_id(document, parser)}:{place}"


def _ranked(rankings: Iterable[Ranking], parser: str) -> list[Ranking]:
    return [
        replace(ranking, chunk_ids=tuple(_chunk_id(name, parser) for name in ranking.chunk_ids))
        for ranking in rankings
    ]


def _narrowed(own: Sequence[FilterResult], parser: str) -> tuple[FilterResult, ...]:
    return tuple(
        one
        if one.documents is None
        else replace(one, documents=frozenset(text_id(name, parser) for name in one.documents))
        for one in own
    )
