"""The cost of queries at language models, endpoints and services, by setting and stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.models import ModelConfig, ServedEncoder, Spending, add
from harness.running.compute import digest
from harness.running.context import Context
from harness.running.search import Searched, rerank_pairs, reranker_names
from harness.running.served import shares
from harness.running.tools import RETRIEVE, RunTools
from harness.steps import EndpointRerankerConfig, Passages, RetrieverConfig, ServedScorer, route_names
from harness.values import Query


@dataclass(frozen=True, slots=True)
class QueryCost:
    """``rewriting``: what language models were paid for all queries; ``per_1000``: what a thousand cost.

    Whoever paid, in this run or before. None if a price is unknown, as that of a service of one's own is,
    and for ``per_1000`` where a language model filters, whose calls are not separated by setting.
    ``endpoints`` is what vectors and scores of endpoints cost for chunks and queries; None without one too.
    """

    rewriting: float | None
    per_1000: float | None
    endpoints: float | None


def query_costs(
    searched: Sequence[Searched], queries: Sequence[Query], context: Context
) -> dict[tuple[str, str], QueryCost]:
    """The cost of all queries, by setting and stage, up to and including it."""
    found: dict[tuple[str, str], QueryCost] = {}
    for one in searched:
        rewriting = one.rewriting_costs
        bought = _endpoint_costs(one, queries, context)
        unknown = bool(one.setting.services) or any(
            isinstance(r.filter, ModelConfig) for r in one.setting.finder.every()
        )
        for stage in one.rankings:
            # later steps depend on all calls made for retrieval
            rewritten = rewriting.get(stage, rewriting.get(RETRIEVE, 0.0))
            own = bought.get(stage)
            other = 0.0 if not bought else own.queries if own is not None else None
            total = None if unknown or rewritten is None or other is None else rewritten + other
            per_1000 = None if total is None or not queries else 1000 * total / len(queries)
            whole = None if own is None else add(own.index, own.queries)
            found[one.setting.name, stage] = QueryCost(rewritten, per_1000, whole)
    return found


@dataclass(frozen=True, slots=True)
class _Bought:
    """The cost of vectors and scores of endpoints: for the index, and for the queries; None: no price."""

    index: float | None
    queries: float | None


def _endpoint_costs(one: Searched, queries: Sequence[Query], context: Context) -> dict[str, _Bought]:
    """The cost of vectors and scores of endpoints for a setting alone, up to each of its steps and routes.

    Computed from stored values, so that a run that buys nothing gives the same; empty if no endpoint is
    asked.
    """
    setting, by_chunks = one.setting, one.over_chunks or one
    endpoints = [reranker for reranker in setting.rerank if isinstance(reranker, EndpointRerankerConfig)]
    if not endpoints and all(encoder.runs_here for encoder in setting.retrieve.encoders()):
        return {}
    asked = RunTools(context).rewritten(setting.rewrite, queries)
    found = dict(_retrieving(RETRIEVE, setting.retrieve, by_chunks.chunking.passages, asked, context))
    total = found[RETRIEVE]
    for place, step in enumerate(reranker_names(setting)):
        reranker = setting.rerank[place]
        if isinstance(reranker, EndpointRerankerConfig):
            pairs = [digest(*pair) for pair in rerank_pairs(by_chunks, place, queries)]
            scored = shares("pairs", pairs, ServedScorer(reranker).served, context)
            total = _Bought(total.index, add(total.queries, reranker.endpoint.cost(*scored)))
        found[step] = total
    return found


def _retrieving(
    name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query], context: Context
) -> Iterator[tuple[str, _Bought]]:
    """The cost of a retriever and its routes, each alone, by their names."""
    tools = RunTools(context)
    index: dict[str, tuple[ServedEncoder, set[bytes]]] = {}
    whole: dict[str, tuple[ServedEncoder, set[bytes]]] = {}
    for keys, asked in ((index, ()), (whole, queries)):
        for config, texts in tools.to_embed(retriever, passages, asked):
            encoder = context.encoder(config)
            if isinstance(encoder, ServedEncoder):
                keys.setdefault(encoder.fingerprint, (encoder, set()))[1].update(map(digest, texts))
    of_queries = {
        model: (encoder, own - index.get(model, (encoder, set()))[1])
        for model, (encoder, own) in whole.items()
    }
    yield name, _Bought(_cost(index, context), _cost(of_queries, context))
    asked = tools.rewritten(retriever.rewrite, queries)
    for route, part in zip(route_names(retriever.parts), retriever.parts, strict=True):
        yield from _retrieving(f"{name}.{route}", part, passages, asked, context)


def _cost(keys: Mapping[str, tuple[ServedEncoder, set[bytes]]], context: Context) -> float | None:
    cost: float | None = 0.0
    for encoder, own in keys.values():
        cost = add(cost, encoder.endpoint.cost(*shares("vectors", sorted(own), encoder, context)))
    return cost


def rewriting_facts(context: Context) -> dict[str, Any]:
    """For the run record: the calls of language models before retrieval, by prompt and model."""
    return {
        name: {
            "purpose": context.purposes.get(name, "rewriting"),
            "calls": spent.calls,
            "from_ledger": spent.from_ledger,
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            **_spent(spent, "calls"),
        }
        for name, spent in context.spent.items()
    }


def endpoint_facts(context: Context) -> dict[str, Any]:
    """For the run record: the requests to endpoints, by model."""
    return {
        name: {
            "requests": spent.calls,
            "kept_from_before": spent.from_ledger,
            "tokens": spent.prompt_tokens,
            **_spent(spent, "requests"),
        }
        for name, spent in context.served.items()
    }


def _spent(spent: Spending, noun: str) -> dict[str, Any]:
    return {
        "cost": spent.cost,
        "maybe_billed": {noun: spent.unseen_calls, "at_most": spent.unseen_cost},
        "faults": dict(spent.faults),
        "served_models": sorted(spent.served_models),
    }
