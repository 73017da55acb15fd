"""What the quality of a setting costs: text to read, index and rerank, seconds, the judge's bill."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from harness.config import BenchConfig, Setting
from harness.measures import rank_cutoff
from harness.pipeline.budget import text_ranked
from harness.pipeline.context import Context
from harness.pipeline.search import RERANK, RETRIEVE, Searched, scored_depth
from harness.pipeline.verdict import run_headline
from harness.report import CostRow, PriceRow, SummaryRow
from harness.types import Query, Ranking


@dataclass(slots=True)
class Meter:
    """What a setting took: wall seconds and new vectors and pairs, in all and for the reranker."""

    seconds: float = 0.0
    rerank_seconds: float = 0.0
    vectors_computed: int = 0
    pairs: int = 0
    pairs_computed: int = 0


@contextmanager
def metered(context: Context) -> Iterator[Meter]:
    """Read the clock and the counters of a run before and after the with block."""
    meter, begun, before, timed = Meter(), time.perf_counter(), dict(context.counts), dict(context.timings)
    yield meter
    meter.seconds = time.perf_counter() - begun
    meter.rerank_seconds = context.timings.get(RERANK, 0.0) - timed.get(RERANK, 0.0)

    def added(name: str) -> int:
        return context.counts.get(name, 0) - before.get(name, 0)

    meter.vectors_computed = added("vectors_computed")
    meter.pairs_computed = added("pairs_computed")
    meter.pairs = meter.pairs_computed + added("pairs_reused")


def note_effort(searched: Searched, meter: Meter, queries: Sequence[Query]) -> None:
    """Write into the notes of a setting, by stage, its seconds and the share of its values that was computed.

    The reranker's stage includes all before it. Where a setting shares chunks with an earlier one of the same
    run, it has them from the cache.
    """
    vectors = len({chunk.text for chunk in searched.chunking.chunks}) + len({q.text for q in queries})
    searched.notes["seconds"] = {RETRIEVE: meter.seconds - meter.rerank_seconds}
    searched.notes["computed_share"] = {RETRIEVE: _share(meter.vectors_computed, vectors)}
    if RERANK in searched.rankings:
        computed = meter.vectors_computed + meter.pairs_computed
        searched.notes["seconds"][RERANK] = meter.seconds
        searched.notes["computed_share"][RERANK] = _share(computed, vectors + meter.pairs)


def price_rows(
    searched: Sequence[Searched],
    summary: Sequence[SummaryRow],
    costs: Sequence[CostRow],
    queries: Sequence[Query],
    config: BenchConfig,
) -> list[PriceRow]:
    """What every setting and stage costs beside its mean of the headline measure."""
    first = run_headline(config)
    k = reading_depth(config.measures)
    means = {(r.setting, r.stage): r.mean for r in summary if r.split == "all" and r.measure == first}
    judge = {row.setting: row.cost_alone for row in costs}
    rows = []
    for one in searched:
        lengths, characters = _lengths(one), text_ranked(one, "characters")
        for stage, rankings in one.rankings.items():
            mean = means[one.setting.name, stage]
            tokens = _read(rankings, lengths, k) / len(queries)
            pairs = _reranked(one.setting, one.rankings[RETRIEVE]) if stage == RERANK else []
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
                    index_tokens=one.chunking.quality.get("index_tokens", 0),
                    rerank_pairs=len(pairs),
                    rerank_tokens=sum(lengths[chunk_id] for chunk_id in pairs),
                    judge_cost=judge.get(one.setting.name),
                )
            )
    return rows


def reading_depth(measures: Sequence[str]) -> int | None:
    """The k of ``tokens@k``: the first cutoff in ranks that a measure has; None: the whole ranking."""
    return next((depth for depth in map(rank_cutoff, measures) if depth), None)


def _lengths(searched: Searched) -> dict[str, int]:
    chunks, tokens = searched.chunking.chunks, searched.chunking.tokens.tolist()
    return {chunk.chunk_id: length for chunk, length in zip(chunks, tokens, strict=True)}


def _read(rankings: Sequence[Ranking], lengths: dict[str, int], k: int | None) -> int:
    return sum(lengths[chunk_id] for ranking in rankings for chunk_id in ranking.chunk_ids[:k])


def _reranked(setting: Setting, retrieved: Sequence[Ranking]) -> list[str]:
    """The chunks that the reranker reads, over all queries."""
    top_n = None if setting.rerank is None else scored_depth(setting.rerank)
    return [chunk_id for ranking in retrieved for chunk_id in ranking.chunk_ids[:top_n]]


def _share(computed: int, total: int) -> float:
    return computed / total if total else 0.0
