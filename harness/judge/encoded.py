"""The encoder of a judge by vectors: its settings, and the vectors of queries and passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
from pydantic import Field

from harness.judge.calibration import Floats
from harness.judge.pair_grades import Pair
from harness.judge.scored import ScoredConfig, ScoredJudge
from harness.models import BiEncoderConfig, EncoderConfig
from harness.values import Run


class EncodedConfig(BiEncoderConfig, ScoredConfig):
    """Base of the settings of judges by vectors."""

    query_prefix: str = Field("", description="A prefix for every query, for models trained with one.")
    passage_prefix: str = Field("", description="A prefix for every passage, for models trained with one.")

    @property
    def served(self) -> bool:
        """Whether an endpoint gives the vectors."""
        return self.endpoint is not None

    @property
    def scorer(self) -> EncoderConfig:
        """The encoder."""
        return self.embed

    @property
    def model_names(self) -> tuple[str, ...]:
        """The bi-encoder."""
        return (self.model,)


Configured = TypeVar("Configured", bound=EncodedConfig)


class EncodedJudge(ScoredJudge[Configured], Generic[Configured]):
    """Base of judges by vectors."""

    def vectors(self, pairs: Sequence[Pair]) -> Run[tuple[Floats, Floats]]:
        """The vectors of the query and of the passage of every pair, of length 1, float64 [pairs, d] each.

        Equal texts are embedded once, all in one pass of the model.
        """
        c = self.config
        queries = [c.query_prefix + pair.query.text for pair in pairs]
        passages = [c.passage_prefix + pair.passage.text for pair in pairs]
        texts = {text: at for at, text in enumerate(dict.fromkeys([*queries, *passages]))}
        rows = np.asarray((yield from self.tools.vectors(list(texts), c.embed)), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1.0)
        return rows[[texts[text] for text in queries]], rows[[texts[text] for text in passages]]
