"""Rocchio: the query moves towards the middle of the first chunks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from harness.search.feedback.step import Feedback, FeedbackConfig, FoundFirst, Weights


class RocchioConfig(FeedbackConfig):
    """Rocchio's method without negative examples: all chunks count alike, whatever their length and score."""

    kind: Literal["rocchio"] = "rocchio"


class Rocchio(Feedback[RocchioConfig]):
    """Rocchio, in Salton (ed.), The SMART retrieval system, 1971.

    The mean of the chunks' vectors of term frequencies, each of length 1, cut to the greatest terms and made
    as long as the query's. Rarity is left to BM25, which weighs every term by it when it searches.
    """

    def question(self, counts: Mapping[int, int]) -> Weights:
        """The query's vector, of length 1."""
        length = math.sqrt(sum(count**2 for count in counts.values()))
        return {term: count / length for term, count in counts.items()}

    def model(self, found: Sequence[FoundFirst]) -> Weights:
        """The middle of the chunks."""
        weights: Weights = {}
        for one in found:
            own = self.question(Counter(one.terms))
            for term, value in own.items():
                weights[term] = weights.get(term, 0.0) + value / len(found)
        return weights

    def size(self, weights: Mapping[int, float]) -> float:
        """The length of the vector."""
        return math.sqrt(sum(value**2 for value in weights.values()))
