"""BM25 over the terms of the chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness.steps.search import step
from harness.steps.search.depth import DECIMALS, Doubles, Ints, SearchDepth, ranked
from harness.steps.search.needs import Built, Cluster, TermsOf
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.lexical import Postings, Saturation, TermIds, Terms, TermsConfig, rarity
from harness.steps.search.tools import Spread
from harness.values import Query, Ranking, Run

# Lv and Zhai's own values: CIKM 2011 for BM25+, SIGIR 2011 for BM25L.
_DELTA = {"bm25+": 1.0, "bm25l": 0.5}
# chunks that a worker reads and searches at once
_SHARD = 16_384


class Bm25Config(TermsConfig, step.RetrieverConfig):
    """BM25: ranks by the terms a chunk shares with the query. Loads no model."""

    gone: ClassVar = {"feedback": "this key was removed. Use `minmax`, which fuses words and vectors."}
    kind: Literal["bm25"] = "bm25"
    method: Literal["lucene", "robertson", "atire", "bm25+", "bm25l"] = Field(
        "lucene",
        description="The formula, by the names of Kamphuis et al. (ECIR 2020). `robertson` gives nothing for "
        "a term that is in half of the chunks.",
    )
    delta: float | None = Field(
        None,
        ge=0,
        description="For `bm25+` and `bm25l`: what every term of the query that a chunk has earns above its "
        "frequency, however long the chunk; empty: 1 and 0.5, as their authors propose.",
    )

    @model_validator(mode="after")
    def _has_delta(self) -> Self:
        if self.delta is not None and self.method not in _DELTA:
            raise ValueError(f"delta is for the methods bm25+ and bm25l; {self.method} has none")
        return self

    def saturation(self, term_ids: TermIds) -> Saturation:
        """How the frequency of a term saturates among these chunks."""
        delta = _DELTA.get(self.method, 0.0) if self.delta is None else self.delta
        average = float(term_ids.lengths.mean()) if len(term_ids.terms) else 1.0
        return Saturation(self.method, self.k1, self.b, average, delta)


class Bm25Retriever(step.Retriever[Bm25Config]):
    """Builds the index in memory and scores every query against all chunks.

    A score is the sum over the terms that query and chunk share; ``bm25+`` and ``bm25l`` add delta to these
    terms alone (Lv and Zhai, CIKM and SIGIR 2011). A chunk is a hit where its score is above
    zero. A query without such terms has an empty ranking. A term that the query repeats counts as often (no
    k3).
    """

    one_by_one = True

    def identity(self, fingerprint: step.Fingerprint) -> step.Identity:
        """The settings, and what decides the terms, the synonyms of the file included."""
        left_out = {"rewrite", "filter", "field", "context", "user_dictionary", "synonyms"}
        facts = self.config.model_dump(mode="json", exclude=left_out)
        # rankings that were kept before delta was for shared terms alone are others
        more = ["delta of shared terms"] if self.config.method in _DELTA else []
        return [facts, Terms(self.config).identity, *more]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[step.RetrievalResult]:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        config, depth = self.config, SearchDepth.of(self.config, passages.lengths)
        spread: Spread | None = yield Cluster()
        terms: Terms = yield Built(lambda: Terms(config), ("terms", passages.key))
        read = None if spread is None else partial(_terms_of, config=config, spread=spread)
        term_ids: TermIds = yield TermsOf(terms, passages, read)
        if spread is not None:
            return step.RetrievalResult(self._in_shards(passages, queries, terms, term_ids, spread))
        postings = yield Built(
            lambda: Postings.of(term_ids, config.saturation(term_ids)), ("postings", passages.key)
        )
        most = yield Built(lambda: depth.most, ("depth", passages.key))
        rankings = []
        for query in queries:
            # each term that counts, as often as it is asked for
            term_counts = Counter(terms.of_query(query.text, term_ids.vocabulary))
            rankings.append(best(query, [postings.best(term_counts, most)], depth, passages.ids))
        return step.RetrievalResult(rankings)

    def _in_shards(
        self,
        passages: Passages,
        queries: Sequence[Query],
        terms: Terms,
        term_ids: TermIds,
        spread: Spread,
    ) -> list[Ranking]:
        """As one index: the rarity of terms and the average length are those of all shards together."""
        depth = SearchDepth.of(self.config, passages.lengths)
        saturation, ends = self.config.saturation(term_ids), len(term_ids.lengths)
        idf = rarity(np.diff(term_ids.counts().indptr), ends, saturation.method)
        term_counts = [Counter(terms.of_query(query.text, term_ids.vocabulary)) for query in queries]
        parts = [(begin, term_ids.part(begin, begin + _SHARD)) for begin in range(0, max(1, ends), _SHARD)]
        job = partial(_search, saturation, idf, term_counts, depth.most)
        hits_of = [hits for _, hits in sorted(spread(job, parts), key=itemgetter(0))]
        return [
            best(query, hits, depth, passages.ids) for query, *hits in zip(queries, *hits_of, strict=True)
        ]


def best(
    query: Query, rows: Iterable[tuple[Ints, Doubles]], depth: SearchDepth, ids: Sequence[str]
) -> Ranking:
    """The ranking of what may be among the best: chunks [n] and their scores [n], shard by shard."""
    hits, scores = (np.concatenate(part) for part in zip(*rows, strict=True))
    counted = np.round(scores, DECIMALS) > 0
    return ranked(query.query_id, hits[counted], scores[counted], depth, ids)


def _terms_of(texts: Sequence[str], config: TermsConfig, spread: Spread) -> TermIds:
    """The terms of texts, read by the workers, and numbered as they first occur."""
    parts = [(begin, texts[begin : begin + _SHARD]) for begin in range(0, len(texts), _SHARD)]
    vocabulary: dict[str, int] = {}
    terms, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
    for _, shard in sorted(spread(partial(_read, config), parts), key=itemgetter(0)):
        numbers = [vocabulary.setdefault(term, len(vocabulary)) for term in shard.vocabulary]
        terms.append(np.array(numbers, dtype=np.int32)[shard.terms])
        lengths.append(shard.lengths)
    return TermIds(np.concatenate(terms), np.cumsum(np.concatenate(lengths)), vocabulary)


def _read(config: TermsConfig, part: tuple[int, Sequence[str]]) -> tuple[int, TermIds]:
    return part[0], Terms(config).of_texts(part[1])


def _search(
    saturation: Saturation,
    idf: Doubles,
    term_counts: Sequence[Counter[int]],
    most: int,
    part: tuple[int, TermIds],
) -> tuple[int, list[tuple[Ints, Doubles]]]:
    """For every query the chunks of a shard that may be among its best, and their scores."""
    begin, postings_of = part
    postings = Postings.of(postings_of, saturation, idf)
    found = (postings.best(terms, most) for terms in term_counts)
    return begin, [(hits + begin, scores) for hits, scores in found]
