"""The pipeline, top to bottom: one configuration in, one folder of results out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from harness.config import BenchConfig
from harness.config.naming import file_names
from harness.llm.money import Estimate
from harness.pipeline.budget import warn_of_unfilled_budgets
from harness.pipeline.chunks import chunk_corpus, chunk_rows
from harness.pipeline.clusters import clusters_of
from harness.pipeline.context import Context
from harness.pipeline.corpus import Corpus, load_corpus
from harness.pipeline.headlines import headlines
from harness.pipeline.judges import asked, judge_name, pool_judge_config, warn_of_same_model
from harness.pipeline.judging import estimate_pool, flag_passages, judge_pool, make_pool
from harness.pipeline.label_sensitivity import label_sensitivity_rows
from harness.pipeline.label_warnings import warn_of_labels
from harness.pipeline.loss import lost_rows
from harness.pipeline.prices import price_rows
from harness.pipeline.record import make_record
from harness.pipeline.rewriting import asked_rows, missing_rewritings
from harness.pipeline.routes import route_rows
from harness.pipeline.scoring import (
    queries_to_score,
    score_setting,
    warn_of_pool,
    warn_of_shallow_rankings,
)
from harness.pipeline.search import Point, Searched, search_points
from harness.pipeline.verdict import run_verdict
from harness.progress import Reporter
from harness.report import AnchoringRow, DocumentRow, Results, name_of_earlier, same_result, write_results
from harness.search import NotAsked
from harness.store import replace_folder


@dataclass(frozen=True, slots=True)
class DryRun:
    """What judging would take: ``estimate`` None where it costs nothing; ``settings``: pairs of each.

    ``skipped`` are the documents that cannot be used. ``rewriting`` is what language models would be asked
    before anything is retrieved; where there is any, nothing is known of what comes after it.
    """

    judge: str
    pairs: int
    settings: dict[str, int]
    estimate: Estimate | None
    skipped: tuple[str, ...]
    rewriting: tuple[NotAsked, ...] = ()


def run_bench(
    config: BenchConfig, reporter: Reporter, finish: Callable[[Path], None] | None = None
) -> tuple[Results, Path]:
    """Run every setting and write ``results/<name>/``; returns the results and that folder.

    A result that stood there and is another one stays beside it, named after the time when it began.
    ``finish`` may add files to the folder before it takes its place; should it fail, the results stand
    without them and the error follows.
    """
    context = Context.at(config.cache, reporter)
    with context, context.timed("total"), headlines(config, context) as live:
        corpus, searched = search_all(config, context, live.searched)
        judged = judge_pool(searched, corpus, config, context)
        queries = queries_to_score(corpus.queries.queries, judged.judgments, config.relevance)
        clusters = clusters_of(corpus.queries.queries, judged.judgments)
        scored = []
        for one in searched:
            scored.append(score_setting(one, queries, judged, corpus.documents, clusters, config, context))
            live.scored(scored[-1].summary)
        with context.timed("waterfall"):
            losses = lost_rows(searched, corpus, judged.judgments, config)
        with context.timed("label_sensitivity"):
            drawn = label_sensitivity_rows(searched, queries, judged.judgments, corpus, config, context)
    summary = [row for one in scored for row in one.summary]
    per_query = [row for one in scored for row in one.per_query]
    prices = price_rows(searched, summary, judged.costs, queries, config)
    results = Results(
        name=config.name,
        queries=corpus.queries.queries,
        summary=summary,
        per_query=per_query,
        ranked=[row for one in scored for row in one.ranked],
        runs={(s.setting.name, stage): ranked for s in searched for stage, ranked in s.rankings.items()},
        qrels={s.setting.name: one.qrels for s, one in zip(searched, scored, strict=True)},
        record=make_record(config, corpus, searched, judged, context),
        judgments=judged.rows,
        rows=[
            *losses,
            *asked_rows(searched),
            *route_rows(searched, config),
            *chunk_rows((one.setting.name, one.chunking) for one in searched),
            *drawn,
            *prices,
            *judged.costs,
            *(AnchoringRow(**asdict(row)) for row in corpus.anchored.anchorings),
            *_document_rows(corpus),
            *(row for one in scored for row in (*one.answerability, *one.thresholds, *one.seed_ratios)),
        ],
        extras=corpus.queries.extras,
        clusters=clusters,
        verdict=run_verdict(
            per_query, queries, clusters, prices, (d.doc_id for d in corpus.documents), drawn, config
        ),
        cut={one.setting.name: (one.chunking.key, one.chunking.chunks) for one in searched},
    )
    folder = config.results / config.name

    failed: Exception | None = None
    with replace_folder(folder, _name_beside) as unfinished:
        names = file_names([setting.name for setting in config.settings])
        write_results(unfinished, results, names.__getitem__)
        try:
            if finish is not None:
                finish(unfinished)
        except Exception as error:
            failed = error
    if failed is not None:
        raise failed
    return results, folder


def _name_beside(current: Path, earlier: Path) -> str | None:
    """What an earlier result is called beside the current one; None where they are the same result."""
    return None if same_result(current, earlier) else name_of_earlier(earlier, current.name)


def search_all(
    config: BenchConfig, context: Context, found: Callable[[Corpus, Searched], None] | None = None
) -> tuple[Corpus, list[Searched]]:
    """The corpus, and the rankings of every setting; warns of what the scores will not show.

    ``found`` is called with every setting as soon as it is searched.
    """
    corpus, points = _cut_all(config, context)
    tell = None if found is None else partial(found, corpus)
    searched = search_points(points, corpus.queries.queries, context, tell)
    warn_of_unfilled_budgets(searched, config, context.reporter)
    return corpus, searched


def _cut_all(config: BenchConfig, context: Context) -> tuple[Corpus, list[Point]]:
    corpus = load_corpus(config, context)
    warn_of_labels(corpus, config, context.reporter)
    warn_of_shallow_rankings(config, context.reporter)
    warn_of_pool(config, context.reporter)
    warn_of_same_model(config, context)
    points = []
    with context.reporter.task("chunk", len(config.settings)) as task:
        for setting in config.settings:
            begun = perf_counter()
            chunking = chunk_corpus(corpus, setting, context)
            points.append(Point(setting, chunking, perf_counter() - begun))
            task.advance()
    return corpus, points


def dry_run(config: BenchConfig, reporter: Reporter) -> DryRun:
    """Retrieve for every setting, then say what judging would take; asks and spends nothing.

    Where a language model is still to rewrite queries, it says what that would take, and stops there.
    """
    with Context.at(config.cache, reporter, may_ask=False) as context:
        corpus, points = _cut_all(config, context)
        judge = pool_judge_config(config)
        skipped = tuple(item.doc_id for item in corpus.skipped)
        missing = missing_rewritings(config.settings, corpus.queries.queries, context)
        if missing:
            return DryRun("labels" if judge is None else judge_name(judge), 0, {}, None, skipped, missing)
        searched = search_points(points, corpus.queries.queries, context)
        warn_of_unfilled_budgets(searched, config, context.reporter)
        if judge is None:
            return DryRun("labels", 0, {}, None, skipped)
        pool = make_pool(searched, corpus, judge.pool)
        if asked(judge):
            flag_passages(pool.pairs, context)
        settings = {name: len(pairs) for name, pairs in pool.by_setting.items()}
        estimate = estimate_pool(pool.pairs, judge, context, corpus)
        return DryRun(judge_name(judge), len(pool.pairs), settings, estimate, skipped)


def _document_rows(corpus: Corpus) -> list[DocumentRow]:
    """One row a document: what was found in it, or why it was skipped."""
    rows = [
        DocumentRow(
            document=item.document.doc_id,
            status="read",
            reason="; ".join(item.stats.warnings),
            pages=item.stats.pages,
            pages_without_text=" ".join(map(str, item.stats.pages_without_text)),
            suspect_pages=" ".join(map(str, item.stats.suspect_pages)),
            characters=item.stats.characters,
            suspect_characters=item.stats.suspect_characters,
            missing_characters=item.stats.missing_characters,
            undecodable_characters=item.stats.undecodable_characters,
            no_break_spaces=item.stats.no_break_spaces,
            encryption=item.stats.encryption,
            second_reader=item.stats.second_reader,
            text_sha256=item.document.sha256,
        )
        for item in corpus.parsed
    ]
    return rows + [
        DocumentRow(document=item.doc_id, status="skipped", reason=item.reason) for item in corpus.skipped
    ]
