"""The base of judges without an LLM: a model's scores or the passages themselves give the grades."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator

from harness.judge.config import PoolJudgeConfig
from harness.judge.records import Pair, PairGrade, Sink, Summary
from harness.models import Estimate
from harness.values import Judgment, Reporter


def _rising(thresholds: tuple[float, ...]) -> tuple[float, ...]:
    if any(low >= high for low, high in pairwise(thresholds)):
        raise ValueError("thresholds rise: the scores from which grades 1, 2, 3 and 4 begin")
    return thresholds


Thresholds = Annotated[tuple[float, float, float, float], AfterValidator(_rising)]
"""The scores from which grades 1, 2, 3 and 4 begin."""


C = TypeVar("C", bound=PoolJudgeConfig)


class FreeJudge(ABC, Generic[C]):
    """Grades the passages of one query after another, at no cost."""

    def __init__(self, config: C) -> None:
        self.config = config

    @property
    def name(self) -> str:
        """How the judge is named in every table."""
        return self.config.title

    def estimates(self, pairs: Iterable[Pair]) -> Sequence[tuple[str, Estimate]]:
        """Nothing: no language model is asked."""
        return []

    def grade(
        self, pairs: Iterable[Pair], sink: Sink, *, reporter: Reporter, total: int | None = None
    ) -> Summary:
        """Grade the pairs, one query at a time; same contract as LlmJudge.grade, at no cost."""
        summary = Summary(judge=self.name)
        with reporter.task(f"judging with {self.name}", total or 0) as task:
            for _, group in groupby(pairs, key=lambda pair: pair.query.query_id):
                together = list(group)
                for graded in self.graded(together):
                    if graded.judgment.grade is None:
                        summary.unscored[graded.reason] = summary.unscored.get(graded.reason, 0) + 1
                    sink(graded)
                summary.pairs += len(together)
                task.advance(len(together))
        return summary

    def one(self, pair: Pair, grade: int | None, reason: str = "") -> PairGrade:
        """A pair with its grade, or the ``reason`` why it has none."""
        query_id, span = pair.query.query_id, pair.passage
        judgment = Judgment(
            query_id, span.doc_id, span.start, span.end, grade, source=self.name, judge=self.name
        )
        return PairGrade(pair, judgment, () if grade is None else (grade,), reason=reason)

    @abstractmethod
    def graded(self, pairs: Sequence[Pair]) -> Iterable[PairGrade]:
        """The passages of one query, graded."""
