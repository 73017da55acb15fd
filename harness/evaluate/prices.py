"""The cost of a setting: text to read, index and rerank, seconds, the judge's bill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.config import BenchConfig
from harness.evaluate.verdict import run_headline
from harness.evaluate.warnings import text_ranked
from harness.measures import rank_cutoff
from harness.report import CostRow, PriceRow, SummaryRow
from harness.running.costs import QueryCost
from harness.running.search import Searched, reranker_names
from harness.types import Ranking


def price_rows(
    searched: Sequence[Searched],
    summary: Sequence[SummaryRow],
    costs: Sequence[CostRow],
    queries: int,
    paid: Mapping[tuple[str, str], QueryCost],
    config: BenchConfig,
) -> list[PriceRow]:
    """What every setting and stage costs, next to its mean of the headline measure.

    ``queries`` is their number, ``paid`` what they cost at endpoints by setting and stage.
    """
    first = run_headline(config)
    k = reading_depth(config.measures)
    means = {(r.setting, r.stage): r.mean for r in summary if r.split == "all" and r.measure == first}
    judge = {row.setting: row.cost_alone for row in costs}
    rows = []
    for one in searched:
        over_chunks = one.over_chunks or one
        lengths, characters = _lengths(one), text_ranked(one, "characters")
        for stage, rankings in one.rankings.items():
            mean = means[one.setting.name, stage]
            tokens = _read(rankings, lengths, k) / queries
            pairs, pair_tokens = _reranked(over_chunks, stage)
            cost = paid[one.setting.name, stage]
            rows.append(
                PriceRow(
                    setting=one.setting.name,
                    stage=stage,
                    k=k,
                    measure=first,
                    mean=mean,
                    characters_ranked=float(characters.mean()),
                    tokens_at_k=tokens,
                    tokens_per_point=tokens / (100 * mean) if mean else None,
                    index_tokens=over_chunks.chunking.index_tokens,
                    rerank_pairs=pairs,
                    rerank_tokens=pair_tokens,
                    judge_cost=judge.get(one.setting.name),
                    rewrite_cost=cost.rewriting,
                    cost_per_1000=cost.per_1000,
                    endpoint_cost=cost.endpoints,
                )
            )
    return rows


def reading_depth(measures: Sequence[str]) -> int | None:
    """The k of ``tokens@k``: the first cutoff in ranks that a measure has; None: the whole ranking."""
    return next((depth for depth in map(rank_cutoff, measures) if depth), None)


def _lengths(searched: Searched, with_context: bool = False) -> dict[str, int]:
    tokens = searched.chunking.tokens_read(with_context).tolist()
    return {chunk.chunk_id: length for chunk, length in zip(searched.chunking.chunks, tokens, strict=True)}


def _read(rankings: Sequence[Ranking], lengths: dict[str, int], k: int | None) -> int:
    return sum(lengths[chunk_id] for ranking in rankings for chunk_id in ranking.chunk_ids[:k])


def _reranked(searched: Searched, stage: str) -> tuple[int, int]:
    """The chunks that the reranker of a stage reads, over all queries, and their tokens; 0 without one."""
    names = reranker_names(searched.setting)
    if stage not in names:
        return 0, 0
    place = names.index(stage)
    reranker = searched.setting.rerank[place]
    lengths = _lengths(searched, reranker.reads_context)
    before = searched.rankings[searched.steps[place]]
    read = [lengths[chunk_id] for ranking in before for chunk_id in ranking.chunk_ids[: reranker.top_n]]
    return len(read), sum(read)
