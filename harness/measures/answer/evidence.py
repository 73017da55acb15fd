"""Which labelled evidence a passage that was read holds, and when a measure of citations counts it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.measure import AnswerMeasureConfig
from harness.measures.projection import Projection, Rule
from harness.values import Chunk, Judgment

Fact = tuple[str, str, int, int]


class CitationConfig(AnswerMeasureConfig):
    """Base of the configurations of measures of citations."""

    rel: int = Field(1, ge=1, le=4, description="The lowest grade of a span that counts as evidence.")
    rule: Rule = Field(
        "half_of_span_or_chunk",
        description="When a passage holds a labelled span: that of `measures.projection`; where the label "
        "names the words that answer, the passage must hold all of them.",
    )

    @property
    def projection(self) -> Projection:
        """When a passage holds a span."""
        return Projection(self.rule)


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence in one passage: the names of relevant facts, and whether anything about it is judged."""

    facts: frozenset[Fact]
    judged: bool


def fact_of(judgment: Judgment) -> Fact:
    """The fact of a span: copies that share an evidence name state one fact, others one each."""
    if judgment.evidence:
        return (judgment.evidence, "", 0, 0)
    return ("", judgment.doc_id, judgment.start, judgment.end)


def facts_of(case: Case, rel: int) -> frozenset[Fact]:
    """All facts of grade ``rel`` or higher that are labelled for the query."""
    return frozenset(map(fact_of, _relevant(case.judgments, rel)))


def holdings(case: Case, rel: int, projection: Projection) -> list[PassageEvidence]:
    """The evidence in each passage, in the order read.

    A passage holds a span as a chunk covers it in NDCG (``projection``). Where the label names the words that
    answer, it must hold all of those instead, as in ``ndcg_evidence``. A span whose judgment failed says
    nothing about a passage.
    """
    found = []
    for passage in case.passages:
        covered = [one for one in case.judgments if one.grade is not None and holds(passage, one, projection)]
        found.append(PassageEvidence(frozenset(map(fact_of, _relevant(covered, rel))), bool(covered)))
    return found


def holds(passage: Chunk, judgment: Judgment, projection: Projection) -> bool:
    """Whether a passage shows a span."""
    if passage.doc_id != judgment.doc_id:
        return False
    if judgment.answer is not None:
        start, end = judgment.answer
        return _shared(passage, start, end) == end - start
    shared = _shared(passage, judgment.start, judgment.end)
    if not shared:
        return False
    span, own = judgment.end - judgment.start, sum(end - start for start, end in passage.spans)
    covered = projection.covers(*(np.array([length]) for length in (shared, span, own)))
    return bool(covered[0])


def _relevant(judgments: Iterable[Judgment], rel: int) -> Iterable[Judgment]:
    return (one for one in judgments if one.grade is not None and one.grade >= rel)


def _shared(passage: Chunk, start: int, end: int) -> int:
    """The characters of a range that a passage shows; its spans lie apart from each other."""
    return sum(max(0, min(end, last) - max(start, first)) for first, last in passage.spans)
