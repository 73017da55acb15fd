"""Warnings before anything is scored: labels that are doubtful, text that rankings or the pool lack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from harness.comparison import ENOUGH_READ
from harness.data import AnchorConfig, Anchoring
from harness.measures import (
    FAMILIES,
    across_chunkings,
    across_parsers,
    arguments,
    parse_measure,
    rank_cutoff,
    reading_depth,
    trusted_for,
)
from harness.running.config.models import BenchConfig, parsers_of
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.judging.judged import pool_judge_config
from harness.running.search import Searched
from harness.running.tools import RETRIEVE
from harness.values import MAX_GRADE, counted

_SHOWN = 8


def warn_of_labels(corpus: Corpus, config: BenchConfig, context: Context) -> None:
    """Warn of doubtful quotes, answers to unanswerable queries, and answerable queries without a label.

    Says nothing if a judge grades: then its grades count.
    """
    if pool_judge_config(config) is not None:
        return
    queries, labels = corpus.queries.queries, corpus.labels
    found = [one for one in corpus.anchored.anchorings if one.accepted]
    unanswerable = {query.query_id for query in queries if not query.answerable}
    labelled = {row.query_id for row in labels}
    treated = "left out of" if config.relevance.unanswerable == "exclude" else "counted as 0 in"

    def doubt(which: Iterable[object], one: str, many: str, what: str, place: str = "") -> None:
        # a label may be found in several texts
        if names := list(dict.fromkeys(map(str, which))):
            where = f"{place}{'s' if len(names) > 1 else ''} " if place else ""
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            shown = f"{where}{', '.join(names[:_SHOWN])}{more}"
            context.warn("labels", f"{counted(len(names), one, many)} {what} ({shown})")

    doubt(
        (one.row.line for one in found if one.figures_differ),
        "label was",
        "labels were",
        "found by similarity, but figures in quote and text differ; compare them in the anchoring.csv of a "
        "run",
        "label file, line",
    )
    doubt(
        (one.row.line for one in found if one.place.copies > 1 and not _credited(one, config.anchor)),
        "quote was",
        "quotes were",
        "found more than once in the searched text, and the first place was used; quote more of the text, or "
        "label every copy with one evidence name",
        "label file, line",
    )
    doubt(
        sorted({row.query_id for row in labels if row.grade == MAX_GRADE} & unanswerable),
        "query is marked unanswerable, has a label of the highest grade, and is",
        "queries are marked unanswerable, have a label of the highest grade, and are",
        f"{treated} NDCG",
    )
    doubt(
        (one.query_id for one in queries if one.answerable and one.query_id not in labelled),
        "query has no label and is",
        "queries have no label and are",
        f"{treated} NDCG and recall; label the passages that answer, or mark answerable: no",
    )
    lengths = [row.end - row.start for row in labels if row.grade and row.answer is None]
    for measure in map(parse_measure, config.measures if lengths else ()):
        if measure.family != "ndcg_evidence":
            continue
        length, enough = median(lengths), arguments(measure, FAMILIES[measure.family])["enough"]
        if length > 2 * enough:
            # a small part of such a label counts as finding it
            context.warn(
                "labels",
                f"the median label has {length:,.0f} characters, and {measure.name} counts any {enough} of "
                "them as found evidence, whether they contain the answer or not. Shorten the labels, or name "
                "the words that answer in their column answer.",
                measures=[measure.name],
            )


def _credited(row: Anchoring, config: AnchorConfig) -> bool:
    """Whether the other places that hold the quote count as well."""
    return config.duplicates and sum(map(len, row.found.split())) >= config.duplicate_length


def warn_of_measures(config: BenchConfig, chunks: Mapping[str, int], context: Context) -> None:
    """Warn where parsers, rankings of the ``chunks`` that a setting has, or the pool limit the measures."""
    cutoffs = {name: rank_cutoff(name) or 0 for name in config.measures}
    _warn_of_parsers(config, context)
    _warn_of_shallow_rankings(config, cutoffs, chunks, context)
    _warn_of_pool(config, cutoffs, context)


def _deeper_than(rank: int, cutoffs: Mapping[str, int]) -> list[str]:
    """The measures that look below a rank."""
    return [name for name, cutoff in cutoffs.items() if cutoff > rank]


def _warn_of_shallow_rankings(
    config: BenchConfig, cutoffs: Mapping[str, int], chunks: Mapping[str, int], context: Context
) -> None:
    """Say where a measure looks deeper than rankings go, or no deeper than the reranker does."""
    deepest, settings = max(cutoffs.values()), config.settings
    depths = {one.name: one.retrieve.top_k for one in settings if one.retrieve.top_chars is None}
    shallow = {name: depth for name, depth in depths.items() if depth < min(deepest, chunks[name])}
    if shallow:
        context.warn(
            "depth",
            f"rankings end at rank {_span(shallow.values())} in {len(shallow)} of {len(settings)} settings; "
            f"a measure at cutoff {deepest} sees nothing below that. Raise retrieve.top_k.",
            _deeper_than(min(shallow.values()), cutoffs),
            shallow,
        )
    reranked = [(one.name, step.top_n) for one in settings for step in one.rerank]
    flat = [(name, n) for name, n in reranked if n is not None and n <= deepest and n < chunks[name]]
    if flat:
        first = [top_n for _, top_n in flat]
        scored = "chunk" if max(first) == 1 else f"{_span(first)} chunks"
        context.warn(
            "depth",
            f"the reranker scores the first {scored}, and a measure looks at {deepest}: chunks below "
            f"that cannot move up into it. Omit rerank.top_n, or set it above {deepest}.",
            _deeper_than(min(first) - 1, cutoffs),
            dict(flat),
        )


def _span(numbers: Collection[int]) -> str:
    """The least and the largest of some numbers, in words; once where they are equal."""
    return " to ".join(map(str, sorted({min(numbers), max(numbers)})))


def _warn_of_parsers(config: BenchConfig, context: Context) -> None:
    """Where parsers are compared, say which measures do not compare them."""
    parsers = parsers_of(config.settings)
    if len(parsers) < 2:
        return
    fit = [name for name in config.measures if across_parsers(name)]
    blind = [name for name in config.measures if trusted_for(name) and name not in fit]
    if not fit:
        context.warn(
            "parsers",
            f"no measure compares parsers ({', '.join(parsers)}). Add ndcg_evidence@5000 to measures.",
        )
    if blind:
        context.reporter.note(
            f"{', '.join(blind)}: use these only to compare settings of the same parser; they depend on the "
            "length of the extracted text, or on how it was cut."
        )


def _warn_of_pool(config: BenchConfig, cutoffs: Mapping[str, int], context: Context) -> None:
    """Say where the pool leaves text unjudged that is scored, or judges text that overlaps."""
    judge = pool_judge_config(config)
    if judge is None:
        return
    if deeper := _deeper_than(judge.pool.depth, cutoffs):
        context.warn(
            "judge",
            f"the judge sees the first {judge.pool.depth} chunks (relevance.pool.depth) and a measure looks "
            f"at {max(cutoffs.values())}; chunks in between may be unjudged and then gain nothing.",
            deeper,
        )
    if (
        judge.pool.unit == "chunk"
        and len({repr((setting.chunk, setting.read)) for setting in config.settings}) > 1
    ):
        context.warn(
            "judge",
            "several chunkings are judged chunk by chunk: their spans overlap, so a small chunk can earn the "
            "grade of a large one around it. To compare chunkings use relevance.pool: {unit: passage}.",
        )


def text_ranked(searched: Searched, unit: str, stage: str = RETRIEVE) -> NDArray[np.int64]:
    """Every whole ranking's ``ranks``, ``characters`` or ``tokens`` [Q]; what overlaps is read twice."""
    chunks, rankings = searched.chunking.chunks, searched.rankings[stage]
    if unit == "ranks":
        return np.array([len(ranking.chunk_ids) for ranking in rankings], dtype=np.int64)
    lengths = searched.chunking.tokens.tolist() if unit == "tokens" else [len(c.text) for c in chunks]
    length = {chunk.chunk_id: one for chunk, one in zip(chunks, lengths, strict=True)}
    return np.array([sum(length[i] for i in ranking.chunk_ids) for ranking in rankings], dtype=np.int64)


def warn_of_unfilled_budgets(
    searched: Sequence[Searched], config: BenchConfig, context: Context, remedy: str = ""
) -> None:
    """Warn of rankings that end before the budget of a measure: what would come next was not retrieved.

    ``remedy`` says what to do about it, by default in the configuration of a benchmark. Documents that hold
    less text than the budget cannot fill it, nor can a retriever that finds no more, such as BM25 where no
    word matches: they are not warned of.
    """
    depths = _depths(config.measures)
    for name in text_budgets(config.measures):
        budget, unit = depths[name]
        short: dict[str, str] = {}
        least = budget
        for one in searched:
            read = text_ranked(one, unit)
            ends = (read < budget) & _cut_by_depth(one)
            if ends.any():
                extent = f"{ends.sum()} of {len(read)} queries, median {np.median(read):,.0f}"
                short[one.setting.name] = f"{one.setting.name} ({extent})"
                least = min(least, int(read[ends].min()))
        if short:
            raised = f"Raise retrieve.top_k, or set retrieve.top_chars to {budget:,} or more instead."
            context.warn(
                "depth",
                f"rankings end before the {budget:,} {unit} that {name} reads: {'; '.join(short.values())}. "
                f"What would come next was not retrieved, and counts as lost. {remedy or raised}",
                [one for one, (amount, of) in depths.items() if of == unit and amount > least],
                short,
            )


def _depths(measures: Sequence[str]) -> dict[str, tuple[int, str]]:
    """How far those measures read that do not read all of a ranking, and the unit of that."""
    depths = ((name, reading_depth(name)) for name in measures)
    return {name: (depth.amount, depth.unit) for name, depth in depths if depth and depth.amount is not None}


def _cut_by_depth(searched: Searched) -> NDArray[np.bool_]:
    """Mask [Q] of the queries whose search, or a route of it, reached its full depth and left chunks out.

    Of hits from elsewhere, whose depth is not known, all that left chunks out.
    """
    by_chunks = searched.over_chunks or searched
    ranks = text_ranked(by_chunks, "ranks")
    left: NDArray[np.bool_] = ranks < len(by_chunks.chunking.chunks)
    asked = searched.setting.retrieve
    if asked.kind == "returned":
        return left
    reached = np.zeros(len(ranks), dtype=np.bool_)
    # what two routes share is one rank of a fusion, which then ends before its own depth
    for step in (asked, *getattr(asked, "routes", ())):
        if step.top_chars is None:
            reached |= ranks >= step.top_k
        else:
            reached |= text_ranked(by_chunks, "characters") >= step.top_chars
    return left & reached


def shares_read(searched: Sequence[Searched], measures: Sequence[str]) -> dict[str, dict[str, float]]:
    """By measure, the settings whose search was cut short, and the mean share of what is read that they hold.

    Queries for which nothing more was to be had count as read in full; settings with enough are left out.
    """
    shares: dict[str, dict[str, float]] = {}
    cut = {one.setting.name: _cut_by_depth(one) for one in searched}
    for name, (amount, unit) in _depths(measures).items():
        for one in searched:
            full = np.minimum(1.0, text_ranked(one, unit) / amount)
            share = float(np.where(cut[one.setting.name], full, 1.0).mean()) if len(full) else 1.0
            if share < ENOUGH_READ:
                shares.setdefault(name, {})[one.setting.name] = round(share, 4)
    return shares


def text_budgets(measures: Sequence[str]) -> list[str]:
    """Of the measures that read so much text, the one with the largest budget in each unit."""
    deepest: dict[str, tuple[int, str]] = {}
    for name, (amount, unit) in _depths(measures).items():
        if across_chunkings(name):
            deepest[unit] = max(deepest.get(unit, (0, "")), (amount, name))
    return [name for _, name in deepest.values()]
