"""The smallest step of every sort, as a contributor would write it: one class, its configuration, no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from harness.steps import (
    Fusion,
    FusionConfig,
    PairScorer,
    RerankerConfig,
    RetrievalResult,
    Retriever,
    RetrieverConfig,
    Rewriter,
    RewriterConfig,
    SearchDepth,
    ranked,
)


class WordsConfig(RetrieverConfig):
    """Ranks by shared words."""

    kind: Literal["toy_words"] = "toy_words"


class Words(Retriever[WordsConfig]):
    """A chunk scores by the words it shares with the query."""

    def identity(self, fingerprint):
        return ["toy_words", self.config.top_k, self.config.top_chars]

    def run(self, passages, queries):
        rankings = []
        for query in queries:
            asked = set(query.text.lower().split())
            scores = np.array(
                [len(asked & set(text.lower().split())) for text in passages.texts], dtype=float
            )
            depth, rows = SearchDepth.of(self.config, passages.lengths), np.arange(len(scores))
            rankings.append(ranked(query.query_id, rows, scores, depth, passages.ids))
        return RetrievalResult(rankings)


class BestRankConfig(FusionConfig):
    """The best rank of any route."""

    kind: Literal["toy_best_rank"] = "toy_best_rank"


class BestRank(Fusion[BestRankConfig]):
    def combine(self, rankings, weights):
        scores = {}
        for ranking in rankings:
            for rank, chunk_id in enumerate(ranking.chunk_ids, start=1):
                scores[chunk_id] = max(scores.get(chunk_id, 0.0), 1 / rank)
        return scores


class ShoutConfig(RewriterConfig):
    """Asks in capitals."""

    kind: Literal["toy_shout"] = "toy_shout"


class Shout(Rewriter[ShoutConfig]):
    def run(self, queries):
        return [replace(query, text=query.text.upper()) for query in queries]


class NamedConfig(RewriterConfig):
    """Asks for words with a capital or a digit, the first aside; without any, nothing."""

    kind: Literal["toy_named"] = "toy_named"


class Named(Rewriter[NamedConfig]):
    repeatable = True

    def phrasings(self, queries):
        asked = []
        for query in queries:
            words = [w for w in query.text.split()[1:] if w != w.lower() or any(map(str.isdigit, w))]
            asked.append((replace(query, text=" ".join(words)),) if words else ())
        return asked


class ShortestConfig(RerankerConfig):
    """Short passages first."""

    kind: Literal["toy_shortest"] = "toy_shortest"

    @property
    def model_name(self):
        return "none"


class Shortest(PairScorer):
    def __init__(self, config):
        self.config = config

    @property
    def fingerprint(self):
        return "toy_shortest"

    def describe(self):
        return {"name": "none"}

    def batches(self, pairs):
        return [list(range(len(pairs)))]

    def score(self, pairs):
        return np.array([-len(passage) for _, passage in pairs], dtype=np.float32)

    def try_out(self):
        pass
