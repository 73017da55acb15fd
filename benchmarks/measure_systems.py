"""The systems of the study of measures: the chunks of every setting, ranked, and the labels in every way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import meridian_pool
from harness.measures import ChunkTable, SpanQrels, Text, relabelled
from harness.measures.scorer import lay_out
from harness.measures.trail import Characters, Trail, read
from harness.running.config.models import BenchConfig
from harness.running.corpora import load_corpus
from harness.running.corpus import Corpus
from harness.running.judging.judged import GradedQueries, judged_by_people
from harness.running.search import cut_for_all, search_settings
from harness.running.session import Session
from harness.steps.chunk.health import Outline
from harness.values.progress import Silent
from harness.values.types import Query, Ranking

DEPTH = 200


@dataclass(frozen=True)
class System:
    """One chunking with its rankings, and the median length of its chunks in characters."""

    name: str
    table: ChunkTable
    rankings: tuple[Ranking, ...]

    @property
    def length(self) -> float:
        """In characters."""
        return float(np.median(self.table.length))


@dataclass(frozen=True)
class Study:
    """The data to score: the systems, the queries with relevant text, the labels in every way of drawing."""

    systems: tuple[System, ...]
    queries: tuple[Query, ...]
    ways: Mapping[str, SpanQrels]
    budget: int

    def trail(
        self,
        system: System,
        way: str,
        rankings: Sequence[Ranking] | None = None,
        drawn: SpanQrels | None = None,
    ) -> Trail:
        """The rankings of a system, or others of its chunks, read with the labels drawn in one way."""
        spans = self.ways[way] if drawn is None else drawn
        given = system.rankings if rankings is None else rankings
        chunk, offsets = lay_out(given, spans.query_ids, system.table.rows())
        return read(chunk, offsets, spans, system.table, Characters())


def prepared(config: BenchConfig, budget: int, lexical: bool, own_documents: bool) -> tuple[Study, Corpus]:
    """Search every setting and draw the labels in every way."""
    session = Session.at(config.cache, Silent())
    corpus = load_corpus(config, session.document_reader)
    judgments = judged_by_people(corpus, config).judgments
    queries = GradedQueries(corpus.queries.queries, judgments, config.relevance).to_score()
    asked = tuple(query for query in queries if query.answerable)
    own: dict[str, set[str]] | None = None
    if own_documents:
        own = defaultdict(set)
        for row in judgments:
            own[row.query_id].add(row.doc_id)
    systems = []
    for setting in config.settings:
        (point,) = cut_for_all([setting], corpus, session)
        chunks = point.chunking.chunks
        if lexical:
            index = meridian_pool.Bm25(chunks, meridian_pool.words)
            found = [index.rank(query.query_id, query.text, len(chunks)) for query in asked]
            if own is not None:
                found = [_within(ranking, own[ranking.query_id]) for ranking in found]
            found = [first(ranking, DEPTH) for ranking in found]
        else:
            kept = {query.query_id for query in asked}
            everything = search_settings([point], corpus.queries.queries, session)[0].rankings["retrieve"]
            found = [ranking for ranking in everything if ranking.query_id in kept]
        systems.append(System(setting.name, ChunkTable.of(chunks), tuple(found)))
    texts = {d.doc_id: Text(len(d.text), Outline.of(d.text).sentences) for d in corpus.documents}
    ids = tuple(query.query_id for query in asked)
    ways = relabelled(SpanQrels.from_judgments(judgments).for_queries(ids), texts)
    return Study(tuple(systems), asked, ways, budget), corpus


def _within(ranking: Ranking, documents: set[str]) -> Ranking:
    """Only the chunks of the given documents."""
    kept = [
        (chunk_id, score)
        for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True)
        if chunk_id.rpartition(":")[0] in documents
    ]
    return Ranking(ranking.query_id, tuple(c for c, _ in kept), tuple(s for _, s in kept))


def first(ranking: Ranking, depth: int) -> Ranking:
    """The first chunks of a ranking."""
    return Ranking(ranking.query_id, ranking.chunk_ids[:depth], ranking.scores[:depth])
