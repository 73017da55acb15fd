"""What a run lends to a judge, and what every judge of a pool can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from harness.judge.examples import Example
from harness.judge.records import Pair, Sink, Summary
from harness.llm.money import Estimate
from harness.progress import Reporter
from harness.store.ledger import Ledger


class Encoder(Protocol):
    """Turns texts into vectors, one row each."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of shape (texts, dimensions)."""


class PairScorer(Protocol):
    """Scores (query, passage) texts, one number each, higher for more relevant."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One score per pair."""


class JudgeTools(Protocol):
    """The side of a run that judges may use. Nothing is loaded or read before it is asked for."""

    @property
    def ledger(self) -> Ledger:
        """Where answers of language models are kept."""

    def people_graded(self) -> Sequence[Example]:
        """What people have graded for train queries, to be shown to a judge."""

    def encoder(self, model: str) -> Encoder:
        """An embedding model of the pipeline."""

    def scorer(self, model: str) -> PairScorer:
        """A reranker of the pipeline."""


class PoolJudge(Protocol):
    """A judge that grades a pool of (query, passage) pairs."""

    @property
    def name(self) -> str:
        """How the judge is named in every table."""

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What a run record keeps of the judge; no secret."""

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """What grading would take, with the name of each language model that is asked; asks nothing.

        Reads the pairs once for each. Empty for a judge that costs nothing.
        """

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, each handed to ``sink`` as soon as it is graded.

        Raises JudgeError where too many have no grade, and LlmError where a model cannot be asked.
        """
