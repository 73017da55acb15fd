"""What endpoints and services would be asked by a plan, were asked in a run, and cost each setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.config import Setting
from harness.llm import ModelConfig, Spending
from harness.llm.records import add
from harness.llm.tokens import estimate_tokens
from harness.own.service import ServiceConfig
from harness.progress import Reporter
from harness.running.compute import digest
from harness.running.context import Context
from harness.running.rewriting import rewriting_costs
from harness.running.search import RETRIEVE, Point, Searched, is_searched, rerank_pairs, reranker_names
from harness.running.served import kept, not_asked, shares
from harness.running.tools import RunTools
from harness.search import RETRIEVERS, NotAsked, Passages, RetrieverConfig, leaves
from harness.search.fuse.routes import route_names
from harness.search.rerank import EndpointRerankerConfig, ServedScorer
from harness.served import ServedEstimate
from harness.served.embedding import ServedEncoder
from harness.types import Query


def texts_to_buy(points: Sequence[Point], queries: Sequence[Query], context: Context) -> tuple[NotAsked, ...]:
    """The vectors that endpoints would be asked for, by model; queries are taken as they stand."""
    wanted: dict[str, tuple[ServedEncoder, dict[bytes, str]]] = {}
    for point in points:
        for retriever in leaves(point.setting.retrieve):
            if all(one.runs_here for one in retriever.encoders()):
                continue
            for config, texts in RETRIEVERS.make(retriever).to_embed(point.chunking.passages, queries):
                encoder = context.encoder(config)
                if isinstance(encoder, ServedEncoder):
                    items = wanted.setdefault(encoder.fingerprint, (encoder, {}))[1]
                    items.update((digest(text), text) for text in texts)
    return tuple(_missing("vectors", encoder, items, context) for encoder, items in wanted.values())


def _missing(name: str, model: ServedEncoder, items: dict[bytes, str], context: Context) -> NotAsked:
    known = kept(name, items, model, context)
    return not_asked([text for key, text in items.items() if key not in known], len(known), model)


def pairs_to_buy(
    points: Sequence[Point], depths: Sequence[Sequence[int]], queries: Sequence[Query], context: Context
) -> tuple[NotAsked, ...]:
    """About the pairs that endpoints would be asked to score, by model; at most, as settings share pairs.

    ``depths`` are, for each point and each of its rerankers, the chunks that it scores for a query.
    """
    found: dict[str, NotAsked] = {}
    for point, own in zip(points, depths, strict=True):
        config = point.setting.rerank
        if not any(isinstance(one, EndpointRerankerConfig) for one in config):
            continue
        if is_searched(point.setting, point.chunking, queries, context):
            continue
        for reranker, depth in zip(config, own, strict=True):
            if isinstance(reranker, EndpointRerankerConfig):
                new = _about(reranker, point, depth, queries)
                before = found.get(new.key)
                found[new.key] = new if before is None else _together(before, new, reranker)
    return tuple(found.values())


def _about(reranker: EndpointRerankerConfig, point: Point, depth: int, queries: Sequence[Query]) -> NotAsked:
    e = reranker.endpoint
    texts = point.chunking.passages.texts
    chunk = sum(map(estimate_tokens, texts)) / max(1, len(texts))
    tokens = round(sum(depth * (chunk + estimate_tokens(query.text)) for query in queries))
    calls = len(queries) * math.ceil(depth / e.documents_per_request)
    estimate = ServedEstimate(
        depth * len(queries), 0, calls, tokens, e.cost(tokens, calls), "pairs", about=True
    )
    return NotAsked(e.model, ServedScorer(reranker).fingerprint, estimate, e.problem(), "endpoint")


def _together(one: NotAsked, other: NotAsked, reranker: EndpointRerankerConfig) -> NotAsked:
    a, b = one.estimate, other.estimate
    if not isinstance(a, ServedEstimate) or not isinstance(b, ServedEstimate):
        raise TypeError("two estimates of different kinds")
    tokens, calls = a.tokens + b.tokens, a.calls + b.calls
    price = reranker.endpoint.cost(tokens, calls)
    estimate = ServedEstimate(a.items + b.items, 0, calls, tokens, price, a.noun, about=True)
    return NotAsked(one.name, one.key, estimate, one.problem, one.purpose)


@dataclass(frozen=True, slots=True)
class Bought:
    """What vectors and scores of endpoints cost: for the index, and for the queries; None: no price."""

    index: float | None
    queries: float | None

    @property
    def whole(self) -> float | None:
        """Both."""
        return add(self.index, self.queries)


def endpoint_costs(
    searched: Sequence[Searched], queries: Sequence[Query], context: Context
) -> dict[tuple[str, str], Bought]:
    """What the vectors and scores of endpoints cost each setting alone, up to each of its steps and routes.

    From what is kept, so that a run that buys nothing tells the same. Settings that ask no endpoint are left
    out.
    """
    found: dict[tuple[str, str], Bought] = {}
    for one in searched:
        if not asks_endpoints(one.setting):
            continue
        by_chunks, name = one.over_chunks or one, one.setting.name
        asked = RunTools(context).rewritten(one.setting.rewrite, queries)
        for step, cost in _retrieving(
            RETRIEVE, one.setting.retrieve, by_chunks.chunking.passages, asked, context
        ):
            found[name, step] = cost
        total = found[name, RETRIEVE]
        for place, step in enumerate(reranker_names(one.setting)):
            reranker = one.setting.rerank[place]
            if isinstance(reranker, EndpointRerankerConfig):
                pairs = [digest(*pair) for pair in rerank_pairs(by_chunks, place, queries)]
                scored = shares("pairs", pairs, ServedScorer(reranker).served, context)
                total = Bought(total.index, add(total.queries, reranker.endpoint.cost(*scored)))
            found[name, step] = total
    return found


def asks_endpoints(setting: Setting) -> bool:
    """Whether a setting has vectors or scores of an endpoint."""
    encoders = setting.retrieve.encoders()
    return not all(one.runs_here for one in encoders) or any(
        isinstance(one, EndpointRerankerConfig) for one in setting.rerank
    )


def _retrieving(
    name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query], context: Context
) -> Iterator[tuple[str, Bought]]:
    """What a retriever and its routes cost, each alone, by their names."""
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
    yield name, Bought(_cost(index, context), _cost(of_queries, context))
    asked = tools.rewritten(retriever.rewrite, queries)
    for route, part in zip(route_names(retriever.parts), retriever.parts, strict=True):
        yield from _retrieving(f"{name}.{route}", part, passages, asked, context)


def _cost(keys: Mapping[str, tuple[ServedEncoder, set[bytes]]], context: Context) -> float | None:
    cost: float | None = 0.0
    for encoder, own in keys.values():
        cost = add(cost, encoder.endpoint.cost(*shares("vectors", sorted(own), encoder, context)))
    return cost


def endpoint_facts(context: Context) -> dict[str, Any]:
    """For the run record: the requests to endpoints, by model."""
    return {name: _facts(spent) for name, spent in context.served.items()}


def _facts(spent: Spending) -> dict[str, Any]:
    return {
        "requests": spent.calls,
        "kept_from_before": spent.from_ledger,
        "tokens": spent.prompt_tokens,
        "cost": spent.cost,
        "maybe_billed": {"requests": spent.unseen_calls, "at_most": spent.unseen_cost},
        "faults": dict(spent.faults),
        "served_models": sorted(spent.served_models),
    }


def problems(missing: Iterable[NotAsked]) -> list[str]:
    """What keeps endpoints from being asked, each once; those that have nothing to do have no problem."""
    return list(dict.fromkeys(one.problem for one in missing if one.problem))


@dataclass(frozen=True, slots=True)
class QueryCost:
    """``rewriting``: what language models were paid for all queries; ``per_1000``: what a thousand cost.

    Whoever paid, in this run or before. None where a price is unknown, as that of a service of one's own is,
    and for ``per_1000`` where a language model filters, whose calls are not separated by setting.
    ``endpoints`` is what vectors and scores of endpoints cost for chunks and queries; None without one too.
    """

    rewriting: float | None
    per_1000: float | None
    endpoints: float | None


def query_costs(
    searched: Sequence[Searched], queries: Sequence[Query], context: Context
) -> dict[tuple[str, str], QueryCost]:
    """What all queries cost, by setting and by stage: up to and with it."""
    bought = endpoint_costs(searched, queries, context)
    found: dict[tuple[str, str], QueryCost] = {}
    for one in searched:
        name = one.setting.name
        rewriting = rewriting_costs(one.setting, queries, context)
        known = not asks_endpoints(one.setting)
        unknown = bool(services_of(one.setting)) or _asks_to_filter(one.setting.finder)
        for stage in one.rankings:
            # what comes after retrieval rests on all that was asked for it
            rewritten = rewriting[stage if stage in rewriting else RETRIEVE]
            own = bought.get((name, stage))
            other = 0.0 if known else own.queries if own is not None else None
            total = None if unknown or rewritten is None or other is None else rewritten + other
            per_1000 = None if total is None or not queries else 1000 * total / len(queries)
            found[name, stage] = QueryCost(rewritten, per_1000, None if own is None else own.whole)
    return found


def _asks_to_filter(retriever: RetrieverConfig) -> bool:
    """Whether a language model reads queries for a filter of the retriever or of its routes."""
    return isinstance(retriever.filter, ModelConfig) or any(map(_asks_to_filter, retriever.parts))


@dataclass(frozen=True, slots=True)
class Unasked:
    """A service that would be asked, by so many ``settings``; ``problem`` is what keeps it from that."""

    url: str
    settings: int
    problem: str


def services_of(setting: Setting) -> list[ServiceConfig]:
    """The services that a setting asks, each once."""
    steps = [setting.rewrite, *setting.rerank, *_steps_below(setting.retrieve)]
    found = {step.model_dump_json(): step for step in steps if isinstance(step, ServiceConfig)}
    return list(found.values())


def _steps_below(retriever: RetrieverConfig) -> Iterator[object]:
    yield from (retriever, retriever.rewrite)
    for part in retriever.parts:
        yield from _steps_below(part)


def warn_of_services(settings: Sequence[Setting], reporter: Reporter) -> None:
    """Tell, before anything takes time, what will keep a service from being asked."""
    problems = [service.problem() for setting in settings for service in services_of(setting)]
    for problem in dict.fromkeys(filter(None, problems)):
        reporter.warn(problem)


def unasked(points: Sequence[Point], queries: Sequence[Query], context: Context) -> tuple[Unasked, ...]:
    """The services that searching would ask, because not all of their answers are kept; asks nothing."""
    found: dict[str, Unasked] = {}
    for point in points:
        services = services_of(point.setting)
        if not services or is_searched(point.setting, point.chunking, queries, context):
            continue
        for service in services:
            before = found.get(service.url, Unasked(service.url, 0, service.problem()))
            found[service.url] = Unasked(service.url, before.settings + 1, before.problem)
    return tuple(found.values())
