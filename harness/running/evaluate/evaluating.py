"""Searched settings → judged, scored, taken apart: graded text is matched with the rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from harness.comparison import chunkings_of, loss_measure
from harness.data import AnchorResult, LabelRow
from harness.measures import (
    Ints,
    Scorer,
    SpanQrels,
    Text,
    TokenBoundaries,
    across_chunkings,
    headline,
    median_length,
    parse_measure,
    relabelled,
)
from harness.models import ModelTokenizer
from harness.report import LabelSensitivityRow, LossRow, SummaryRow
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.losses import loss_levels, loss_rows
from harness.running.evaluate.oracle import Oracle
from harness.running.evaluate.scoring import ScoredSetting, Scoring
from harness.running.judging.judged import GradedQueries, Judged, judge_pool
from harness.running.resources import outlines
from harness.running.search import Searched
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

    ``rows`` are losses, and means with labels drawn longer and shorter; ``left_out`` counts the queries that
    means leave out for each reason, none where they count as zero.
    """

    judged: Judged
    graded: GradedQueries
    clusters: Mapping[str, str]
    scored: list[ScoredSetting]
    rows: list[LossRow | LabelSensitivityRow]
    left_out: Mapping[str, int]


def evaluate(
    searched: Sequence[Searched],
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
    show: Callable[[Sequence[SummaryRow]], None] = lambda _: None,
) -> Evaluated:
    """Judge and score every setting; ``show`` gets the summary of each as soon as it is scored."""
    judged = judge_pool(searched, corpus, config, context)
    graded = GradedQueries(corpus.queries.queries, judged.judgments, config.relevance)
    clusters = graded.clusters(bool(corpus.texts_of))
    documents = {document.doc_id: document for document in corpus.texts}
    scorers = Scorers(graded, corpus, context)
    scoring, scored = Scoring(judged, documents, clusters, graded.reasons(), config, context), []
    for one in searched:
        scored.append(scoring.of(one, scorers.of(one)))
        show(scored[-1].summary)
    with context.timed("waterfall"):
        losses = _losses(searched, scorers, graded, corpus, config, context)
    with context.timed("label_sensitivity"):
        drawn = label_sensitivity_rows(searched, scorers, corpus, config, context)
    return Evaluated(judged, graded, clusters, scored, [*losses, *drawn], graded.left_out())


class Scorers:
    """The scorer of every searched setting, on the same grades; settings with the same chunks share it.

    A setting is scored on its own text, and on evidence that only other parsers have found.
    """

    def __init__(self, graded: GradedQueries, corpus: Corpus, context: Context) -> None:
        self.queries = graded.to_score()
        self._corpus, self._graded = corpus, graded
        self._spans: dict[frozenset[str] | None, SpanQrels] = {}
        self._scorers: dict[tuple[object, ...], Scorer] = {}
        texts = {document.doc_id: document.text for document in corpus.texts}

        @cache
        def boundaries(tokenizer: str) -> TokenBoundaries:
            return cache(lambda doc_id: _boundaries(texts[doc_id], context.models.tokenizer(tokenizer)))

        self._boundaries = boundaries

    def of(self, searched: Searched) -> Scorer:
        """The scorer of a setting, made when it is first asked for."""
        setting = searched.setting
        texts = self._corpus.texts_of.get(setting.name)
        key = texts, searched.chunking.key, setting.tokenizer
        if key not in self._scorers:
            if texts not in self._spans:
                # the judged spans of the texts that it searches, and of evidence that is not in them
                ids = tuple(query.query_id for query in self.queries)
                self._spans[texts] = self._graded.spans(texts, elsewhere=True).for_queries(ids)
            self._scorers[key] = Scorer(
                self.queries,
                self._spans[texts],
                searched.chunking.chunks,
                projection=self._graded.relevance.projection,
                unanswerable=self._graded.relevance.without_relevant_text,
                token_boundaries=self._boundaries(setting.tokenizer),
                chunk_tokens=searched.chunking.tokens,
            )
        return self._scorers[key]


def _boundaries(text: str, tokenizer: ModelTokenizer) -> Ints:
    """Where the tokens of a text begin, and where the last one ends."""
    offsets = tokenizer.offsets([text])[0]
    return np.array([start for start, _ in offsets] + [end for _, end in offsets[-1:]], dtype=np.int64)


def means_by_measure(
    scorer: Scorer, rankings: Sequence[Ranking], measures: Sequence[str]
) -> Iterator[tuple[str, float | None, int]]:
    """Every measure with its mean over the queries that have a value, as in the summary, and their number."""
    for measure, values in zip(measures, scorer.score(rankings, measures).values.T, strict=True):
        known = values[~np.isnan(values)]
        yield measure, float(known.mean()) if len(known) else None, len(known)


def _losses(
    searched: Sequence[Searched],
    scorers: Scorers,
    graded: GradedQueries,
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
) -> list[LossRow]:
    """The loss of each query at each part of the pipeline, for every setting, by the scorers of the scores.

    Queries without relevant evidence have no rows. Evidence that only other parsers have found is lost by the
    parser; labels that no text contains are in no score, so they are no part of 1 minus the score either.
    """
    if not any(query.answerable for query in scorers.queries):
        return []
    measure = loss_measure(config.measures, run_headline(config))
    rows: list[LossRow] = []
    oracles: dict[Scorer, Oracle] = {}
    with context.values("orders", context.cache.orders) as stored:
        for one in searched:
            scorer, found = scorers.of(one), None
            if scorer not in oracles:
                oracles[scorer] = Oracle(scorer, parse_measure(measure), stored)
            if corpus.texts_of:
                found = graded.spans(corpus.texts_of[one.setting.name])
            levels = loss_levels(one, oracles[scorer], found)
            rows += loss_rows(one.setting.name, scorer.queries, levels, measure)
    return rows


def lost_evidence(labels: Iterable[LabelRow], anchored: AnchorResult) -> list[Judgment]:
    """The labels whose text is not in the documents as extracted, as spans of a document that does not exist.

    These are quotes that were not found, and all labels of documents that were skipped. Each is as long as
    its quote, so that it has a place in the ideal.
    """
    found = {a.row.line for a in anchored.anchorings if a.accepted}
    lost, at = [], 0
    for row in labels:
        if row.line in found:
            continue
        length = len(row.quote.strip()) or (row.end or 0) - (row.start or 0) or _UNKNOWN_LENGTH
        lost.append(Judgment(row.query_id, _LOST, at, at + length, row.grade, row.evidence, row.source))
        at += length + 1
    return lost


def label_sensitivity_rows(
    searched: Sequence[Searched], scorers: Scorers, corpus: Corpus, config: BenchConfig, context: Context
) -> list[LabelSensitivityRow]:
    """The means of every setting and stage with the labels as they are, padded, trimmed and by sentences.

    For the measures that read a length of text, such as ``ndcg_text@5000``: those are what chunkings are
    compared by. Empty where the configuration has none, or nothing is relevant.
    """
    measures = [name for name in config.measures if across_chunkings(name)]
    used = list(dict.fromkeys(map(scorers.of, searched)))
    if not measures or not any((scorer.spans.grade > 0).any() for scorer in used):
        return []
    sentences = outlines(corpus, context)
    texts = {d.doc_id: Text(len(d.text), sentences[d.doc_id].sentences) for d in corpus.documents}
    # with one parser, once for all settings
    shared = {id(scorer.spans): scorer.spans for scorer in used}
    drawn = {key: relabelled(spans, texts) for key, spans in shared.items()}
    ways = {
        scorer: {way: scorer.against(spans) for way, spans in drawn[id(scorer.spans)].items()}
        for scorer in used
    }
    rows = []
    for one in searched:
        for stage, rankings in one.rankings.items():
            for way, other in ways[scorers.of(one)].items():
                rows += [
                    LabelSensitivityRow(
                        setting=one.setting.name,
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
