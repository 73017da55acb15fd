"""An evaluated benchmark → all its tables, its record and its verdict."""

from __future__ import annotations

import math
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from harness import __version__
from harness.data import Anchoring
from harness.measures import ANSWER_MEASURES, LlmMeasure, SpanQrels, median_length, rank_cutoff
from harness.report import (
    PASSAGE_RANKS,
    AnchoringRow,
    DocumentRow,
    FilterRow,
    RankedRow,
    Results,
    RouteRow,
    SurroundingRow,
    is_route,
    spans_of_chunk,
)
from harness.running.chunks import chunk_rows
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.costs import endpoint_facts, query_costs, rewriting_facts
from harness.running.evaluate.evaluating import Evaluated, judged_for
from harness.running.evaluate.prices import price_rows
from harness.running.evaluate.scoring import left_out
from harness.running.evaluate.verdict import run_verdict
from harness.running.judging.pool import Judged
from harness.running.search import Searched, asked_rows
from harness.steps import FilterResult
from harness.values import Document, Ranking, RunRecord, Span, outside, packages_in_use

AROUND = 300
"""Characters shown before and after a passage."""


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
    paid = query_costs(searched, queries, context)
    prices = price_rows(searched, summary, judged.costs, len(evaluated.queries), paid, config.measures)
    filtered = list(filter_rows(searched, judged, corpus))
    ranked = [row for one in scored for row in one.ranked]
    record = make_record(config, corpus, searched, judged, context)
    return Results(
        name=config.name,
        queries=corpus.queries.queries,
        summary=summary,
        per_query=per_query,
        ranked=ranked,
        runs={(s.setting.name, stage): ranked for s in searched for stage, ranked in s.rankings.items()},
        qrels={s.setting.name: one.qrels for s, one in zip(searched, scored, strict=True)},
        record=record,
        judgments=judged.rows,
        rows=[
            *evaluated.losses,
            *surrounding_rows(ranked, corpus.texts),
            *asked_rows(searched),
            *filtered,
            *route_rows(searched, config),
            *chunk_rows((one.setting.name, one.chunking) for one in searched),
            *evaluated.sensitivity,
            *prices,
            *judged.costs,
            *map(_anchoring_row, corpus.anchored.anchorings),
            *_document_rows(corpus),
            *(row for one in scored for row in (*one.answerability, *one.thresholds, *one.seed_ratios)),
            *more,
        ],
        extras=corpus.queries.extras,
        clusters=evaluated.clusters,
        verdict=run_verdict(
            per_query,
            {query.query_id: query.split for query in evaluated.queries},
            evaluated.clusters,
            prices,
            corpus.doc_ids,
            evaluated.sensitivity,
            config,
            filtered,
            left_out(queries, judged.judgments, config.relevance),
            record.warnings,
        ),
        cut={one.setting.name: (one.chunking.key, one.chunking.chunks) for one in searched},
    )


def _anchoring_row(one: Anchoring) -> AnchoringRow:
    row, place = one.row, one.place
    return AnchoringRow(
        line=row.line,
        query_id=row.query_id,
        doc_id=one.document.doc_id,
        page=one.page,
        method=place.method,
        score=place.score,
        start=place.start,
        end=place.end,
        quote=row.quote,
        found=one.found,
        copies=place.copies,
        accepted=one.accepted,
        figures_differ=one.figures_differ,
    )


def _document_rows(corpus: Corpus) -> list[DocumentRow]:
    """One row per document: what was found in it, or why it was skipped."""
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


def route_rows(searched: Sequence[Searched], config: BenchConfig) -> list[RouteRow]:
    """One row per route of every setting, nested ones against the fusion that they are part of."""
    k = next(filter(None, map(rank_cutoff, config.measures)), None)
    return [row for one in searched for row in _rows(one, k)]


def _rows(one: Searched, k: int | None) -> Iterator[RouteRow]:
    routes = [stage for stage in one.rankings if is_route(stage)]
    for stage in routes:
        fused = stage.rpartition(".")[0]
        siblings = [other for other in routes if other != stage and other.rpartition(".")[0] == fused]
        shared = alone = total = 0
        for at, ranking in enumerate(one.rankings[fused]):
            first = _first(ranking, k)
            own = first & _first(one.rankings[stage][at], k)
            others = {chunk for other in siblings for chunk in _first(one.rankings[other][at], k)}
            shared, alone, total = shared + len(own), alone + len(own - others), total + len(first)
        yield RouteRow(
            setting=one.setting.name,
            stage=stage,
            fused=fused,
            k=k,
            share=shared / total if total else None,
            share_alone=alone / total if total else None,
            exact_share=one.exact_shares.get(stage),
        )


def _first(ranking: Ranking, k: int | None) -> set[str]:
    return set(ranking.chunk_ids[:k])


def filter_rows(searched: Iterable[Searched], judged: Judged, corpus: Corpus) -> Iterator[FilterRow]:
    """One row per query of every filter: values it named, documents left, labelled documents left out."""
    for one in searched:
        if not one.filtered:
            continue
        labelled: dict[str, dict[str, None]] = {}
        for judgment in judged_for(one.setting.name, judged.judgments, corpus)[0]:
            if judgment.grade:
                labelled.setdefault(judgment.query_id, {})[judgment.doc_id] = None
        for step, results in one.filtered.items():
            for query in results:
                yield _row(one.setting.name, step, query, list(labelled.get(query.query_id, ())))


def _row(setting: str, step: str, one: FilterResult, labelled: Sequence[str]) -> FilterRow:
    excluded = [] if one.documents is None else [doc for doc in labelled if doc not in one.documents]
    return FilterRow(
        setting=setting,
        step=step,
        query_id=one.query_id,
        mode=one.mode,
        named=_written(one.named),
        dropped=" ".join(one.dropped),
        documents=one.total if one.documents is None else len(one.documents),
        of=one.total,
        labelled=len(labelled),
        excluded=" ".join(excluded),
        failed=one.failed,
    )


def _written(named: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{column}={'|'.join(values)}" for column, values in named.items())


def surrounding_rows(ranked: Iterable[RankedRow], documents: Sequence[Document]) -> list[SurroundingRow]:
    """The text up to ``AROUND`` characters before and after every passage that passages.csv holds."""
    shown: dict[str, list[Span]] = {}
    around: dict[str, list[Span]] = {}
    for chunk_id, document in _passages(ranked).items():
        *before, (start, end) = spans_of_chunk(chunk_id)
        shown.setdefault(document, []).extend((*before, (start, end)))
        around.setdefault(document, []).append((max(0, start - AROUND), end + AROUND))
    texts = {document.doc_id: document.text for document in documents}
    return [
        SurroundingRow(document, start, end, texts[document][start:end].replace("\r\n", " \n"))
        for document in sorted(around)
        for start, end in _within(outside(around[document], shown[document]), len(texts[document]))
    ]


def _passages(ranked: Iterable[RankedRow]) -> Mapping[str, str]:
    """The document of every chunk among the first ranks, by its id."""
    return {row.chunk_id: row.document for row in ranked if row.rank <= PASSAGE_RANKS}


def _within(spans: Iterable[Span], length: int) -> Iterable[Span]:
    """The spans cut at the end of the document."""
    return ((start, min(end, length)) for start, end in spans if start < length)


_PACKAGES = (
    "chromadb",
    "langchain-text-splitters",
    "numpy",
    "openai",
    "pypdf",
    "pypdfium2",
    "rapidfuzz",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)
CONVENTIONS = (
    "gain: exponential 2^g-1 (ndcg_exp) and linear g (ndcg_lin); discount log2(rank+1)",
    "ideal: the best k of all judged items of the query, not of what was retrieved",
    "rank order is authoritative; ties keep the earlier stage's order",
    "a query without a ranking scores 0 and counts; one without relevant text has no NDCG and is counted "
    "separately",
    "unjudged text has gain 0 in the headline measure; judged@k says how much was judged",
    "text or evidence that was already read earns nothing more",
    "a failed judgment is not a grade",
)


def make_record(
    config: BenchConfig, corpus: Corpus, searched: Sequence[Searched], judged: Judged, context: Context
) -> RunRecord:
    """Make the record of a run."""
    faults = context.faults.sentences()
    return RunRecord(
        config=config.model_dump(mode="json"),
        hashes=corpus.hashes,
        versions={"python": platform.python_version(), **_versions()},
        models={name: dict(facts) for name, facts in context.models().items()},
        seeds={"bootstrap": config.bootstrap.seed, "split": config.split.seed},
        timings={stage: round(seconds, 3) for stage, seconds in context.timings.items()},
        counts={
            **context.counts,
            **({"cache_faults": faults} if faults else {}),
            **({"rewriting": rewriting_facts(context)} if context.spent else {}),
            **({"endpoints": endpoint_facts(context)} if context.served else {}),
            **({"answer_prompts": prompts} if (prompts := _answer_prompts(config)) else {}),
            "documents": len(corpus.doc_ids),
            "documents_skipped": len(corpus.skipped),
            "queries": len(corpus.queries.queries),
            "left_out": left_out(corpus.queries.queries, judged.judgments, config.relevance),
            "judgments": len(judged.judgments),
            "label_characters_p50": _median_label(judged),
            "labels": len(corpus.labels),
            "labels_not_anchored": sum(not a.accepted for a in corpus.anchored.anchorings),
            "settings": {s.setting.name: {**s.chunking.health, **s.notes} for s in searched},
            "conventions": list(CONVENTIONS),
        },
        judge={"name": judged.judge, **judged.fingerprint},
        cost=judged.spent,
        git=_git(),
        date=context.begun.isoformat(timespec="seconds"),
        config_sha256=config.file_sha256,
        warnings=tuple(dict.fromkeys(context.warnings)),
    )


def _answer_prompts(config: BenchConfig) -> dict[str, Any]:
    """The prompts of every measure of answers that asks a language model, by the name of the measure."""
    if all(setting.answer is None for setting in config.settings):
        return {}
    measures = [ANSWER_MEASURES.make(one) for one in config.answer_measures]
    return {one.name: one.record() for one in measures if isinstance(one, LlmMeasure) and "llm" in one.needs}


def _median_label(judged: Judged) -> float | None:
    """The median length of the text judged relevant, in characters; None if there is none."""
    length = median_length(SpanQrels.from_judgments(judged.judgments))
    return None if math.isnan(length) else length


def _versions() -> dict[str, str]:
    found = {"harness": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | packages_in_use()


def _git() -> dict[str, Any]:
    """Commit and dirty flag of the working folder; empty outside a checkout."""

    def ask(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "HEAD")
    if commit is None:
        return {}
    return {"commit": commit, "dirty": bool(ask("status", "--porcelain", "--untracked-files=no"))}
