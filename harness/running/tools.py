"""What a run lends to its search steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.llm import Form, Model, ModelConfig, Spending, jobs_of
from harness.llm import answers as answers_of
from harness.llm.endpoint import read_key
from harness.models.encoder import EmbedConfig
from harness.progress import Reporter
from harness.running.compute import Computed, compute_new, digest
from harness.running.context import Context
from harness.running.facts import facts_of, rows_of
from harness.running.filtering import is_known_filtered, search_filtered
from harness.search import (
    FILTERS,
    RETRIEVERS,
    REWRITERS,
    Effort,
    FilterConfig,
    Found,
    Identity,
    Narrowed,
    NotAsked,
    NotAskedError,
    Passages,
    Purpose,
    RetrieverConfig,
    RewriterConfig,
    Slot,
    StepOutput,
)
from harness.store import key_of
from harness.store.ledger import Ledger
from harness.types import Answered, Query, Ranking


@dataclass(frozen=True, slots=True)
class RunTools:
    """``harness.search.Tools`` over the context of a run.

    ``questions`` are the queries by id as users asked them, for filters read those; without them, they read
    queries as they come to the retriever.
    """

    context: Context
    questions: Mapping[str, Query] = field(default_factory=dict)

    @property
    def reporter(self) -> Reporter:
        """Progress and warnings."""
        return self.context.reporter

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the with block to the timings of the run."""
        return self.context.timed(stage)

    def key(self, *facts: Any) -> str:
        """A hash of JSON-able facts."""
        return key_of(*facts)

    def fingerprint(self, encoder: EmbedConfig) -> str:
        """Everything that decides a vector besides the text."""
        return self.context.encoder(encoder).fingerprint

    def vectors(self, texts: Sequence[str], encoder: EmbedConfig) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension]."""
        return vectors(texts, encoder, self.context)

    def index(self, key: str) -> Slot:
        """The place of an index in the cache."""
        return self.context.collections.slot(key)

    def identity(self, retriever: RetrieverConfig) -> Identity:
        """All that decides the rankings of a retriever besides passages and queries."""
        own = RETRIEVERS.make(retriever).identity(self)
        if retriever.filter is not None:
            own = [own, FILTERS.make(retriever.filter).identity()]
        rewrite = retriever.rewrite
        return own if rewrite is None else [own, REWRITERS.make(rewrite).identity()]

    def rewritten(self, rewrite: RewriterConfig | None, queries: Sequence[Query]) -> Sequence[Query]:
        """The queries as a rewriter asks them; as they are where there is none."""
        if rewrite is None:
            return queries
        done = self.context.rewritten
        # its fields, for a query of another split is another one
        key = key_of(rewrite.model_dump(mode="json"), [astuple(query) for query in queries])
        if key not in done:
            done[key] = tuple(REWRITERS.make(rewrite).run(queries, self))
        return done[key]

    def answers(
        self,
        model: ModelConfig,
        form: Form,
        texts: Sequence[str],
        name: str,
        *,
        purpose: Purpose = "rewriting",
        passages: Sequence[tuple[str, ...]] = (),
    ) -> list[Answered]:
        """The answers of a language model about the texts, in their order; equal texts are asked once."""
        shown = list(zip(texts, passages or [()] * len(texts), strict=True))
        title = f"{name} by {model.endpoint.model}"
        with Ledger(self.context.cache.ledger) as ledger:
            asker = Model(model, form, ledger)
            calls = {one: asker.call(*one) for one in shown}
            estimate = asker.estimate(jobs_of(calls.values()), "chunks" if passages else "queries")
            if estimate.calls and not self.context.may_ask:
                facts = [[one.prompt_sha, one.model, one.parameters] for one in calls.values()][:1]
                key = key_of(facts, list(calls))
                raise NotAskedError(NotAsked(title, key, estimate, _problem(model), purpose))
            if estimate.calls:
                self.reporter.note(f"{title}: {estimate}")
            stage = "rewrite" if purpose == "rewriting" else purpose
            with self.timed(stage):
                found, spending = answers_of(asker, list(calls.values()), reporter=self.reporter, name=stage)
        self.context.spent.setdefault(title, Spending()).add_spending(spending)
        self.context.spent[title].from_ledger += spending.from_ledger
        self.context.purposes[title] = purpose
        by_text = dict(zip(calls, found, strict=True))
        return [by_text[one] for one in shown]

    def facts(
        self, file: Path, key: str, columns: Sequence[str], documents: Sequence[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """The cells of a table of documents by document and column."""
        return facts_of(file, key, columns, documents)

    def rows(self, file: Path, columns: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """The cells of a table row by row."""
        return rows_of(file, columns)

    def narrowed(
        self, config: FilterConfig, documents: Sequence[str], queries: Sequence[Query]
    ) -> tuple[Narrowed, ...]:
        """What a filter makes of each query among the documents, made once a run."""
        asked = [self.questions.get(query.query_id, query) for query in queries]
        done = self.context.narrowed
        key = key_of(config.model_dump(mode="json"), [[one.query_id, one.text] for one in asked], documents)
        if key not in done:
            done[key] = tuple(FILTERS.make(config).run(asked, documents, self))
        return done[key]

    def search(
        self, name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> StepOutput:
        """The rankings of a retriever; those of a fusion are made of its routes', which are cached."""
        begun, before = perf_counter(), dict(self.context.counts)
        asked = self.rewritten(retriever.rewrite, queries)
        if retriever.filter is not None:
            found = search_filtered(name, retriever, passages, asked, self)
        elif (known := self._known(retriever, passages, asked)) is not None:
            found = known
        else:
            found = self.found(retriever, passages, asked)
            self._keep(retriever, passages, asked, found)
        computed = self.context.counts.get("vectors_computed", 0) - before.get("vectors_computed", 0)
        return StepOutput(
            name=name,
            rankings=found.rankings,
            asked=tuple(asked),
            effort=Effort(perf_counter() - begun, computed, computed),
            exact_share=found.exact_share,
            routes=found.routes,
            filtered=found.filtered,
        )

    def found(self, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query]) -> Found:
        """What a retriever finds, its rewriter and its filter left out; its rankings are not kept."""
        return RETRIEVERS.make(retriever).run(passages, asked, self)

    def is_known(self, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]) -> bool:
        """Whether the rankings of a retriever, or of all its routes, are cached."""
        asked = self.rewritten(retriever.rewrite, queries)
        if retriever.filter is not None:
            return is_known_filtered(retriever, passages, asked, self)
        if retriever.parts:
            return all(self.is_known(part, passages, asked) for part in retriever.parts)
        return self._known(retriever, passages, asked) is not None

    def to_embed(
        self, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> Iterator[tuple[EmbedConfig, list[str]]]:
        """The texts that searching by a retriever and its routes embeds."""
        asked = self.rewritten(retriever.rewrite, queries)
        for part in retriever.parts:
            yield from self.to_embed(part, passages, asked)
        if not retriever.parts:
            yield from RETRIEVERS.make(retriever).to_embed(passages, asked)

    def _key(self, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query]) -> str:
        texts = [[query.query_id, query.text] for query in asked]
        return key_of(passages.key, texts, retriever.kind, RETRIEVERS.make(retriever).identity(self))

    def _known(self, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query]) -> Found | None:
        if retriever.parts:
            return None
        stored = self.context.artifacts.get("ranking", self._key(retriever, passages, asked))
        if stored is None:
            return None
        rankings = [
            Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]
        ]
        return Found(rankings, stored["exact_share"])

    def _keep(
        self, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query], found: Found
    ) -> None:
        if retriever.parts:
            return
        rows = [[r.query_id, r.chunk_ids, r.scores] for r in found.rankings]
        stored = {"rankings": rows, "exact_share": found.exact_share}
        self.context.artifacts.put("ranking", self._key(retriever, passages, asked), stored)


def _problem(model: ModelConfig) -> str:
    """What keeps the model from being asked; its endpoint is not."""
    try:
        read_key(model.endpoint)
    except ConfigError as error:
        return str(error)
    return ""


def vectors(texts: Sequence[str], config: EmbedConfig, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    keys = [digest(text) for text in texts]
    found = embedded(keys, texts, config, context)
    return np.stack([found.floats(key) for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)


def embedded(keys: Sequence[bytes], texts: Sequence[str], config: EmbedConfig, context: Context) -> Computed:
    """The vectors of ``texts`` by their ``keys``, which are their digests."""
    encoder = context.encoder(config)
    return compute_new(
        "vectors",
        keys,
        context.cache.vectors(encoder.fingerprint),
        batches=lambda indices: encoder.batches([texts[i] for i in indices]),
        run=lambda batch: encoder.embed([texts[i] for i in batch]),
        context=context,
    )
