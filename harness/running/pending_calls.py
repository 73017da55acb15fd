"""The calls a run would make to language models, endpoints and services, as far as known; makes none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.models import ModelConfig, ServedEncoder, ServedEstimate, estimate_tokens
from harness.running.compute import digest
from harness.running.config.models import Setting
from harness.running.context import Context
from harness.running.search import Chunked, not_stored
from harness.running.served import pending_call, stored_keys
from harness.running.tools import RunTools
from harness.steps import (
    RETRIEVERS,
    EndpointRerankerConfig,
    PendingCalls,
    PendingCallsError,
    RetrieverConfig,
    RewriterConfig,
    ServedScorer,
)
from harness.values import Query


def missing_answers(
    settings: Sequence[Setting], documents: Sequence[str], queries: Sequence[Query], context: Context
) -> tuple[PendingCalls, ...]:
    """The calls to language models before anything is retrieved.

    These are contexts of chunks, as far as these have been cut, filters and rewritings. Filters that ask no
    model are run, so that their tables are checked. Where one rewriting is of another that is missing, it is
    estimated by the queries as they are.
    """
    tools = RunTools(context)
    missing = dict(context.unwritten)
    for setting in settings:
        missing |= tools.run_filters(setting.finder, documents, queries)
    rewritings: dict[str, PendingCalls] = {}
    for setting in settings:
        # a plan runs no rewriter that it does not need, such as the user's code
        rewriters = [setting.rewrite, *(one.rewrite for one in setting.retrieve.every())]
        if any(isinstance(one, ModelConfig) for one in rewriters):
            known = _rewritten(setting.rewrite, _Known(queries), tools, rewritings)
            _rewritten_below(setting.retrieve, known, tools, rewritings)
    return (*missing.values(), *rewritings.values())


@dataclass(frozen=True, slots=True)
class _Known:
    """The known texts of queries: those before the rewritings ``missing``."""

    queries: Sequence[Query]
    missing: str = ""


def _rewritten_below(
    retriever: RetrieverConfig, known: _Known, tools: RunTools, found: dict[str, PendingCalls]
) -> None:
    known = _rewritten(retriever.rewrite, known, tools, found)
    for part in retriever.parts:
        _rewritten_below(part, known, tools, found)


def _rewritten(
    rewrite: RewriterConfig | None, known: _Known, tools: RunTools, found: dict[str, PendingCalls]
) -> _Known:
    if known.missing and not isinstance(rewrite, ModelConfig):
        # the texts are not known yet, and the user's code is not run on others
        return known
    try:
        return replace(known, queries=tools.rewritten(rewrite, known.queries))
    except PendingCallsError as error:
        key: str = known.missing
        for one in error.missing:
            key += one.key
            found[key] = one
        return _Known(known.queries, key)


def texts_to_buy(
    points: Sequence[Chunked], queries: Sequence[Query], context: Context
) -> tuple[PendingCalls, ...]:
    """The vectors that endpoints would be asked for, by model; queries are taken as they are."""
    wanted: dict[str, tuple[ServedEncoder, dict[bytes, str]]] = {}
    for point in points:
        for retriever in point.setting.retrieve.every():
            for config, texts in RETRIEVERS.make(retriever).to_embed(point.chunking.passages, queries):
                encoder = context.encoder(config)
                if isinstance(encoder, ServedEncoder):
                    items = wanted.setdefault(encoder.fingerprint, (encoder, {}))[1]
                    items.update((digest(text), text) for text in texts)
    found = []
    for encoder, items in wanted.values():
        known = stored_keys("vectors", items, encoder, context)
        left = [text for key, text in items.items() if key not in known]
        found.append(pending_call(left, len(known), encoder))
    return tuple(found)


def pairs_to_buy(
    points: Sequence[Chunked], depths: Sequence[Sequence[int]], queries: Sequence[Query], context: Context
) -> tuple[PendingCalls, ...]:
    """About the pairs that endpoints would be asked to score, by model; at most, as settings share pairs.

    ``depths`` are, for each point and each of its rerankers, the chunks that it scores for a query.
    """
    asked: dict[str, tuple[EndpointRerankerConfig, list[_Pairs]]] = {}
    for point, own in zip(points, depths, strict=True):
        served = [
            (reranker, depth)
            for reranker, depth in zip(point.setting.rerank, own, strict=True)
            if isinstance(reranker, EndpointRerankerConfig)
        ]
        if not served or not not_stored(point, queries, context):
            continue
        for reranker, depth in served:
            key = ServedScorer(reranker).fingerprint
            asked.setdefault(key, (reranker, []))[1].append(_pairs(reranker, point, depth, queries))
    found = []
    for key, (reranker, parts) in asked.items():
        e = reranker.endpoint
        count, calls, tokens = (sum(one) for one in zip(*parts, strict=True))
        estimate = ServedEstimate(count, 0, calls, tokens, e.cost(tokens, calls), "pairs", about=True)
        found.append(PendingCalls(e.model, key, estimate, e.problem(), "endpoint"))
    return tuple(found)


_Pairs = tuple[int, int, int]


def _pairs(reranker: EndpointRerankerConfig, point: Chunked, depth: int, queries: Sequence[Query]) -> _Pairs:
    """The pairs, calls and tokens of scoring ``depth`` chunks of average length for each query."""
    texts = point.chunking.passages.texts
    chunk = sum(map(estimate_tokens, texts)) / max(1, len(texts))
    tokens = round(sum(depth * (chunk + estimate_tokens(query.text)) for query in queries))
    calls = len(queries) * math.ceil(depth / reranker.endpoint.documents_per_request)
    return depth * len(queries), calls, tokens


@dataclass(frozen=True, slots=True)
class PendingService:
    """A service that would be called by a number of ``settings``."""

    url: str
    settings: int


def pending_services(
    points: Sequence[Chunked], queries: Sequence[Query], context: Context
) -> tuple[PendingService, ...]:
    """The services that a search would call, because not all of their answers are stored."""
    found: dict[str, PendingService] = {}
    for point in points:
        services = point.setting.services
        if not services or not not_stored(point, queries, context):
            continue
        for service in services:
            before = found.get(service.url, PendingService(service.url, 0))
            found[service.url] = replace(before, settings=before.settings + 1)
    return tuple(found.values())
