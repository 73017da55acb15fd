"""Reranking by late interaction over the token embeddings of a bi-encoder (MaxSim).

The scoring rule of ColBERT (Khattab and Zaharia, SIGIR 2020), averaged over the query's tokens, applied to
the contextual token embeddings of an ordinary bi-encoder: no projection, since an untrained one is noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness import models
from harness.models import length_sorted_batches
from harness.steps.search.rerank import LocalModelConfig, LocalModelScorer, Pair
from harness.values import by_key


class LateInteractionConfig(LocalModelConfig):
    """MaxSim: mean over query tokens of the best cosine with a token of the passage."""

    kind: Literal["late_interaction"] = "late_interaction"
    model: str = Field(
        "embedded:maxsim", description="`embedded:maxsim`, or a bi-encoder: hub id or local folder."
    )


class LateInteractionScorer(LocalModelScorer[LateInteractionConfig]):
    """Scores pairs; special tokens take no part."""

    kind = "SentenceTransformer"
    reads_once = True

    def __init__(self, config: LateInteractionConfig) -> None:
        super().__init__(config)
        self._queries: dict[str, NDArray[np.float32]] = {}

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Indices of ``pairs`` in batches of at most ``batch_tokens`` tokens of passage.

        All pairs of a passage are in one batch, so that it is encoded once for all its queries.
        """
        users = by_key((passage, index) for index, (_, passage) in enumerate(pairs))
        window = self.tokenizer.window or 1 << 30
        lengths = [min(length, window) for length in self.tokenizer.lengths(list(users))]
        owned = list(users.values())
        return [
            [index for passage in batch for index in owned[passage]]
            for batch in length_sorted_batches(lengths, self.config.batch_tokens)
        ]

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The MaxSim of every (query, passage) pair of one batch, float32 [pairs], in [-1, 1]."""
        passages = list(dict.fromkeys(passage for _, passage in pairs))
        tokens = dict(zip(passages, self._encode(passages), strict=True))
        scores = [max_sim(self._query(query), tokens[passage]) for query, passage in pairs]
        return np.asarray(scores, dtype=np.float32)

    def forget(self) -> None:
        """Forget the token embeddings of queries."""
        self._queries.clear()

    def _query(self, query: str) -> NDArray[np.float32]:
        # alone, not in a batch: its last digits must not depend on which queries came with it
        if query not in self._queries:
            self._queries[query] = self._encode([query])[0]
        return self._queries[query]

    def _encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return models.content_vectors(self.loaded(), texts)


def max_sim(query: NDArray[np.float32], passage: NDArray[np.float32]) -> float:
    """Mean over the query's tokens of the highest cosine with any token of the passage.

    Both are unit-length rows [tokens, dimension]; a text without content tokens matches nothing: -1.
    """
    if not len(query) or not len(passage):
        return -1.0
    return float((query @ passage.T).max(axis=1).mean())
