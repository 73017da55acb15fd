"""The resources of a run for its steps: vectors, language models, tables, indexes, documents, the cache."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import data, models, steps, store, values
from harness.models import AnyTokenizer
from harness.running.compute import LocalPass, StoredValues, digest
from harness.running.corpus import Corpus
from harness.running.model_time import Remaining, texts_left
from harness.running.note_wordings import RUN
from harness.running.passes import encoding
from harness.running.session import Session
from harness.store import Artifacts, key_of
from harness.values import Slot, worded

_STAGES: dict[models.Purpose, str] = {"rewriting": "rewrite", "reading": "read", "reranking": "rerank"}
# The nouns for the items of an estimate.
_NOUNS: dict[models.Purpose, str] = {
    "context": "chunks",
    "reading": "passages",
    "naming": "passages",
    "reranking": "lists",
    "answer": "prompts",
    "measuring": "prompts",
}


def _title(request: models.Request) -> str:
    return f"{request.name} by {request.model.endpoint.model}"


def _pending(
    request: models.Request,
    asker: models.Model,
    jobs: Mapping[tuple[models.About, int], Any],
    estimate: models.Estimate,
) -> steps.PendingCalls:
    endpoint = request.model.endpoint
    key = store.key_of([[asker.form.sha256, endpoint.model, endpoint.parameters()]], list(jobs))
    return steps.PendingCalls(_title(request), key, estimate, endpoint.problem(), request.purpose)


@dataclass(frozen=True, slots=True)
class Resources:
    """What steps ask of a run, over its session."""

    session: Session

    @property
    def reporter(self) -> values.Reporter:
        """Progress and warnings; those of a step of the search bear on the result."""
        return self.session.notes.keeping("model calls")

    @property
    def may_ask(self) -> bool:
        """Whether language models and services may be asked; not in a plan."""
        return self.session.may_ask

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the with block to the timings of the run."""
        return self.session.notes.timed(stage)

    @property
    def spread(self) -> steps.Spread | None:
        """Runs a job over parts on the workers of a cluster, where there is one."""
        return self._spread if self.session.engine.apart else None

    def _spread(self, job: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        with self.session.notes.reporter.task("search shards", len(parts)) as task:
            for part in self.session.engine.map(job, parts, job, task):
                yield part.value
                task.advance()

    def key(self, *facts: Any) -> str:
        """A hash of JSON-able facts."""
        return store.key_of(*facts)

    def fingerprint(self, encoder: models.EncoderConfig) -> str:
        """Everything that decides a vector besides the text."""
        return self.session.models.encoder(encoder).fingerprint

    def vectors(self, texts: Sequence[str], encoder: models.EncoderConfig) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension]."""
        return self.values(texts, encoder)[:]

    def values(self, texts: Sequence[str], encoder: models.EncoderConfig) -> StoredValues:
        """The encoding of each text, in order, read a part at a time; equal texts are encoded once."""
        keys, model = [digest(text) for text in texts], encoding(encoder, self.session)
        return StoredValues(model, keys, model(dict(zip(keys, texts, strict=True))).values)

    def index(self, key: str, *, in_place: bool = False) -> AbstractContextManager[Slot]:
        """The place of an index in the cache; ``in_place``: without a copy, for what is only read."""
        return self.session.collections.slot(key, in_place=in_place)

    def kept(self, kind: str, key: str) -> Any | None:
        """The value that a step has stored under a key, None if there is none."""
        return self.session.artifacts.get(kind, key)

    def keep(self, kind: str, key: str, value: Any) -> None:
        """Keep a JSON-able value, whole or not at all."""
        self.session.artifacts.put(kind, key, value)

    def _within_limits(self, request: models.Request) -> models.Spending:
        """What was spent within the limits of a section, which hold for all that it asks."""
        model = request.model
        limits = store.key_of(request.purpose, model.endpoint.address, model.max_cost, model.max_calls)
        return self.session.notes.bills.within_limits.setdefault(limits, models.Spending())

    def talks(self, requests: Sequence[models.Request]) -> list[list[steps.Talked]]:
        """Of each request, all answers about each thing, all once, then all again; equal calls are one.

        All requests are made together, so that those to one endpoint are one batch, where it has batches.
        """
        session = self.session
        stages = [_STAGES.get(request.purpose, request.purpose) for request in requests]
        with store.Ledger(session.cache.ledger) as ledger:
            askers = [self._asker(request, ledger) for request in requests]
            for request, (asker, jobs) in zip(requests, askers, strict=True):
                estimate = asker.estimate(jobs.values(), _NOUNS.get(request.purpose, "queries"))
                if estimate.missing:
                    # also what is on its way in batches, which would be waited for
                    session.refuse_unless_asking(_title(request))
                    session.notes.reporter.note(f"{_title(request)}: {estimate}")
            answered = models.talks(
                [(asker, jobs.values()) for asker, jobs in askers],
                reporter=session.notes.reporter,
                name=" and ".join(dict.fromkeys(stages)),
            )
            talked = [
                {
                    job: steps.Talked(tuple(answers), asker.cost(answers))
                    for job, answers in zip(jobs, answers_by_job, strict=True)
                }
                for (asker, jobs), (answers_by_job, _) in zip(askers, answered, strict=True)
            ]
        for request, stage, talks, (_, spending) in zip(requests, stages, talked, answered, strict=True):
            session.notes.timings[stage] += spending.seconds
            self._note(request, talks.values(), spending)
        return [
            [talks[job] for job in _order(request)] for request, talks in zip(requests, talked, strict=True)
        ]

    def _note(
        self,
        request: models.Request,
        talks: Iterable[steps.Talked],
        spending: models.Spending,
    ) -> None:
        """Count what the answers to a request have cost, and those that cannot be used."""
        notes, title = self.session.notes, _title(request)
        if failed := sum(not answer.usable for talk in talks for answer in talk.answers):
            notes.counts["calls_failed"] += failed
        self._within_limits(request).add_spending(spending)
        notes.bills.spent.setdefault(title, models.Spending()).add_spending(spending)
        notes.bills.spent[title].from_ledger += spending.from_ledger
        notes.bills.purposes[title] = request.purpose

    def pending(self, request: models.Request) -> steps.PendingCalls | None:
        """The calls that a request still takes; None where the ledger has all answers. Nothing is asked."""
        with store.Ledger(self.session.cache.ledger) as ledger:
            asker, jobs = self._asker(request, ledger)
            estimate = asker.estimate(jobs.values(), _NOUNS.get(request.purpose, "queries"))
            return _pending(request, asker, jobs, estimate) if estimate.missing else None

    def _asker(
        self, request: models.Request, ledger: store.Ledger
    ) -> tuple[models.Model, dict[tuple[models.About, int], models.Job[Any]]]:
        """The model of a request, and what it is asked about each thing, each time."""
        asker = models.Model(request.model, request.form, ledger, before=self._within_limits(request))
        return asker, _jobs(asker, request)

    def facts(
        self, file: Path, key: str, columns: Sequence[str], documents: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table by document and column, those of ``documents`` only."""
        doc_ids = set(documents)
        facts: dict[str, Mapping[str, str]] = {}
        for row in data.read_table(file, (key, *columns), values.ConfigError).rows:
            doc_id = next(
                (possible_id for possible_id in data.possible_ids(row.get(key)) if possible_id in doc_ids),
                None,
            )
            if doc_id in facts:
                raise values.ConfigError(
                    f"{file}, line {row.line}: document {row.get(key)!r} occurs twice. Remove one row."
                )
            if doc_id is not None:
                facts[doc_id] = {column: row.get(column) for column in columns}
        return facts

    def rows(self, file: Path, columns: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """The cells of a table row by row."""
        return [
            {column: row.get(column) for column in columns}
            for row in data.read_table(file, columns, values.ConfigError).rows
        ]


# Raised when stored chunks are written differently.
CHUNKS_FORMAT = 2


@dataclass(frozen=True, slots=True)
class RunSources(Resources):
    """``harness.steps.search.tools.Sources`` over a corpus; computed values are kept."""

    corpus: Corpus
    tokenizer: AnyTokenizer
    _documents: dict[str, values.Document] = field(default_factory=dict)
    _outlines: dict[str, steps.Outline] = field(default_factory=dict)
    _headings: dict[tuple[str, str], list[values.Heading]] = field(default_factory=dict)

    def document(self, doc_id: str) -> values.Document:
        """A document of the corpus."""
        if not self._documents:
            self._documents.update(self.corpus.by_id)
        return self._documents[doc_id]

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences [N, 2]."""
        if not self._outlines:
            self._outlines.update(self.outlines())
        return self._outlines[doc_id].sentences

    def outlines(self) -> dict[str, steps.Outline]:
        """The outline of every document by its id."""
        return outlines(self.corpus, self.session.artifacts, self.session.notes.reporter)

    def headings(self, doc_id: str, style: values.HeadingStyle) -> Sequence[values.Heading]:
        """Its headings in the order of the text."""
        if (doc_id, style) not in self._headings:
            find = values.markdown_headings if style == "markdown" else values.numbered_headings
            self._headings[doc_id, style] = list(find(self.document(doc_id).text))
        return self._headings[doc_id, style]

    def chunks(self, config: values.StageConfig) -> Sequence[values.Chunk]:
        """All chunks of another chunker."""
        if not isinstance(config, steps.ChunkerConfig):
            raise TypeError(f"{type(config).__name__} is not a chunker")
        return self.cut(config)[0]

    def cut(self, config: steps.ChunkerConfig) -> tuple[tuple[values.Chunk, ...], str]:
        """All chunks of the corpus, and the key that identifies text, chunker and tokenizer.

        Settings with the same chunks share them in memory.
        """
        key, cut = self.chunking_key(config), self.session.prepared.chunks
        if key not in cut:
            cut[key] = tuple(self._stored_or_cut(config, key_of(key, CHUNKS_FORMAT)))
        return cut[key], key

    def chunking_key(self, config: steps.ChunkerConfig) -> str:
        """What identifies text, chunker and tokenizer."""
        encoder = "" if config.embed is None else self.fingerprint(config.embed)
        chunker = steps.chunker_fingerprint(config, self.tokenizer, encoder)
        return key_of(self.corpus.key, chunker, self.tokenizer.fingerprint)

    def _stored_or_cut(self, config: steps.ChunkerConfig, place: str) -> list[values.Chunk]:
        stored = self.kept("chunks", place)
        if stored is not None:
            return [
                values.Chunk.of(self.document(doc_id), start, end, tuple(map(tuple, before)))
                for doc_id, rows in stored.items()
                for start, end, *before in rows
            ]
        chunks = steps.chunk_documents(
            self.corpus.documents, config, self.tokenizer, self._vectors_for_cutting
        )
        self.keep("chunks", place, places_of(chunks))
        return chunks

    def _vectors_for_cutting(
        self, texts: Sequence[str], encoder: models.EncoderConfig
    ) -> NDArray[np.float32]:
        """The vectors that a chunker needs; says before how long they take at most.

        They come before what `first_results` estimates, as chunks are what that is counted in.
        """
        model = encoding(encoder, self.session)
        if isinstance(model, LocalPass) and not self.session.engine.apart:
            missing = {digest(text): text for text in texts}
            for key in model.known(missing):
                del missing[key]
            if missing:
                left = texts_left(encoder.model_name, model, list(missing.values()))
                takes = Remaining([left], elsewhere=False).takes(self.session.artifacts)
                self.session.notes.reporter.note(worded(RUN, "chunks.take", takes=takes))
        return self.vectors(texts, encoder)

    def lengths_cut(self, key: str) -> NDArray[np.int32] | None:
        """The tokens of chunks that workers have cut, given once; None where none have."""
        return self.session.prepared.lengths.pop(key, None)

    def lengths(self, kind: str, key: str, texts: Sequence[str]) -> NDArray[np.int32]:
        """The tokens of texts, special tokens left out, from the cache where they were counted before."""
        stored = self.kept(kind, key)
        if stored is None:
            lengths = steps.token_lengths(texts, self.tokenizer) - np.int32(self.tokenizer.special)
            stored = {"lengths": lengths.tolist()}
            self.keep(kind, key, stored)
        return np.array(stored["lengths"], dtype=np.int32)


def places_of(chunks: Iterable[values.Chunk]) -> dict[str, list[list[Any]]]:
    """Start and end of every chunk by document, and the ranges shown before it, as they are stored."""
    return values.by_key(
        (length_of.doc_id, [length_of.start, length_of.end, *map(list, length_of.before)])
        for length_of in chunks
    )


def outlines(corpus: Corpus, artifacts: Artifacts, reporter: values.Reporter) -> dict[str, steps.Outline]:
    """The outline of every document by its id; one file of the cache serves all chunkings."""
    key = key_of(corpus.key, steps.OUTLINE_VERSION)
    stored = artifacts.get("outlines", key)
    if stored is None:
        headings = {}
        with reporter.task("outline documents", len(corpus.documents)) as task:
            for document in corpus.documents:
                headings[document.doc_id] = steps.Outline.of(document.text)
                task.advance()
        flat = {i: [o.sentences.ravel().tolist(), o.tables.ravel().tolist()] for i, o in headings.items()}
        artifacts.put("outlines", key, flat)
        return headings
    return {
        doc_id: steps.Outline(*(np.array(flat, dtype=np.int64).reshape(-1, 2) for flat in both))
        for doc_id, both in stored.items()
    }


def _jobs(
    asker: models.Model, request: models.Request
) -> dict[tuple[models.About, int], models.Job[models.About]]:
    """What a request asks, by its subject and the number of its repetition."""
    return {
        (about, sample): models.Job(about, talk=partial(request.talk, about))
        if request.talk
        else models.Job(about, (asker.call(*about, sample),))
        for about, sample in _order(request)
    }


def _order(request: models.Request) -> list[tuple[models.About, int]]:
    return [(about, sample) for sample in range(request.samples) for about in request.about]
