"""The tools that a run gives a judge, and the interface of judges of a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.judge.examples import Example
from harness.judge.records import Pair, Sink, Summary
from harness.models import Estimate
from harness.store import Ledger
from harness.values import Reporter


@dataclass(frozen=True, slots=True)
class JudgeTools:
    """The tools that a run gives a judge. Nothing is loaded or read before it is needed.

    ``ledger`` keeps the answers of language models; ``people_graded()`` is what people have graded for train
    queries, to be shown to a judge; ``vectors(model, texts)`` [texts, dimensions] are those of an embedding
    model of the pipeline, and ``scores(model, pairs)`` those of a reranker for (query, passage) texts, higher
    for more relevant.
    """

    ledger: Ledger
    people_graded: Callable[[], Sequence[Example]]
    vectors: Callable[[str, Sequence[str]], np.ndarray]
    scores: Callable[[str, Sequence[tuple[str, str]]], Sequence[float]]


class PoolJudge(Protocol):
    """A judge that grades a pool of (query, passage) pairs."""

    @property
    def name(self) -> str:
        """How the judge is named in every table."""

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The facts about the judge in a run record; no secret."""

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """The cost of grading, with the name of each language model; makes no call.

        Reads the pairs once for each. Empty for a judge that costs nothing.
        """

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, each handed to ``sink`` as soon as it is graded.

        Raises JudgeError if too many have no grade, and LlmError where a model cannot be asked.
        """
