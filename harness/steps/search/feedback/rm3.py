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

    def expand(
        self, asked: Sequence[int], found: Sequence[FoundFirst], shares: Mapping[int, float]
    ) -> Weights:
        """The mixture, on the scale of the query: its weights sum to the number of its terms."""
        offered = {
            term: value
            for term, value in relevance_model(found).items()
            if shares[term] <= self.config.max_share
        }
        best = dict(sorted(offered.items(), key=lambda item: (-item[1], item[0]))[: self.config.fb_terms])
        total, length = sum(best.values()), float(len(asked))
        weight = self.config.weight if total else 1.0
        mixed = {term: weight * (count / len(asked)) for term, count in Counter(asked).items()}
        for term, value in best.items():
            mixed[term] = mixed.get(term, 0.0) + (1 - weight) * value / total
        return {term: length * value for term, value in mixed.items() if value > 0}


def relevance_model(found: Sequence[FoundFirst]) -> Weights:
    """The weight of each term of the chunks [≥ 1], on any scale."""
    weights: Weights = {}
    for chunk in found:
        for term, count in Counter(chunk.terms).items():
            weights[term] = weights.get(term, 0.0) + chunk.score * count / len(chunk.terms)
    return weights
