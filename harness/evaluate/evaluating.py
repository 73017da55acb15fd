"""Searched settings → everything that is said of them: judged, scored, taken apart, compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.config import BenchConfig
from harness.evaluate.clusters import clusters_of
from harness.evaluate.filters import filter_rows
from harness.evaluate.label_sensitivity import label_sensitivity_rows
from harness.evaluate.losses import lost_rows
from harness.evaluate.prices import price_rows
from harness.evaluate.record import make_record
from harness.evaluate.routes import route_rows
from harness.evaluate.scoring import Scored, queries_to_score, score_setting
from harness.evaluate.surroundings import surrounding_rows
from harness.evaluate.verdict import run_verdict
from harness.judging.pool import Judged, judge_pool
from harness.report import AnchoringRow, DocumentRow, LabelSensitivityRow, LossRow, Results, SummaryRow
from harness.running.chunks import chunk_rows
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.endpoints import endpoint_costs
from harness.running.query_costs import query_costs
from harness.running.rewriting import asked_rows
from harness.running.search import Searched
from harness.types import Query


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What searched settings came to: ``scored`` has one entry a setting, in their order."""

    judged: Judged
    queries: tuple[Query, ...]
    clusters: Mapping[str, str]
    scored: list[Scored]
    losses: list[LossRow]
    drawn: list[LabelSensitivityRow]


def evaluate(
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
    told: Callable[[Sequence[SummaryRow]], None] | None = None,
) -> Evaluated:
    """Judge and score every setting; ``told`` is called with the summary of each as soon as it is scored."""
    judged = judge_pool(searched, corpus, config, context)
    queries = queries_to_score(corpus.queries.queries, judged.judgments, config.relevance)
    clusters = clusters_of(corpus.queries.queries, corpus.of_documents(judged.judgments))
    scored = []
    for one in searched:
        own = _judged_for(one, judged, corpus)
        scored.append(score_setting(one, queries, own, corpus.texts, clusters, config, context))
        if told is not None:
            told(scored[-1].summary)
    with context.timed("waterfall"):
        losses = lost_rows(searched, corpus, judged.judgments, config)
    with context.timed("label_sensitivity"):
        drawn = label_sensitivity_rows(searched, queries, judged.judgments, corpus, config, context)
    return Evaluated(judged, queries, clusters, scored, losses, drawn)


def _judged_for(one: Searched, judged: Judged, corpus: Corpus) -> Judged:
    """What a setting is scored on: its own text, and evidence that only other parsers have found."""
    own, elsewhere = corpus.judged_for(one.setting.name, judged.judgments)
    return replace(judged, judgments=[*own, *elsewhere]) if corpus.texts_of else judged


def results_of(
    evaluated: Evaluated,
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
    more: Sequence[Any] = (),
) -> Results:
    """All tables, files and the verdict; ``more`` are rows of further tables."""
    judged, scored = evaluated.judged, evaluated.scored
    summary = [row for one in scored for row in one.summary]
    per_query = [row for one in scored for row in one.per_query]
    queries = corpus.queries.queries
    bought = endpoint_costs(searched, queries, context)
    paid = query_costs(searched, queries, context)
    prices = price_rows(searched, summary, judged.costs, evaluated.queries, paid, config, bought)
    filtered = list(filter_rows(searched, judged.judgments, corpus))
    ranked = [row for one in scored for row in one.ranked]
    return Results(
        name=config.name,
        queries=corpus.queries.queries,
        summary=summary,
        per_query=per_query,
        ranked=ranked,
        runs={(s.setting.name, stage): ranked for s in searched for stage, ranked in s.rankings.items()},
        qrels={s.setting.name: one.qrels for s, one in zip(searched, scored, strict=True)},
        record=make_record(config, corpus, searched, judged, context),
        judgments=judged.rows,
        rows=[
            *evaluated.losses,
            *surrounding_rows(ranked, corpus.texts),
            *asked_rows(searched),
            *filtered,
            *route_rows(searched, config),
            *chunk_rows((one.setting.name, one.chunking) for one in searched),
            *evaluated.drawn,
            *prices,
            *judged.costs,
            *(AnchoringRow(**asdict(row)) for row in corpus.anchored.anchorings),
            *_document_rows(corpus),
            *(row for one in scored for row in (*one.answerability, *one.thresholds, *one.seed_ratios)),
            *more,
        ],
        extras=corpus.queries.extras,
        clusters=evaluated.clusters,
        verdict=run_verdict(
            per_query,
            evaluated.queries,
            evaluated.clusters,
            prices,
            corpus.doc_ids,
            evaluated.drawn,
            config,
            filtered,
        ),
        cut={one.setting.name: (one.chunking.key, one.chunking.chunks) for one in searched},
    )


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
