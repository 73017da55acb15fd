"""The cost of a setting: text to read and to index, calls of models and services, the bill of the judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness import models
from harness.measures import Depth, RankedTokens, less_is_better, offsets_of, reading_depth, tokens_to
from harness.models import ModelConfig, Spending, add
from harness.report import CostRow, PriceRow, SummaryRow
from harness.running.compute import LocalPass, ServedPass, digest
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.warnings import text_ranked
from harness.running.passes import AskedPass, encoding, scoring
from harness.running.search import Searched, rerank_lists, reranker_names
from harness.running.tools import RETRIEVE, RunTools
from harness.steps import RETRIEVERS, Passages, RetrieverConfig, pairs_of
from harness.values import Query, Ranking


def _bought(
    one: Searched, queries: Sequence[Query], context: Context
) -> dict[str, tuple[float | None, float | None]]:
    """The cost of vectors and scores of endpoints for a setting alone, up to each of its steps and routes.

    That of the index, and that of the queries; None: no price. Computed from stored values, so that a run
    that buys nothing gives the same; empty if no endpoint is asked.
    """
    setting, by_chunks = one.setting, one.over_chunks or one
    rerankers = [scoring(reranker, context) for reranker in setting.rerank]
    free = all(isinstance(model, LocalPass) for model in rerankers)
    if free and all(encoder.runs_here for encoder in setting.retrieve.encoders()):
        return {}
    tools, passages = RunTools(context), by_chunks.chunking.passages
    visits = list(tools.visits(RETRIEVE, setting.retrieve, tools.rewritten(setting.rewrite, queries)))
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, _, _ in visits:
        within = [(retriever, asked) for its, retriever, asked in visits if f"{its}.".startswith(f"{name}.")]
        index = _keys(((retriever, ()) for retriever, _ in within), passages, context)
        whole = _keys(within, passages, context)
        of_queries = {encoder: keys - index.get(encoder, set()) for encoder, keys in whole.items()}
        found[name] = _cost(index), _cost(of_queries)
    index_cost, total = found[RETRIEVE]
    for place, (step, model) in enumerate(zip(reranker_names(setting), rerankers, strict=True)):
        lists = list(dict.fromkeys(rerank_lists(by_chunks, place, queries)))
        if isinstance(model, AskedPass):
            asked = model.scorer.ordered(lists, RunTools(context.again()))
            total = add(total, models.sum_of(cost for _, cost in asked))
        elif isinstance(model, ServedPass):
            total = add(total, model.cost([digest(*pair) for pair in pairs_of(lists)]))
        found[step] = index_cost, total
    return found


_Keys = dict[ServedPass, set[bytes]]


def _keys(
    searches: Iterable[tuple[RetrieverConfig, Sequence[Query]]], passages: Passages, context: Context
) -> _Keys:
    """The texts that endpoints embed for some retrievers and the queries of each."""
    keys: _Keys = {}
    for retriever, asked in searches:
        for config, texts in RETRIEVERS.make(retriever).wants(passages, asked):
            if isinstance(model := encoding(config, context), ServedPass):
                keys.setdefault(model, set()).update(map(digest, texts))
    return keys


def _cost(keys: _Keys) -> float | None:
    return models.sum_of(model.cost(sorted(own)) for model, own in keys.items())


def spending_facts(context: Context) -> dict[str, Any]:
    """For the run record: the calls of language models before retrieval, and the requests to endpoints.

    By prompt and model, or by model; without what was not asked for.
    """
    bills = context.bills
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
    context: Context,
) -> list[PriceRow]:
    """The cost of every setting and stage, beside each measure's mean, as deep as the measure reads.

    What queries cost counts whoever paid, in this run or before. It is None if a price is unknown, as that of
    a service of one's own is; what a thousand cost also where a language model filters, whose calls are not
    separated by setting. What endpoints cost for chunks and queries is None without one too.
    """
    depths = {name: depth for name in measures if not less_is_better(name) and (depth := reading_depth(name))}
    means = {(r.setting, r.stage, r.measure): r.mean for r in summary if r.split == "all"}
    judge = {row.setting: row.cost_alone for row in costs}
    queries = corpus.queries.queries
    rows = []
    for one in searched:
        over_chunks = one.over_chunks or one
        bought = _bought(one, queries, context)
        unknown = bool(one.setting.services) or any(
            isinstance(r.filter, ModelConfig) for r in one.setting.finder.every()
        )
        for stage, rankings in one.rankings.items():
            read = _read(one, rankings, set(depths.values()))
            characters = float(text_ranked(one, "characters", stage).mean())
            pairs, pair_tokens = _reranked(over_chunks, stage)
            # later steps depend on all calls made for retrieval
            rewritten = one.rewriting_costs.get(stage, one.rewriting_costs.get(RETRIEVE, 0.0))
            index, asked = bought.get(stage, (None, None)) if bought else (None, 0.0)
            total = None if unknown else add(rewritten, asked)
            rows += [
                PriceRow(
                    setting=one.setting.name,
                    stage=stage,
                    measure=measure,
                    mean=(mean := means[one.setting.name, stage, measure]),
                    depth=str(depth),
                    characters_ranked=characters,
                    tokens_read=(tokens := read[depth] / len(queries)),
                    tokens_per_point=tokens / (100 * mean) if mean else None,
                    index_tokens=over_chunks.chunking.index_tokens,
                    rerank_pairs=pairs,
                    rerank_tokens=pair_tokens,
                    judge_cost=judge.get(one.setting.name),
                    rewrite_cost=rewritten,
                    cost_per_1000=None if total is None else 1000 * total / len(queries),
                    endpoint_cost=add(index, asked),
                )
                for measure, depth in depths.items()
            ]
    return rows


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
    names = reranker_names(searched.setting)
    if stage not in names:
        return 0, 0
    place = names.index(stage)
    reranker = searched.setting.rerank[place]
    tokens = searched.chunking.tokens_read(reranker.reads_context).tolist()
    lengths = dict(zip((chunk.chunk_id for chunk in searched.chunking.chunks), tokens, strict=True))
    before = searched.rankings[searched.steps[place]]
    read = [lengths[chunk_id] for ranking in before for chunk_id in ranking.chunk_ids[: reranker.top_n]]
    return len(read), sum(read)
