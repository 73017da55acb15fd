"""BM25 over the terms of the chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, SerializeAsAny, model_validator

from harness.steps.search.depth import DECIMALS, Doubles, Ints, SearchDepth, best, ranked
from harness.steps.search.feedback import KINDS as FEEDBACKS
from harness.steps.search.feedback.step import Feedback, FeedbackConfig, FoundFirst, Weights
from harness.steps.search.retrieve.lexical import TermIds, Terms, TermsConfig
from harness.steps.search.retrieve.sparse import Postings, Saturation
from harness.steps.search.step import (
    Identity,
    Passages,
    RetrievalResult,
    Retriever,
    RetrieverConfig,
    SearchOne,
)
from harness.steps.search.tools import Tools
from harness.values import Query, Ranking, Section

# Lv and Zhai's own values: CIKM 2011 for BM25+, SIGIR 2011 for BM25L.
_DELTA = {"bm25+": 1.0, "bm25l": 0.5}


class Bm25Config(TermsConfig, RetrieverConfig):
    """BM25: ranks by the terms a chunk shares with the query. Loads no model."""

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
    feedback: Annotated[SerializeAsAny[FeedbackConfig] | None, Section("feedback")] = Field(
        None,
        description="Pseudo-relevance feedback: search once, then again with terms from the top results.",
    )

    @model_validator(mode="after")
    def _has_delta(self) -> Self:
        if self.delta is not None and self.method not in _DELTA:
            raise ValueError(f"delta is for the methods bm25+ and bm25l; {self.method} has none")
        return self


class Bm25Retriever(Retriever[Bm25Config]):
    """Builds the index in memory and scores every query against all chunks.

    A score is the sum over the terms that query and chunk share; ``bm25+`` and ``bm25l`` add delta to these
    terms alone (Lv and Zhai, CIKM and SIGIR 2011). A chunk is a hit where its score is above
    zero. A query without such terms has an empty ranking. A term that the query repeats counts as often (no
    k3).
    """

    def identity(self, tools: Tools) -> Identity:
        """The settings, what decides the terms, the synonyms of the file included, and feedback."""
        left_out = {"rewrite", "filter", "user_dictionary", "synonyms", "feedback"}
        own = self.config.model_dump(mode="json", exclude=left_out)
        feedback = self.config.feedback
        more: list[Any] = [] if feedback is None else [FEEDBACKS.make(feedback).identity()]
        # rankings that were kept before delta was for shared terms alone are others
        more += ["delta of shared terms"] if self.config.method in _DELTA else []
        return [own, Terms(self.config).identity, *more]

    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> RetrievalResult:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        with tools.timed("retrieve"):
            index = Index.of(self.config, passages, tools)
            feedback = self.config.feedback
            if feedback is None:
                return RetrievalResult([index.search(query, index.asked(query)) for query in queries])
            method = FEEDBACKS.make(feedback)
            asked = [index.fed_back(query, method) for query in queries]
            rankings = [index.search(query, weights) for query, weights in zip(queries, asked, strict=True)]
            expanded = [
                replace(query, text=index.words(weights))
                for query, weights in zip(queries, asked, strict=True)
            ]
            return RetrievalResult(rankings, asked=tuple(expanded))

    @contextmanager
    def warm(self, passages: Passages, tools: Tools) -> Iterator[SearchOne]:
        """The same search, indexed beforehand."""
        index, feedback = Index.of(self.config, passages, tools), self.config.feedback
        if feedback is None:
            yield lambda query: index.search(query, index.asked(query))
            return
        method = FEEDBACKS.make(feedback)
        yield lambda query: index.search(query, index.fed_back(query, method))


@dataclass(frozen=True, slots=True)
class Index:
    """The chunks of a setting by their terms, ready to be searched."""

    terms: Terms
    known: TermIds
    passages: Passages
    depth: SearchDepth
    postings: Postings

    @classmethod
    def of(cls, config: Bm25Config, passages: Passages, tools: Tools) -> Index:
        """Index the passages, in memory."""
        terms = Terms(config)
        known = terms.of_passages(passages, tools)
        delta = _DELTA.get(config.method, 0.0) if config.delta is None else config.delta
        average = float(known.lengths.mean()) if len(known.terms) else 1.0
        saturation = Saturation(config.method, config.k1, config.b, average, delta)
        return cls(terms, known, passages, SearchDepth.of(config, passages), Postings.of(known, saturation))

    def asked(self, query: Query) -> Weights:
        """The terms of a query that any passage has; each counts as often as it is asked for."""
        found: Weights = {}
        for term in self.terms.of_query(query.text, self.known.vocabulary):
            found[term] = found.get(term, 0.0) + 1.0
        return found

    def search(self, query: Query, asked: Weights) -> Ranking:
        """Rank the chunks by weighted terms."""
        hits, scores = self._hits(asked)
        return ranked(query.query_id, hits, scores, self.depth, self.passages.ids)

    def fed_back(self, query: Query, feedback: Feedback[Any]) -> Weights:
        """The terms of a query and of the chunks it finds first; its own where it finds none."""
        asked = self.asked(query)
        rows, scores = best(*self._hits(asked), feedback.config.fb_docs)
        if not len(rows):
            return asked
        first = [
            FoundFirst(self.known.row(row), score)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        ]
        held = {
            term: self.postings.holding(term) / self.postings.chunks for one in first for term in one.terms
        }
        repeated = [term for term, times in asked.items() for _ in range(int(times))]
        return feedback.expand(repeated, first, held)

    def words(self, asked: Weights) -> str:
        """Weighted terms in words, the weightiest first: ``pump^1.2 recal^0.8``."""
        names = list(self.known.vocabulary)
        ordered = sorted(asked.items(), key=lambda one: (-round(one[1], DECIMALS), names[one[0]]))
        return " ".join(f"{names[term]}^{weight:.3g}" for term, weight in ordered)

    def _hits(self, asked: Weights) -> tuple[Ints, Doubles]:
        """The chunks that share a term that counts, and their scores."""
        earned = self.postings.scores(asked)
        hits = np.flatnonzero(earned)
        scores = earned[hits]
        counted = np.round(scores, DECIMALS) > 0
        return hits[counted], scores[counted]
