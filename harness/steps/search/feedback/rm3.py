"""RM3: a relevance model of the first chunks, mixed with the query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from harness.steps.search.feedback.step import Feedback, FeedbackConfig, FoundFirst, Weights


class Rm3Config(FeedbackConfig):
    """A relevance model: adds the terms that chunks use most, each chunk weighted by its score."""

    kind: Literal["rm3"] = "rm3"


class Rm3(Feedback[Rm3Config]):
    """Lavrenko and Croft, SIGIR 2001; mixed with the query as by Abdul-Jaleel et al., TREC 2004.

    P(t|R) ∝ Σ_d score(d) · tf(t, d) / |d| over the first chunks, cut to the likeliest terms, which then sum
    to 1; a term of the query has tf / |q|. BM25's score takes the place of the query's likelihood.
    """

    def question(self, counts: Mapping[int, int]) -> Weights:
        """The share of each term in the query."""
        total = sum(counts.values())
        return {term: count / total for term, count in counts.items()}

    def model(self, found: Sequence[FoundFirst]) -> Weights:
        """The relevance model."""
        weights: Weights = {}
        for one in found:
            for term, count in Counter(one.terms).items():
                weights[term] = weights.get(term, 0.0) + one.score * count / len(one.terms)
        return weights

    def size(self, weights: Mapping[int, float]) -> float:
        """Their sum."""
        return sum(weights.values())
