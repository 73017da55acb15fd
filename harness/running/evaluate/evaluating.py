"""Searched settings → judged, scored, taken apart: graded text is matched with the rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from harness.comparison import chunkings_of, loss_measure
from harness.data import AnchorResult, LabelRow
from harness.measures import (
    Ints,
    Scorer,
    ScoreTable,
    SpanQrels,
    Text,
    TokenBoundaries,
    across_chunkings,
    family_of,
    headline,
    median_length,
    parse_measure,
    relabelled,
)
from harness.models import AnyTokenizer
from harness.report import LabelSensitivityRow, LossRow, ReadingRow, SummaryRow
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.evaluate.losses import loss_levels, loss_rows
from harness.running.evaluate.near_duplicates import clustered_sentence, clusters_by_question
from harness.running.evaluate.oracle import Oracle
from harness.running.evaluate.scoring import ScoredSetting, Scoring, scored_by
from harness.running.evaluate.warnings import shares_read
from harness.running.judging.judged import GradedQueries, Judged
from harness.running.judging.judgments import judge_pool
from harness.running.meeting import Running
from harness.running.notes import RunNotes
from harness.running.resources import outlines
from harness.running.run_models import RunModels
from harness.running.search import Searched
from harness.running.session import Session
from harness.steps import Outline
from harness.store import KeyValue
from harness.values import Judgment, Ranking

# No document has this id: file names hold no NUL.
_LOST = "\0lost"
# A label that says neither quote nor offsets, of a document that could not be read: one reading unit.
_UNKNOWN_LENGTH = 1000


def run_headline(config: BenchConfig) -> str:
    """The measure that the settings of a configuration are compared by."""
    chunkings = chunkings_of(setting.model_dump(mode="json") for setting in config.settings)
    return headline(config.measures, len(set(chunkings.values())) > 1)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The results of searched settings: ``scored`` has one entry per setting, in order.

    ``rows`` are losses, and means with labels drawn longer and shorter, and with less and more text read;
    ``left_out`` counts the queries that means leave out for each reason, none where they count as zero.
    ``scorers`` have made the scores.
    """

    judged: Judged
    graded: GradedQueries
    clusters: Mapping[str, str]
    scored: list[ScoredSetting]
    rows: list[LossRow | LabelSensitivityRow | ReadingRow]
    left_out: Mapping[str, int]
    scorers: Scorers


def evaluate(
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    session: Session,
    show: Callable[[Sequence[SummaryRow]], None] = lambda _: None,
    scorers: Scorers | None = None,
) -> Evaluated:
    """Judge and score every setting; ``show`` gets the summary of each as soon as it is scored.

    ``scorers``, on the labels of people, may have scored some rankings already, which are not scored again.
    """
    judged = judge_pool(searched, corpus, config, session.cache.ledger, Running(session), session.notes)
    if scorers is None:
        scorers = Scorers.of_judged(judged, corpus, config, session.models)
    graded = scorers.graded
    clusters = clusters_of(graded, corpus, config, session.notes)
    documents = {document.doc_id: document for document in corpus.texts}
    scoring, scored = Scoring(judged, documents, clusters, graded.reasons(), config, session.notes), []
    for result in searched:
        scored.append(scoring.of(result, scorers.of(result), partial(scorers.table, result)))
        show(scored[-1].summary)
    with session.notes.timed("waterfall"):
        orders = partial(session.values, "orders", session.cache.orders)
        losses = _losses(searched, scorers, graded, corpus, config, orders)
    with session.notes.timed("label_sensitivity"):
        outline = partial(outlines, corpus, session.artifacts, session.notes.reporter)
        drawn = label_sensitivity_rows(searched, scorers, corpus, config, outline)
    with session.notes.timed("reading"):
        read = reading_rows(searched, scorers, config)
    return Evaluated(judged, graded, clusters, scored, [*losses, *drawn, *read], graded.left_out(), scorers)


def clusters_of(
    graded: GradedQueries, corpus: Corpus, config: BenchConfig, notes: RunNotes
) -> dict[str, str]:
    """The cluster of every query, by the documents of the evidence or by what is asked."""
    if config.bootstrap.clusters == "documents":
        return graded.clusters(bool(corpus.texts_of))
    clusters = clusters_by_question(graded.queries, graded.judgments)
    notes.reporter.note(clustered_sentence(clusters))
    return clusters


class Scorers:
    """The scorer of every searched setting, on the same grades; settings with the same chunks share it.

    A setting is scored on its own text, and on evidence that only other parsers have found.
    """

    def __init__(self, graded: GradedQueries, corpus: Corpus, models: RunModels) -> None:
        self.queries = graded.to_score()
        self.graded, self._corpus = graded, corpus
        self._tables: dict[tuple[str, str], ScoreTable] = {}
        self._spans: dict[frozenset[str] | None, SpanQrels] = {}
        self._scorers: dict[tuple[object, ...], Scorer] = {}
        texts = {document.doc_id: document.text for document in corpus.texts}

        @cache
        def boundaries(tokenizer: str) -> TokenBoundaries:
            return cache(lambda doc_id: _boundaries(texts[doc_id], models.tokenizer(tokenizer)))

        self.boundaries = boundaries

    @classmethod
    def of_judged(cls, judged: Judged, corpus: Corpus, config: BenchConfig, models: RunModels) -> Scorers:
        """Those on the grades of a judge or of people."""
        graded = GradedQueries(corpus.queries.queries, judged.judgments, config.relevance)
        return cls(graded, corpus, models)

    def score(self, searched: Searched, config: BenchConfig) -> Mapping[str, ScoreTable]:
        """The scores of the rankings that a setting has got so far, by stage; kept until they are taken."""
        measures, name = scored_by(config), searched.setting.name
        for stage, rankings in searched.rankings.items():
            if (name, stage) not in self._tables:
                self._tables[name, stage] = self.of(searched).score(rankings, measures)
        return {stage: self._tables[name, stage] for stage in searched.rankings}

    def table(self, searched: Searched, stage: str, measures: Sequence[str]) -> ScoreTable:
        """The scores of a stage: those that are kept, which are so no more, else made now."""
        kept = self._tables.pop((searched.setting.name, stage), None)
        return self.of(searched).score(searched.rankings[stage], measures) if kept is None else kept

    def of(self, searched: Searched) -> Scorer:
        """The scorer of a setting, made when it is first asked for."""
        setting = searched.setting
        texts = self._corpus.texts_of.get(setting.name)
        key = texts, searched.chunking.key, setting.tokenizer
        if key not in self._scorers:
            if texts not in self._spans:
                # the judged spans of the texts that it searches, and of evidence that is not in them
                ids = tuple(query.query_id for query in self.queries)
                self._spans[texts] = self.graded.spans(texts, elsewhere=True).for_queries(ids)
            self._scorers[key] = Scorer(
                self.queries,
                self._spans[texts],
                searched.chunking.chunks,
                projection=self.graded.relevance.projection,
                unanswerable=self.graded.relevance.without_relevant_text,
                token_boundaries=self.boundaries(setting.tokenizer),
                chunk_tokens=searched.chunking.tokens,
            )
        return self._scorers[key]


def _boundaries(text: str, tokenizer: AnyTokenizer) -> Ints:
    """Where the tokens of a text begin, and where the last one ends."""
    offsets = tokenizer.offsets([text])[0]
    return np.array([start for start, _ in offsets] + [end for _, end in offsets[-1:]], dtype=np.int64)


def means_by_measure(
    scorer: Scorer, rankings: Sequence[Ranking], measures: Sequence[str]
) -> Iterator[tuple[str, float | None, int]]:
    """Every measure with its mean over the queries that have a value, as in the summary, and their number."""
    for measure, values in zip(measures, scorer.score(rankings, measures).values.T, strict=True):
        defined = values[~np.isnan(values)]
        yield measure, float(defined.mean()) if len(defined) else None, len(defined)


def _losses(
    searched: Sequence[Searched],
    scorers: Scorers,
    graded: GradedQueries,
    corpus: Corpus,
    config: BenchConfig,
    orders: Callable[[], KeyValue],
) -> list[LossRow]:
    """The loss of each query at each part of the pipeline, for every setting, by the scorers of the scores.

    Queries without relevant evidence have no rows. Evidence that only other parsers have found is lost by the
    parser; labels that no text contains are in no score, so they are no part of 1 minus the score either.
    ``orders`` opens the file in which the best orders are kept.
    """
    if not any(query.answerable for query in scorers.queries):
        return []
    measure = loss_measure(config.measures, run_headline(config))
    rows: list[LossRow] = []
    oracles: dict[Scorer, Oracle] = {}
    with orders() as stored:
        for result in searched:
            scorer, spans = scorers.of(result), None
            if scorer not in oracles:
                oracles[scorer] = Oracle(scorer, parse_measure(measure), stored)
            if corpus.texts_of:
                spans = graded.spans(corpus.texts_of[result.setting.name])
            levels = loss_levels(result, oracles[scorer], spans)
            rows += loss_rows(result.setting.name, scorer.queries, levels, measure)
    return rows


def lost_evidence(labels: Iterable[LabelRow], anchored: AnchorResult) -> list[Judgment]:
    """The labels whose text is not in the documents as extracted, as spans of a document that does not exist.

    These are quotes that were not found, and all labels of documents that were skipped. Each is as long as
    its quote, so that it has a place in the ideal.
    """
    placed = {a.row.line for a in anchored.anchorings if a.accepted}
    lost, at = [], 0
    for row in labels:
        if row.line in placed:
            continue
        length = len(row.quote.strip()) or (row.end or 0) - (row.start or 0) or _UNKNOWN_LENGTH
        lost.append(Judgment(row.query_id, _LOST, at, at + length, row.grade, row.evidence, row.source))
        at += length + 1
    return lost


def label_sensitivity_rows(
    searched: Sequence[Searched],
    scorers: Scorers,
    corpus: Corpus,
    config: BenchConfig,
    outline: Callable[[], Mapping[str, Outline]],
) -> list[LabelSensitivityRow]:
    """The means of every setting and stage with the labels as they are, padded, trimmed and by sentences.

    For the measures that read a length of text, such as ``ndcg_text@5000``: those are what chunkings are
    compared by. Empty where the configuration has none, or nothing is relevant. ``outline`` finds the
    sentences of all documents.
    """
    measures = [name for name in config.measures if across_chunkings(name)]
    used = list(dict.fromkeys(map(scorers.of, searched)))
    if not measures or not any((scorer.spans.grade > 0).any() for scorer in used):
        return []
    sentences = outline()
    texts = {d.doc_id: Text(len(d.text), sentences[d.doc_id].sentences) for d in corpus.documents}
    # with one parser, once for all settings
    shared = {id(scorer.spans): scorer.spans for scorer in used}
    drawn = {key: relabelled(spans, texts) for key, spans in shared.items()}
    ways = {
        scorer: {way: scorer.against(spans) for way, spans in drawn[id(scorer.spans)].items()}
        for scorer in used
    }
    rows = []
    for result in searched:
        for stage, rankings in result.rankings.items():
            for way, other in ways[scorers.of(result)].items():
                rows += [
                    LabelSensitivityRow(
                        setting=result.setting.name,
                        stage=stage,
                        measure=measure,
                        labels=way,
                        label_p50=median_length(other.spans),
                        mean=mean,
                        n_queries=count,
                    )
                    for measure, mean, count in means_by_measure(other, rankings, measures)
                ]
    return rows


# How far readers read: from one passage to all that a long context holds.
READING_DEPTHS = (500, 1_000, 2_000, 5_000, 10_000, 20_000)


def reading_rows(searched: Sequence[Searched], scorers: Scorers, config: BenchConfig) -> list[ReadingRow]:
    """The means of every setting and stage if 500 to 20,000 characters were read.

    By the measure that losses are in units of; empty where that does not read characters, or nothing is
    relevant.
    """
    measure = loss_measure(config.measures, run_headline(config))
    family = family_of(measure)
    by_characters = family is not None and family.cut_in_text and family.reads == "characters"
    if not by_characters or measure not in config.measures:
        return []
    if not any((scorers.of(result).spans.grade > 0).any() for result in searched):
        return []
    depths = {replace(parse_measure(measure), cutoff=depth).name: depth for depth in READING_DEPTHS}
    shares = shares_read(searched, tuple(depths))
    return [
        ReadingRow(
            setting=result.setting.name,
            stage=stage,
            measure=name,
            characters=depths[name],
            mean=mean,
            read=shares.get(name, {}).get(result.setting.name, 1.0),
        )
        for result in searched
        for stage, rankings in result.rankings.items()
        for name, mean, _ in means_by_measure(scorers.of(result), rankings, tuple(depths))
    ]
