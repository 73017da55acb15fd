"""What a run lends to its search steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.llm import About, Form, Model, ModelConfig, Spending, jobs_of
from harness.llm import answers as answers_of
from harness.models.encoder import EncoderConfig, LocalEncoder, Value
from harness.progress import Reporter
from harness.running.compute import Computed, Kept, compute_new, digest
from harness.running.context import Context
from harness.running.facts import facts_of, rows_of
from harness.running.filtering import is_known_filtered, search_filtered
from harness.running.served import compute_served
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
    NotMeasuredError,
    Passages,
    Phrased,
    Purpose,
    RetrieverConfig,
    RewriterConfig,
    Slot,
    StepOutput,
)
from harness.search.fuse.phrasings import fuse_phrasings
from harness.served.embedding import ServedEncoder
from harness.store import key_of
from harness.store.ledger import Ledger
from harness.types import Answered, Query, Ranking

# What the calls of an estimate are about.
_NOUNS: dict[Purpose, str] = {"context": "chunks", "answer": "questions", "measuring": "prompts"}


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

    @property
    def may_ask(self) -> bool:
        """Whether language models and services may be asked; not in a plan."""
        return self.context.may_ask

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the with block to the timings of the run."""
        return self.context.timed(stage)

    def key(self, *facts: Any) -> str:
        """A hash of JSON-able facts."""
        return key_of(*facts)

    def fingerprint(self, encoder: EncoderConfig) -> str:
        """Everything that decides a vector besides the text."""
        return self.context.encoder(encoder).fingerprint

    def vectors(self, texts: Sequence[str], encoder: EncoderConfig) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension]."""
        return vectors(texts, encoder, self.context)

    def embed(self, text: str, encoder: EncoderConfig) -> Value:
        """What an encoder makes of one text, computed now by a model on this machine."""
        found = self.context.encoder(encoder)
        if not isinstance(found, LocalEncoder):
            raise NotMeasuredError(f"{encoder.model_name} is not a model on this machine")
        (value,) = found.encode([text])
        return value

    def values(self, texts: Sequence[str], encoder: EncoderConfig) -> Iterable[bytes]:
        """What an encoder makes of each text, in their order."""
        keys = [digest(text) for text in texts]
        found = embedded(keys, texts, encoder, self.context)
        if not self.context.encoder(encoder).bulky:
            return [found.values[key] for key in keys]
        return Kept("vectors", keys, vectors_file(encoder, self.context), self.context)

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
        """All that a rewriter asks for the queries, one after the other; they themselves without one."""
        return queries if rewrite is None else self.phrased(rewrite, queries).queries

    def phrased(self, rewrite: RewriterConfig, queries: Sequence[Query]) -> Phrased:
        """What a rewriter asks, and how much of it for each query; made once a run."""
        done = self.context.rewritten
        # its fields, for a query of another split is another one
        key = key_of(rewrite.model_dump(mode="json"), [astuple(query) for query in queries])
        if key not in done:
            before = len(self.context.answer_costs)
            groups = REWRITERS.make(rewrite).phrasings(queries, self)
            costs = self.context.answer_costs[before:]
            known = [cost for cost in costs if cost is not None]
            done[key] = Phrased(
                tuple(query for group in groups for query in group),
                tuple(map(len, groups)),
                sum(known) if len(known) == len(costs) else None,
            )
        return done[key]

    def fused(
        self,
        rewrite: RewriterConfig | None,
        output: StepOutput,
        retriever: RetrieverConfig,
        passages: Passages,
        queries: Sequence[Query],
    ) -> StepOutput:
        """One ranking a query, of what the retriever has found for all that a rewriter made of it."""
        if rewrite is None or (phrased := self.phrased(rewrite, queries)).one_each:
            return output
        fuse = REWRITERS.make(rewrite).fuse
        return fuse_phrasings(output, retriever, passages, queries, phrased.sizes, fuse)

    def answers(
        self,
        model: ModelConfig,
        form: Form,
        asked: Sequence[About],
        name: str,
        purpose: Purpose = "rewriting",
        sample: int = 0,
    ) -> list[Answered]:
        """The answers of a language model in the order asked; what is equal is asked once."""
        title = f"{name} by {model.endpoint.model}"
        so_far = self._within_limits(model, purpose)
        with Ledger(self.context.cache.ledger) as ledger:
            asker = Model(model, form, ledger, before=so_far)
            calls = {one: asker.call(*one, sample) for one in asked}
            estimate = asker.estimate(jobs_of(calls.values()), _NOUNS.get(purpose, "queries"))
            if estimate.calls and not self.context.may_ask:
                facts = [[one.prompt_sha, one.model, one.parameters] for one in calls.values()][:1]
                key = key_of(facts, list(calls))
                raise NotAskedError(NotAsked(title, key, estimate, model.endpoint.problem(), purpose))
            if estimate.calls:
                self.reporter.note(f"{title}: {estimate}")
            stage = "rewrite" if purpose == "rewriting" else purpose
            with self.timed(stage):
                found, spending = answers_of(asker, list(calls.values()), reporter=self.reporter, name=stage)
            self.context.answer_costs.append(asker.cost(calls.values()))
        if failed := sum(not one.usable for one in found):
            self.context.count("calls_failed", failed)
        so_far.add_spending(spending)
        self.context.spent.setdefault(title, Spending()).add_spending(spending)
        self.context.spent[title].from_ledger += spending.from_ledger
        self.context.purposes[title] = purpose
        answered = dict(zip(calls, found, strict=True))
        return [answered[one] for one in asked]

    def _within_limits(self, model: ModelConfig, purpose: Purpose) -> Spending:
        """What this run has asked under the limits of ``model``: one section's, whatever its prompts."""
        key = key_of(purpose, model.endpoint.base_url, model.max_cost, model.max_calls)
        return self.context.within_limits.setdefault(key, Spending())

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

    def kept(self, kind: str, key: str) -> Any | None:
        """What a step has kept under a key, None where there is nothing."""
        return self.context.artifacts.get(kind, key)

    def keep(self, kind: str, key: str, value: Any) -> None:
        """Keep a JSON-able value, whole or not at all."""
        self.context.artifacts.put(kind, key, value)

    def search(
        self, name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> StepOutput:
        """The rankings of a retriever; those of a fusion are made of its routes', which are cached."""
        begun, before = perf_counter(), dict(self.context.counts)
        asked = self.rewritten(retriever.rewrite, queries)
        if retriever.filter is not None:
            found = search_filtered(name, retriever, passages, asked, self)
        elif (known := self.known(retriever, passages, asked)) is not None:
            found = known
        else:
            found = self.found(retriever, passages, asked)
            self.keep_found(retriever, passages, asked, found)
        computed = self.context.counts.get("vectors_computed", 0) - before.get("vectors_computed", 0)
        output = StepOutput(
            name=name,
            rankings=found.rankings,
            asked=found.asked or tuple(asked),
            effort=Effort(perf_counter() - begun, computed, computed),
            exact_share=found.exact_share,
            routes=found.routes,
            filtered=found.filtered,
        )
        return self.fused(retriever.rewrite, output, retriever, passages, queries)

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
        return self.known(retriever, passages, asked) is not None

    def to_embed(
        self, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> Iterator[tuple[EncoderConfig, list[str]]]:
        """The texts that searching by a retriever and its routes embeds."""
        asked = self.rewritten(retriever.rewrite, queries)
        for part in retriever.parts:
            yield from self.to_embed(part, passages, asked)
        if not retriever.parts:
            yield from RETRIEVERS.make(retriever).to_embed(passages, asked)

    def known(
        self,
        retriever: RetrieverConfig,
        passages: Passages,
        asked: Sequence[Query],
        more: Sequence[Any] = (),
    ) -> Found | None:
        """What is kept of a retriever that fuses nothing; ``more`` is what else decides its rankings."""
        if retriever.parts:
            return None
        stored = self.context.artifacts.get("ranking", self._key(retriever, passages, asked, more))
        if stored is None:
            return None
        rankings = [
            Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]
        ]
        texts = stored.get("asked", ())
        put = tuple(replace(query, text=text) for query, text in zip(asked, texts, strict=bool(texts)))
        return Found(rankings, stored["exact_share"], asked=put)

    def keep_found(
        self,
        retriever: RetrieverConfig,
        passages: Passages,
        asked: Sequence[Query],
        found: Found,
        more: Sequence[Any] = (),
    ) -> None:
        """Keep the rankings of a retriever; those of a fusion are made anew of its routes'."""
        if retriever.parts:
            return
        rows = [[r.query_id, r.chunk_ids, r.scores] for r in found.rankings]
        stored: dict[str, Any] = {"rankings": rows, "exact_share": found.exact_share}
        if found.asked:
            stored["asked"] = [query.text for query in found.asked]
        self.context.artifacts.put("ranking", self._key(retriever, passages, asked, more), stored)

    def _key(
        self, retriever: RetrieverConfig, passages: Passages, asked: Sequence[Query], more: Sequence[Any]
    ) -> str:
        texts = [[query.query_id, query.text] for query in asked]
        own = RETRIEVERS.make(retriever).identity(self)
        return key_of(passages.key, texts, retriever.kind, own, *more)


def vectors(texts: Sequence[str], config: EncoderConfig, context: Context) -> NDArray[np.float32]:
    """The vectors of ``texts``, float32 [texts, dimension]; equal texts are embedded once."""
    keys = [digest(text) for text in texts]
    found = embedded(keys, texts, config, context)
    return np.stack([found.floats(key) for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)


def embedded(
    keys: Sequence[bytes], texts: Sequence[str], config: EncoderConfig, context: Context
) -> Computed:
    """The vectors of ``texts`` by their ``keys``, which are their digests."""
    encoder = context.encoder(config)
    if isinstance(encoder, ServedEncoder):
        return compute_served("vectors", keys, texts, encoder, context)
    if not isinstance(encoder, LocalEncoder):
        raise TypeError(f"{type(encoder).__name__} encodes neither here nor at an endpoint")
    return compute_new(
        "vectors",
        keys,
        vectors_file(config, context),
        batches=lambda indices: encoder.batches([texts[i] for i in indices]),
        run=lambda batch: encoder.encode([texts[i] for i in batch]),
        context=context,
        hold=not encoder.bulky,
    )


def vectors_file(config: EncoderConfig, context: Context) -> Path:
    """Where the values of an encoder are kept."""
    encoder = context.encoder(config)
    if isinstance(encoder, ServedEncoder):
        return context.cache.served("vectors", encoder.fingerprint)
    return context.cache.vectors(encoder.fingerprint)
