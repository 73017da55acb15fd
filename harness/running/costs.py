"""The cost of a setting: text to read and to index, calls of models and services, the bill of the judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from harness import models
from harness.measures import Depth, RankedTokens, less_is_better, offsets_of, reading_depth, tokens_to
from harness.models import EncoderConfig, Spending, add
from harness.report import CostRow, LatencyRow, PriceRow, SummaryRow, is_route
from harness.running.compute import ServedPass
from harness.running.corpus import Corpus
from harness.running.evaluate.warnings import text_ranked
from harness.running.meeting import Bought
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE, asks_to_filter, encoders_of, reranker_at
from harness.running.search import Searched
from harness.values import Ranking


def _bought(result: Searched) -> dict[str, tuple[float | None, float | None]]:
    """The cost of endpoints and of models that steps ask, for a setting alone, up to each step and route.

    That of the index, and that of the queries; None: no price. A run that buys nothing gives the same; empty
    if no endpoint is asked.
    """
    if not (result.bought or result.paid):
        return {}
    amounts: dict[str, tuple[float | None, float | None]] = {}
    for name in result.rankings:
        if name not in result.steps or name == RETRIEVE:
            index, of_queries = _within(name, result.bought)
            paid = models.sum_of(
                cost for stage, cost in result.paid.items() if f"{stage}.".startswith(f"{name}.")
            )
            amounts[name] = _cost(index), add(_cost(of_queries), paid)
    index_cost, total = amounts[RETRIEVE]
    for step in result.steps[1:]:
        total = add(total, result.paid.get(step, 0.0))
        total = add(total, _cost(_within(step, result.bought)[1]))
        amounts[step] = index_cost, total
    return amounts


_Keys = dict[ServedPass, set[bytes]]


def _within(name: str, bought: Mapping[str, Bought]) -> tuple[_Keys, _Keys]:
    """The texts that endpoints embed for passages by a step and its routes, and all others for queries."""
    index: _Keys = {}
    whole: _Keys = {}
    for stage, by_model in bought.items():
        if f"{stage}.".startswith(f"{name}."):
            for model, (passages, queries, _) in by_model.items():
                index.setdefault(model, set()).update(passages)
                whole.setdefault(model, set()).update(passages, queries)
    return index, {model: keys - index[model] for model, keys in whole.items()}


def _checked(result: Searched, stage: str) -> float | None:
    """What the samples cost by which the vectors of existing collections behind a stage are checked."""
    around = f"{_searched_at(stage)}."
    return models.sum_of(
        model.cost(sorted(sample))
        for name, by_model in result.bought.items()
        if f"{name}.".startswith(around)
        for model, (*_, sample) in by_model.items()
    )


def _cost(keys: _Keys) -> float | None:
    return models.sum_of(model.cost(sorted(key)) for model, key in keys.items())


def spending_facts(notes: RunNotes) -> dict[str, Any]:
    """For the run record: the calls of language models before retrieval, and the requests to endpoints.

    By prompt and model, or by model; without what was not asked for.
    """
    bills = notes.bills
    rewriting = {
        name: {
            "purpose": bills.purposes.get(name, "rewriting"),
            "calls": spent.calls,
            "from_ledger": spent.from_ledger,
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            **_spent(spent, "calls"),
        }
        for name, spent in bills.spent.items()
    }
    endpoints = {
        name: {
            "requests": spent.calls,
            "kept_from_before": spent.from_ledger,
            "tokens": spent.prompt_tokens,
            **_spent(spent, "requests"),
        }
        for name, spent in bills.served.items()
    }
    return {name: facts for name, facts in (("rewriting", rewriting), ("endpoints", endpoints)) if facts}


def _spent(spent: Spending, noun: str) -> dict[str, Any]:
    return {
        "cost": spent.cost,
        "maybe_billed": {noun: spent.unseen_calls, "at_most": spent.unseen_cost},
        "faults": dict(spent.faults),
        "served_models": sorted(spent.served_models),
    }


def price_rows(
    searched: Sequence[Searched],
    summary: Sequence[SummaryRow],
    costs: Sequence[CostRow],
    corpus: Corpus,
    measures: Sequence[str],
    latencies: Iterable[LatencyRow],
) -> list[PriceRow]:
    """The cost of every setting and stage, beside each measure's mean, as deep as the measure reads.

    What queries cost counts whoever paid, in this run or before. It is None if a price is unknown, as that of
    a service of one's own is; what a thousand cost also where a language model filters, whose calls are not
    separated by setting. What endpoints cost for chunks and queries is None without one too.
    """
    depths = {name: depth for name in measures if not less_is_better(name) and (depth := reading_depth(name))}
    means = {(r.setting, r.stage, r.measure): r.mean for r in summary if r.split == "all"}
    judge = {row.setting: row.cost_alone for row in costs}
    times = {(row.setting, row.stage): _times(row) for row in latencies}
    queries = corpus.queries.queries
    rows = []
    for result in searched:
        over_chunks = result.over_chunks or result
        bought = _bought(result)
        unknown = bool(result.setting.services) or asks_to_filter(result.setting)
        for stage, rankings in result.rankings.items():
            read = _read(result, rankings, set(depths.values()))
            characters = float(text_ranked(result, "characters", stage).mean())
            pairs, pair_tokens = _reranked(over_chunks, stage)
            # later steps depend on all calls made for retrieval
            rewritten = result.rewriting_costs.get(stage, result.rewriting_costs.get(RETRIEVE, 0.0))
            index, query_cost = bought.get(stage, (None, None)) if bought else (None, 0.0)
            build_seconds, index_bytes = _index_price(over_chunks, stage)
            total = None if unknown else add(rewritten, query_cost)
            rows += [
                PriceRow(
                    setting=result.setting.name,
                    stage=stage,
                    measure=measure,
                    mean=(mean := means[result.setting.name, stage, measure]),
                    depth=str(depth),
                    characters_ranked=characters,
                    tokens_read=(tokens := read[depth] / len(queries)),
                    tokens_per_point=tokens / (100 * mean) if mean else None,
                    index_tokens=over_chunks.chunking.index_tokens,
                    rerank_pairs=pairs,
                    rerank_tokens=pair_tokens,
                    judge_cost=judge.get(result.setting.name),
                    rewrite_cost=rewritten,
                    context_cost=over_chunks.chunking.context_cost,
                    read_cost=0.0 if (reading := over_chunks.chunking.reading) is None else reading.cost,
                    cost_per_1000=None if total is None else 1000 * total / len(queries),
                    endpoint_cost=add(add(index, query_cost), _checked(result, stage)),
                    index_cost=index,
                    exact_share=over_chunks.exact_shares.get(_searched_at(stage)),
                    filter_share=_filter_share(over_chunks, stage),
                    rows_share=_rows_share(over_chunks),
                    build_seconds=build_seconds,
                    index_bytes=index_bytes,
                    **times.get((result.setting.name, stage), {}),
                )
                for measure, depth in depths.items()
            ]
    return rows


def _times(row: LatencyRow) -> dict[str, float | None]:
    """The times of a query as columns of its price."""
    return {f"latency_{each}": getattr(row, f"total_{each}") for each in ("p50", "p95", "p99", "in_batch")}


def _read(searched: Searched, rankings: Sequence[Ranking], depths: set[Depth]) -> dict[Depth, float]:
    """The tokens read of all rankings down to each of the ``depths``."""
    chunks = searched.chunking.chunks
    row = {chunk.chunk_id: i for i, chunk in enumerate(chunks)}
    ranked = np.array([row[i] for ranking in rankings for i in ranking.chunk_ids], dtype=np.int64)
    offsets = offsets_of(np.array([len(ranking.chunk_ids) for ranking in rankings], dtype=np.int64))
    tokens = RankedTokens(searched.chunking.tokens_read(False).astype(np.int64)[ranked], offsets)
    characters = np.array([len(chunk.text) for chunk in chunks], dtype=np.int64)[ranked]
    return {depth: float(tokens_to(tokens, characters, depth).sum()) for depth in depths}


def _reranked(searched: Searched, stage: str) -> tuple[int, int]:
    """The chunks that the reranker of a stage reads, over all queries, and their tokens; 0 without one."""
    reranker = reranker_at(searched.setting, stage)
    if reranker is None:
        return 0, 0
    tokens = searched.chunking.tokens_read(reranker.reads_context).tolist()
    lengths = dict(zip((chunk.chunk_id for chunk in searched.chunking.chunks), tokens, strict=True))
    before = searched.rankings[searched.steps[searched.steps.index(stage) - 1]]
    read = [lengths[chunk_id] for ranking in before for chunk_id in ranking.chunk_ids[: reranker.top_n]]
    return len(read), sum(read)


def _searched_at(stage: str) -> str:
    """The retriever or route behind a stage: itself, or that of all later steps."""
    return stage if is_route(stage) else RETRIEVE


def _index_price(searched: Searched, stage: str) -> tuple[float | None, int | None]:
    """The seconds that the indexes behind a stage took to build, and their bytes; None where not known.

    Of an existing collection only the bytes, where its store tells them.
    """
    indexes = searched.indexes.get(_searched_at(stage), ())
    if not indexes:
        return None, searched.chunking.health.get("stored_bytes")
    seconds, sizes = [index.seconds for index in indexes], [index.bytes for index in indexes]
    return (
        None if None in seconds else math.fsum(value for value in seconds if value is not None),
        None if None in sizes else sum(size for size in sizes if size is not None),
    )


def _filter_share(searched: Searched, stage: str) -> float | None:
    """The mean share of all chunks that filters leave a query at a stage; None where there is none.

    A route is searched within the documents that the filters of the fusions around it leave.
    """
    names, around = [], _searched_at(stage)
    while around:
        names.append(around)
        around = around.rpartition(".")[0]
    filters = [searched.filtered[name] for name in names if name in searched.filtered]
    if not filters:
        return None
    chunks = Counter(searched.chunking.passages.documents)
    total = sum(chunks.values())
    kept: dict[str, Set[str]] = {}
    for result in chain(*filters):
        left = kept.get(result.query_id, chunks.keys())
        kept[result.query_id] = left if result.documents is None else left & result.documents
    shares = [sum(chunks[document] for document in documents) / total for documents in kept.values()]
    return math.fsum(shares) / len(shares)


def _rows_share(searched: Searched) -> float | None:
    """The share of the rows of an existing collection that its own filter leaves; None without one."""
    health = searched.chunking.health
    return health["stored_passing"] / health["stored_rows"] if "stored_passing" in health else None


def embedding_facts(
    searched: Searched, speed_of: Callable[[EncoderConfig], float | None]
) -> dict[str, float]:
    """For the run record: the seconds that the vectors of all passages take at the speed of the models here.

    ``speed_of`` gives the characters a second of an encoder here. 0 where nothing is embedded; nothing where
    an endpoint embeds, or the speed is not known.
    """
    if not searched.chunking.quality:
        # hits of another pipeline, which has indexed
        return {}
    seconds = []
    characters = sum(map(len, searched.chunking.passages.texts))
    for encoder in encoders_of(searched.setting):
        speed = speed_of(encoder) if encoder.runs_here else None
        if speed is None:
            return {}
        seconds.append(characters / speed)
    return {"embed_seconds": round(math.fsum(seconds), 3)}
