"""The cost of a setting: text to read, index and rerank, seconds, the judge's bill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.measures import Depth, RankedTokens, less_is_better, offsets_of, reading_depth, tokens_to
from harness.report import CostRow, PriceRow, SummaryRow
from harness.running.costs import QueryCost
from harness.running.evaluate.warnings import text_ranked
from harness.running.search import Searched, reranker_names
from harness.values import Ranking


def price_rows(
    searched: Sequence[Searched],
    summary: Sequence[SummaryRow],
    costs: Sequence[CostRow],
    queries: int,
    paid: Mapping[tuple[str, str], QueryCost],
    measures: Sequence[str],
) -> list[PriceRow]:
    """The cost of every setting and stage, beside each measure's mean, as deep as the measure reads.

    ``queries`` is their number, ``paid`` what they cost at endpoints by setting and stage.
    """
    depths = {name: reading_depth(name) for name in measures if not less_is_better(name)}
    means = {(r.setting, r.stage, r.measure): r.mean for r in summary if r.split == "all"}
    judge = {row.setting: row.cost_alone for row in costs}
    rows = []
    for one in searched:
        over_chunks = one.over_chunks or one
        characters = float(text_ranked(one, "characters").mean())
        for stage, rankings in one.rankings.items():
            read = _read(one, rankings, {depth for depth in depths.values() if depth})
            pairs, pair_tokens = _reranked(over_chunks, stage)
            cost = paid[one.setting.name, stage]
            rows += [
                PriceRow(
                    setting=one.setting.name,
                    stage=stage,
                    measure=measure,
                    mean=(mean := means[one.setting.name, stage, measure]),
                    depth=str(depth),
                    characters_ranked=characters,
                    tokens_read=(tokens := read[depth] / queries),
                    tokens_per_point=tokens / (100 * mean) if mean else None,
                    index_tokens=over_chunks.chunking.index_tokens,
                    rerank_pairs=pairs,
                    rerank_tokens=pair_tokens,
                    judge_cost=judge.get(one.setting.name),
                    rewrite_cost=cost.rewriting,
                    cost_per_1000=cost.per_1000,
                    endpoint_cost=cost.endpoints,
                )
                for measure, depth in depths.items()
                if depth
            ]
    return rows


def _lengths(searched: Searched, with_context: bool) -> dict[str, int]:
    tokens = searched.chunking.tokens_read(with_context).tolist()
    return {chunk.chunk_id: length for chunk, length in zip(searched.chunking.chunks, tokens, strict=True)}


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
    lengths = _lengths(searched, reranker.reads_context)
    before = searched.rankings[searched.steps[place]]
    read = [lengths[chunk_id] for ranking in before for chunk_id in ranking.chunk_ids[: reranker.top_n]]
    return len(read), sum(read)
