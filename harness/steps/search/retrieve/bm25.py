"""BM25 over the terms of the chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness.steps.search import step
from harness.steps.search.depth import DECIMALS, SearchDepth, ranked
from harness.steps.search.retrieve.lexical import Postings, Saturation, TermIds, Terms, TermsConfig
from harness.steps.search.tools import Tools
from harness.values import Query, Ranking

# Lv and Zhai's own values: CIKM 2011 for BM25+, SIGIR 2011 for BM25L.
_DELTA = {"bm25+": 1.0, "bm25l": 0.5}


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


class Bm25Retriever(step.Retriever[Bm25Config]):
    """Builds the index in memory and scores every query against all chunks.

    A score is the sum over the terms that query and chunk share; ``bm25+`` and ``bm25l`` add delta to these
    terms alone (Lv and Zhai, CIKM and SIGIR 2011). A chunk is a hit where its score is above
    zero. A query without such terms has an empty ranking. A term that the query repeats counts as often (no
    k3).
    """

    def identity(self, tools: Tools) -> step.Identity:
        """The settings, and what decides the terms, the synonyms of the file included."""
        left_out = {"rewrite", "filter", "user_dictionary", "synonyms"}
        own = self.config.model_dump(mode="json", exclude=left_out)
        # rankings that were kept before delta was for shared terms alone are others
        more = ["delta of shared terms"] if self.config.method in _DELTA else []
        return [own, Terms(self.config).identity, *more]

    def run(self, passages: step.Passages, queries: Sequence[Query], tools: Tools) -> step.RetrievalResult:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        with tools.timed("retrieve"):
            index = Index.of(self.config, passages, tools)
            return step.RetrievalResult(list(map(index.search, queries)))

    @contextmanager
    def warm(self, passages: step.Passages, tools: Tools) -> Iterator[step.SearchOne]:
        """The same search, indexed beforehand."""
        yield Index.of(self.config, passages, tools).search


@dataclass(frozen=True, slots=True)
class Index:
    """The chunks of a setting by their terms, ready to be searched."""

    terms: Terms
    known: TermIds
    passages: step.Passages
    depth: SearchDepth
    postings: Postings
    most: int

    @classmethod
    def of(cls, config: Bm25Config, passages: step.Passages, tools: Tools) -> Index:
        """Index the passages, in memory."""
        terms = Terms(config)
        known = terms.of_passages(passages, tools)
        delta = _DELTA.get(config.method, 0.0) if config.delta is None else config.delta
        average = float(known.lengths.mean()) if len(known.terms) else 1.0
        saturation = Saturation(config.method, config.k1, config.b, average, delta)
        depth = SearchDepth.of(config, passages)
        return cls(terms, known, passages, depth, Postings.of(known, saturation), depth.most)

    def search(self, query: Query) -> Ranking:
        """Rank the chunks that share a term that counts; each counts as often as it is asked for."""
        asked = Counter(self.terms.of_query(query.text, self.known.vocabulary))
        hits, scores = self.postings.best(asked, self.most)
        counted = np.round(scores, DECIMALS) > 0
        return ranked(query.query_id, hits[counted], scores[counted], self.depth, self.passages.ids)
