"""An evaluated benchmark → all its tables, its record and its verdict, from the values of its files."""

from __future__ import annotations

import math
import platform
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from harness import __version__, comparison, report, values
from harness.data import Anchoring
from harness.measures import SpanQrels, median_length, rank_cutoff
from harness.models import EncoderConfig
from harness.running.config.answer_measures import prompts_of
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.costs import embedding_facts, price_rows, spending_facts
from harness.running.evaluate.evaluating import Evaluated
from harness.running.evaluate.token_places import token_rows
from harness.running.evaluate.warnings import shares_read
from harness.running.judging.judged import GradedQueries, Judged, rankers_that_judge
from harness.running.passes import encoding
from harness.running.pipeline import has_answers
from harness.running.run_models import RunModels
from harness.running.search import Searched, asked_rows
from harness.running.session import Session

AROUND = 300
"""Characters shown before and after a passage."""


def results_of(
    evaluated: Evaluated,
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    session: Session,
    more: Sequence[Any],
) -> report.Results:
    """All tables, files and the verdict; ``more`` are rows of further tables."""
    judged, scored = evaluated.judged, evaluated.scored
    summary = [row for table in scored for row in table.summary]
    latencies = [row for row in more if isinstance(row, report.LatencyRow)]
    prices = price_rows(searched, summary, judged.costs, corpus, config.measures, latencies)
    filtered = list(filter_rows(searched, evaluated.graded, corpus))
    ranked = [row for table in scored for row in table.ranked]
    record = make_record(config, corpus, searched, evaluated, session)
    results = report.Results(
        name=config.name,
        queries=corpus.queries.queries,
        summary=summary,
        per_query=[row for table in scored for row in table.per_query],
        ranked=ranked,
        runs={(s.setting.name, stage): ranked for s in searched for stage, ranked in s.rankings.items()},
        qrels={s.setting.name: one.qrels for s, one in zip(searched, scored, strict=True)},
        record=record,
        judgments=judged.rows,
        rows=[
            *evaluated.rows,
            *token_rows(searched, evaluated.scorers, corpus, config.measures),
            *surrounding_rows(ranked, corpus.texts),
            *asked_rows(searched),
            *filtered,
            *route_rows(searched, config.measures),
            # a setting without chunks has no health
            *(report.ChunkRow(s.setting.name, **s.chunking.quality) for s in searched if s.chunking.quality),
            *prices,
            *judged.costs,
            *map(_anchoring_row, corpus.anchored.anchorings),
            *_document_rows(corpus),
            *(row for table in scored for row in table.more),
            *more,
        ],
        extras=corpus.queries.extras,
        clusters=evaluated.clusters,
        cut={result.setting.name: (result.chunking.key, result.chunking.places) for result in searched},
    )
    return _with_verdict(results, str(config.results / config.name))


def _with_verdict(results: report.Results, folder: str) -> report.Results:
    """The results with their verdict, from the scores at hand; commands name the ``folder`` to be written.

    It is on answers where these lead.

    As plain values it has ``sentences``. Without one, a sentence says why.
    """
    texts = {row.document: row.text_sha256 for row in results.of(report.DocumentRow) if row.status == "read"}
    result = report.StoredResult(results.name, results.per_query, asdict(results.record), texts, judged="")
    stored = comparison.Stored.of(Path(folder), result, results.of)
    scores = comparison.scores_of({"": stored})
    try:
        verdict = comparison.verdict_of_result(stored, scores)
    except values.HarnessError as error:
        kept = [warning for warning in scores.warnings if warning.bears_on(scores.headline)]
        warnings = (f"{comparison.LABELS['warning']}: {text}" for text in comparison.warning_lines(kept))
        why = {
            "measure": scores.headline,
            "decision": None,
            "why": str(error),
            "warnings": [asdict(warning) for warning in kept],
            "sentences": (str(error), *warnings),
        }
        return replace(results, verdict=why, compared=scores)
    plain = {**comparison.verdict_json(verdict), "sentences": comparison.sentences_of(verdict)}
    return replace(results, verdict=plain, concluded=verdict, compared=scores)


def _anchoring_row(anchoring: Anchoring) -> report.AnchoringRow:
    row, place = anchoring.row, anchoring.place
    return report.AnchoringRow(
        line=row.line,
        query_id=row.query_id,
        doc_id=anchoring.document.doc_id,
        page=anchoring.page,
        method=place.method,
        score=place.score,
        start=place.start if place else None,
        end=place.end if place else None,
        quote=row.quote,
        found=anchoring.found,
        copies=place.copies,
        accepted=anchoring.accepted,
        figures_differ=anchoring.figures_differ,
    )


def _document_rows(corpus: Corpus) -> Iterator[report.DocumentRow]:
    """One row per document: what was found in it, or why it was skipped."""
    for item in corpus.parsed:
        stats = item.stats
        yield report.DocumentRow(
            document=item.document.doc_id,
            status="read",
            reason="; ".join(stats.warnings),
            pages=stats.pages,
            pages_without_text=" ".join(map(str, stats.pages_without_text)),
            suspect_pages=" ".join(map(str, stats.suspect_pages)),
            characters=stats.characters,
            suspect_characters=stats.suspect_characters,
            missing_characters=stats.missing_characters,
            undecodable_characters=stats.undecodable_characters,
            no_break_spaces=stats.no_break_spaces,
            encryption=stats.encryption,
            second_reader=stats.second_reader,
            text_sha256=item.document.sha256,
        )
    for skipped in corpus.skipped:
        yield report.DocumentRow(document=skipped.doc_id, status="skipped", reason=skipped.reason)


def route_rows(searched: Sequence[Searched], measures: Sequence[str]) -> Iterator[report.RouteRow]:
    """One row per route of every setting, nested ones against the fusion that they are part of."""
    k = next(filter(None, map(rank_cutoff, measures)), None)
    for result in searched:
        # the chunks that every step ranks first, by query
        first = {
            stage: [set(ranking.chunk_ids[:k]) for ranking in rankings]
            for stage, rankings in result.rankings.items()
        }
        routes = [stage for stage in first if report.is_route(stage)]
        for stage in routes:
            fused = stage.rpartition(".")[0]
            siblings = [other for other in routes if other != stage and other.rpartition(".")[0] == fused]
            shared = [all_of & ids for all_of, ids in zip(first[fused], first[stage], strict=True)]
            alone = [
                ids.difference(*(first[other][at] for other in siblings)) for at, ids in enumerate(shared)
            ]
            total = sum(map(len, first[fused]))
            yield report.RouteRow(
                setting=result.setting.name,
                stage=stage,
                fused=fused,
                k=k,
                share=sum(map(len, shared)) / total if total else None,
                share_alone=sum(map(len, alone)) / total if total else None,
                exact_share=result.exact_shares.get(stage),
            )


def filter_rows(
    searched: Iterable[Searched], graded: GradedQueries, corpus: Corpus
) -> Iterator[report.FilterRow]:
    """One row per query of every filter: values it named, documents left, labelled documents left out."""
    for result in searched:
        if not result.filtered:
            continue
        own_text = graded.within(corpus.texts_of.get(result.setting.name))
        labelled = values.by_key((row.query_id, (row.doc_id, row.evidence)) for row in own_text if row.grade)
        for step, results in result.filtered.items():
            for filtered in results:
                documents, labels = filtered.documents, values.by_key(labelled.get(filtered.query_id, ()))
                yield report.FilterRow(
                    setting=result.setting.name,
                    step=step,
                    query_id=filtered.query_id,
                    mode=filtered.mode,
                    named="; ".join(
                        f"{column}={'|'.join(values_named)}"
                        for column, values_named in filtered.named.items()
                    ),
                    dropped=" ".join(filtered.dropped),
                    documents=filtered.total if documents is None else len(documents),
                    of=filtered.total,
                    labelled=len(labels),
                    excluded=" ".join(_left_out(labels, documents)),
                    failed=filtered.failed,
                )


def _left_out(labelled: Mapping[str, Sequence[str]], kept: Collection[str] | None) -> Iterator[str]:
    """The documents outside those ``kept`` with evidence that none of these holds."""
    if kept is not None:
        # evidence without a name is in one place alone
        held = {name for document in kept for name in labelled.get(document, ()) if name}
        for document, names in labelled.items():
            if document not in kept and not held.issuperset(names):
                yield document


def surrounding_rows(
    ranked: Iterable[report.RankedRow], documents: Sequence[values.Document]
) -> Iterator[report.SurroundingRow]:
    """The text up to ``AROUND`` characters before and after every passage that passages.csv holds."""
    shown: dict[str, list[values.Span]] = {}
    around: dict[str, list[values.Span]] = {}
    deepest = report.PASSAGE_RANKS
    for chunk_id, document in {r.chunk_id: r.document for r in ranked if r.rank <= deepest}.items():
        *before, (start, end) = report.spans_of_chunk(chunk_id)
        shown.setdefault(document, []).extend((*before, (start, end)))
        around.setdefault(document, []).append((max(0, start - AROUND), end + AROUND))
    texts = {document.doc_id: document.text for document in documents}
    for document in sorted(around):
        text = texts[document]
        for start, end in values.outside(around[document], shown[document]):
            if start < len(text):
                last = min(end, len(text))
                yield report.SurroundingRow(document, start, last, text[start:last].replace("\r\n", " \n"))


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
    config: BenchConfig, corpus: Corpus, searched: Sequence[Searched], evaluated: Evaluated, session: Session
) -> values.RunRecord:
    """Make the record of a run."""

    def speed_here(encoder: EncoderConfig) -> float | None:
        return encoding(encoder, session).speed(session.engine.worker)

    judged = evaluated.judged
    optional = {
        "cache_faults": session.faults.sentences(),
        **spending_facts(session.notes),
        "answer_prompts": _answer_prompts(config),
        "answer_panels": session.notes.panels,
        "precision": precision_facts(session.models),
        comparison.ALSO_RANK: sorted(
            {name for names in rankers_that_judge(config).values() for name in names}
        ),
    }
    return values.RunRecord(
        config=config.model_dump(mode="json"),
        hashes=corpus.hashes,
        versions={"python": platform.python_version(), **_versions()},
        models={name: dict(facts) for name, facts in session.models.describe().items()},
        seeds={"bootstrap": config.bootstrap.seed, "split": config.split.seed},
        timings={stage: round(seconds, 3) for stage, seconds in session.notes.timings.items()},
        counts={
            **session.notes.counts,
            **{name: fact for name, fact in optional.items() if fact},
            "documents": len(corpus.doc_ids),
            "documents_skipped": len(corpus.skipped),
            "queries": len(corpus.queries.queries),
            "left_out": evaluated.left_out,
            "read": shares_read(searched, config.measures),
            "judged": {s.setting.name: one.judged for s, one in zip(searched, evaluated.scored, strict=True)},
            "judgments": len(judged.judgments),
            "label_characters_p50": _median_label(judged),
            "labels": len(corpus.anchored.judgments),
            "labels_not_anchored": sum(not a.accepted for a in corpus.anchored.anchorings),
            "settings": {
                s.setting.name: {
                    **s.chunking.health,
                    **s.notes,
                    **embedding_facts(s.over_chunks or s, speed_here),
                }
                for s in searched
            },
            "conventions": list(CONVENTIONS),
        },
        judge={"name": judged.judge, **judged.fingerprint},
        cost=judged.spent,
        git=_git(),
        engine=session.engine.describe(),
        date=session.notes.begun.isoformat(timespec="seconds"),
        config_sha256=config.file_sha256,
        warnings=tuple(dict.fromkeys(session.notes.warnings)),
    )


def precision_facts(models: RunModels) -> dict[str, Any]:
    """For the run record: by model, the seconds of a batch in each way, and how far rankings differ."""
    return {
        name: {
            "way": str(probe.way),
            "seconds": {str(way): took for way, took in probe.seconds.items()},
            **models.compared.get(name, {}),
        }
        for name, probe in models.probed.items()
    }


def _answer_prompts(config: BenchConfig) -> dict[str, Any]:
    """The prompts of every measure of answers that asks a language model, by the name of the measure."""
    if not any(map(has_answers, config.settings)):
        return {}
    return prompts_of(config.answer_measures)


def _median_label(judged: Judged) -> float | None:
    """The median length of the text judged relevant, in characters; None if there is none."""
    length = median_length(SpanQrels.from_judgments(judged.judgments))
    return None if math.isnan(length) else length


def _versions() -> dict[str, str]:
    packages = {name: version for name in _PACKAGES if (version := values.version_of(name))}
    return {"harness": __version__} | packages | values.packages_in_use()


def _git() -> dict[str, Any]:
    """Commit and dirty flag of the working folder; empty outside a checkout."""

    def ask(*words: str) -> str | None:
        try:
            answer = subprocess.run(
                ["git", *words],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return answer.stdout.strip() if answer.returncode == 0 else None

    commit = ask("rev-parse", "HEAD")
    if commit is None:
        return {}
    return {"commit": commit, "dirty": bool(ask("status", "--porcelain", "--untracked-files=no"))}
