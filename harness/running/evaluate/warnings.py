"""Warnings before anything is scored: labels that are doubtful, text that rankings or the pool lack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from harness.comparison import ENOUGH_READ, sentence_of
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
from harness.running.corpus import Corpus
from harness.running.evaluate.near_duplicates import near_duplicates_sentence
from harness.running.judging.judged import pool_judge_config
from harness.running.judging.label_kind import label_kind
from harness.running.note_wordings import CORPUS
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE, chunks_reranked, chunks_retrieved
from harness.running.search import Searched
from harness.steps import RetrieverConfig
from harness.values import MAX_GRADE, worded

_SHOWN = 8


def warn_of_labels(corpus: Corpus, config: BenchConfig, notes: RunNotes) -> None:
    """Say what labels are taken for, and warn of doubtful ones and of answerable queries without any.

    Says nothing if a judge grades: then its grades count.
    """
    if pool_judge_config(config) is not None:
        return
    queries, labels = corpus.queries.queries, corpus.labels
    if config.labels and (assumed := label_kind(corpus, config).assumption(config.labels.name)):
        notes.reporter.note(assumed)
    places = [row for row in corpus.anchored.anchorings if row.accepted]
    unanswerable = {query.query_id for query in queries if not query.answerable}
    labelled = {row.query_id for row in labels}
    unlabelled = [query.query_id for query in queries if query.answerable and query.query_id not in labelled]
    in_skipped = {row.query_id for row in corpus.anchored.skipped}
    zero = "" if config.relevance.unanswerable == "exclude" else ".zero"
    doubted: dict[str, Iterable[object]] = {
        "labels.figures": (row.row.line for row in places if row.figures_differ),
        "labels.copies": (
            row.row.line for row in places if row.place.copies > 1 and not _credited(row, config.anchor)
        ),
        f"labels.answered{zero}": sorted(
            {row.query_id for row in labels if row.grade == MAX_GRADE} & unanswerable
        ),
        f"labels.skipped{zero}": (query_id for query_id in unlabelled if query_id in in_skipped),
        f"labels.unlabelled{zero}": (query_id for query_id in unlabelled if query_id not in in_skipped),
    }
    for code, which in doubted.items():
        # a label may be found in several texts
        if names := list(dict.fromkeys(map(str, which))):
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            shown = f"{', '.join(names[:_SHOWN])}{more}"
            notes.warn(sentence_of(code, count=len(names), places=shown))
    if config.bootstrap.clusters == "documents" and (alike := near_duplicates_sentence(queries, labels)):
        notes.warn(alike)
    lengths = [row.end - row.start for row in labels if row.grade and row.answer is None]
    for measure in map(parse_measure, config.measures if lengths else ()):
        if measure.family != "ndcg_evidence":
            continue
        length, enough = median(lengths), arguments(measure, FAMILIES[measure.family])["enough"]
        if length > 2 * enough:
            # a small part of such a label counts as finding it
            notes.warn(
                sentence_of("labels.long", length=f"{length:,.0f}", measure=measure.name, enough=enough),
                measures=[measure.name],
            )


def _credited(row: Anchoring, config: AnchorConfig) -> bool:
    """Whether the other places that hold the quote count as well."""
    return config.duplicates and sum(map(len, row.found.split())) >= config.duplicate_length


def warn_of_measures(config: BenchConfig, chunks: Mapping[str, int], notes: RunNotes) -> None:
    """Warn where parsers, rankings of the ``chunks`` that a setting has, or the pool limit the measures."""
    cutoffs = {name: rank_cutoff(name) or 0 for name in config.measures}
    _warn_of_parsers(config, notes)
    _warn_of_shallow_rankings(config, cutoffs, chunks, notes)
    _warn_of_pool(config, cutoffs, notes)


def _deeper_than(rank: int, cutoffs: Mapping[str, int]) -> list[str]:
    """The measures that look below a rank."""
    return [name for name, cutoff in cutoffs.items() if cutoff > rank]


def _warn_of_shallow_rankings(
    config: BenchConfig, cutoffs: Mapping[str, int], chunks: Mapping[str, int], notes: RunNotes
) -> None:
    """Say where a measure looks deeper than rankings go, or no deeper than the reranker does."""
    deepest, settings = max(cutoffs.values()), config.settings
    by_name = {setting.name: chunks_retrieved(setting) for setting in settings}
    depths = {name: depth for name, depth in by_name.items() if depth is not None}
    shallow = {name: depth for name, depth in depths.items() if depth < min(deepest, chunks[name])}
    if shallow:
        notes.warn(
            sentence_of(
                "depth.ranks",
                ranks=_span(shallow.values()),
                shallow=len(shallow),
                total=len(settings),
                cutoff=deepest,
            ),
            _deeper_than(min(shallow.values()), cutoffs),
            shallow,
        )
    reranked = [(setting.name, count) for setting in settings for count in chunks_reranked(setting)]
    flat = [(name, n) for name, n in reranked if n is not None and n <= deepest and n < chunks[name]]
    if flat:
        first = [top_n for _, top_n in flat]
        code = "depth.reranked.first" if max(first) == 1 else "depth.reranked"
        notes.warn(
            sentence_of(code, scored=_span(first), cutoff=deepest),
            _deeper_than(min(first) - 1, cutoffs),
            dict(flat),
        )


def _span(numbers: Collection[int]) -> str:
    """The least and the largest of some numbers, in words; once where they are equal."""
    return " to ".join(map(str, sorted({min(numbers), max(numbers)})))


def _warn_of_parsers(config: BenchConfig, notes: RunNotes) -> None:
    """Where parsers are compared, say which measures do not compare them."""
    parsers = parsers_of(config.settings)
    if len(parsers) < 2:
        return
    fit = [name for name in config.measures if across_parsers(name)]
    blind = [name for name in config.measures if trusted_for(name) and name not in fit]
    if not fit:
        notes.warn(sentence_of("parsers.uncompared", parsers=", ".join(parsers)))
    if blind:
        notes.reporter.note(worded(CORPUS, "parsers.blind", measures=", ".join(blind)))


def _warn_of_pool(config: BenchConfig, cutoffs: Mapping[str, int], notes: RunNotes) -> None:
    """Say where the pool leaves text unjudged that is scored, or judges text that overlaps."""
    judge = pool_judge_config(config)
    if judge is None:
        return
    if deeper := _deeper_than(judge.pool.depth, cutoffs):
        notes.warn(
            sentence_of("judge.pool", pooled=judge.pool.depth, cutoff=max(cutoffs.values())),
            deeper,
        )
    if (
        judge.pool.unit == "chunk"
        and len({repr((setting.chunk, setting.read)) for setting in config.settings}) > 1
    ):
        notes.warn(sentence_of("judge.chunkings"))


def text_ranked(searched: Searched, unit: str, stage: str = RETRIEVE) -> NDArray[np.int64]:
    """Every whole ranking's ``ranks``, ``characters`` or ``tokens`` [Q]; what overlaps is read twice."""
    chunks, rankings = searched.chunking.chunks, searched.rankings[stage]
    if unit == "ranks":
        return np.array([len(ranking.chunk_ids) for ranking in rankings], dtype=np.int64)
    lengths = searched.chunking.tokens.tolist() if unit == "tokens" else [len(c.text) for c in chunks]
    length = {chunk.chunk_id: length_of for chunk, length_of in zip(chunks, lengths, strict=True)}
    return np.array([sum(length[i] for i in ranking.chunk_ids) for ranking in rankings], dtype=np.int64)


def warn_of_unfilled_budgets(
    searched: Sequence[Searched], config: BenchConfig, notes: RunNotes, code: str = "depth.budget"
) -> None:
    """Warn of rankings that end before the budget of a measure: what would come next was not retrieved.

    ``code`` is that of a sentence with the remedy, by default in the configuration of a benchmark. Documents
    that hold less text than the budget cannot fill it, nor can a retriever that finds no more, such as BM25
    where no word matches: they are not warned of.
    """
    depths = _depths(config.measures)
    for name in text_budgets(config.measures):
        budget, unit = depths[name]
        short: dict[str, str] = {}
        least = budget
        for result in searched:
            read = text_ranked(result, unit)
            ends = (read < budget) & _cut_by_depth(result)
            if ends.any():
                extent = f"{ends.sum()} of {len(read)} queries, median {np.median(read):,.0f}"
                short[result.setting.name] = f"{result.setting.name} ({extent})"
                least = min(least, int(read[ends].min()))
        if short:
            endings = "; ".join(short.values())
            notes.warn(
                sentence_of(code, budget=budget, unit=unit, measure=name, endings=endings),
                [label for label, (amount, of) in depths.items() if of == unit and amount > least],
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
    # what two routes share is one rank of a fusion, which then ends before its own depth
    steps = [config for stage, config in by_chunks.configs.items() if stage.count(".") < 2]
    retrievers = [step for step in steps if isinstance(step, RetrieverConfig)]
    if not retrievers:
        return left
    reached = np.zeros(len(ranks), dtype=np.bool_)
    for step in retrievers:
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
    cut = {result.setting.name: _cut_by_depth(result) for result in searched}
    for name, (amount, unit) in _depths(measures).items():
        for result in searched:
            full = np.minimum(1.0, text_ranked(result, unit) / amount)
            share = float(np.where(cut[result.setting.name], full, 1.0).mean()) if len(full) else 1.0
            if share < ENOUGH_READ:
                shares.setdefault(name, {})[result.setting.name] = round(share, 4)
    return shares


def text_budgets(measures: Sequence[str]) -> list[str]:
    """Of the measures that read so much text, the one with the largest budget in each unit."""
    deepest: dict[str, tuple[int, str]] = {}
    for name, (amount, unit) in _depths(measures).items():
        if across_chunkings(name):
            deepest[unit] = max(deepest.get(unit, (0, "")), (amount, name))
    return [name for _, name in deepest.values()]
