"""The grades of a pool, held as columns: ten thousand judgments without their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

import numpy as np

from harness.judge import PairGrade, Pairs
from harness.report import JudgmentRow
from harness.values import Document, Judgment

T = TypeVar("T")
_NONE = -1


class LazyRows(Sequence[T], Generic[T]):
    """A sequence whose rows are made when they are asked for, and not kept."""

    def __init__(self, count: int, row: Callable[[int], T]) -> None:
        self._count = count
        self._row = row

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return [self._row(number) for number in range(*at.indices(self._count))]
        return self._row(range(self._count)[at])

    def __iter__(self) -> Iterator[T]:
        return map(self._row, range(self._count))


class GradedPool:
    """Takes the judge's answers in any order and gives them back in the order of the pool."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self._grades = np.full(len(pairs), _NONE, dtype=np.int8)
        self._spread = np.zeros(len(pairs), dtype=np.int8)
        # NaN: unknown
        self.costs = np.full(len(pairs), np.nan)
        self._sources = [""] * len(pairs)
        # few different ones, each kept once: the judge and its prompt, the grades of the samples, the reason
        self._shared: dict[tuple[object, ...], tuple[str, str, tuple[int, ...], str]] = {}
        self._common: list[tuple[str, str, tuple[int, ...], str] | None] = [None] * len(pairs)

    def keep(self, graded: PairGrade) -> None:
        """Take one graded pair of the pool."""
        at, judgment = graded.pair.number, graded.judgment
        self._grades[at] = _NONE if judgment.grade is None else judgment.grade
        self._spread[at] = graded.spread
        self.costs[at] = np.nan if graded.cost is None else graded.cost
        self._sources[at] = judgment.source
        common = (judgment.judge, judgment.prompt_sha, graded.samples, graded.reason)
        self._common[at] = self._shared.setdefault(common, common)

    @property
    def judgments(self) -> Sequence[Judgment]:
        """The judgments, in the order of the pool."""
        return LazyRows(len(self._pairs), self._judgment)

    @property
    def rows(self) -> Sequence[JudgmentRow]:
        """The rows of the table of judgments, in the order of the pool."""
        return LazyRows(len(self._pairs), self._table_row)

    @property
    def failed(self) -> frozenset[str]:
        """The ids of the queries with a pair that has no grade."""
        queries = np.frombuffer(self._pairs.columns[0], dtype=np.int32)
        return frozenset(self._pairs.queries[at].query_id for at in np.unique(queries[self._grades == _NONE]))

    def _judgment(self, at: int) -> Judgment:
        query, document, start, end = (column[at] for column in self._pairs.columns)
        judge, prompt_sha, _, _ = self._common[at] or _not_graded(at)
        return Judgment(
            query_id=self._pairs.queries[query].query_id,
            doc_id=self._pairs.documents[document].doc_id,
            start=start,
            end=end,
            grade=self._grade(at),
            source=self._sources[at],
            judge=judge,
            prompt_sha=prompt_sha,
        )

    def _table_row(self, at: int) -> JudgmentRow:
        _, _, samples, reason = self._common[at] or _not_graded(at)
        cost = float(self.costs[at])
        return judgment_row(
            self._judgment(at),
            self._pairs.documents[self._pairs.columns[1][at]],
            scored_on=True,
            reason=reason,
            samples=" ".join(map(str, samples)),
            spread=int(self._spread[at]),
            cost=None if np.isnan(cost) else cost,
        )

    def _grade(self, at: int) -> int | None:
        grade = int(self._grades[at])
        return None if grade == _NONE else grade


def judgment_row(
    judgment: Judgment,
    document: Document,
    *,
    scored_on: bool,
    reason: str = "not graded",
    samples: str = "",
    spread: int = 0,
    cost: float | None = None,
) -> JudgmentRow:
    """One row of the table of judgments; ``reason`` is where there is no grade."""
    return JudgmentRow(
        query_id=judgment.query_id,
        document=judgment.doc_id,
        start=judgment.start,
        end=judgment.end,
        page=document.page_of(judgment.start),
        evidence=judgment.evidence,
        answer="-".join(map(str, judgment.answer or ())),
        grade=judgment.grade,
        reason="" if judgment.grade is not None else reason,
        judge=judgment.judge,
        scored_on=scored_on,
        samples=samples,
        spread=spread,
        cost=cost,
        text=document.text[judgment.start : judgment.end],
    )


def _not_graded(at: int) -> tuple[str, str, tuple[int, ...], str]:
    raise RuntimeError(f"the judge has returned nothing for pair {at}")
