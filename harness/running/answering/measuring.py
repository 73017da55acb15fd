"""Answers → the values of the measures that a configuration asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.measures import AnswerMeasure, Case
from harness.running.answering.replies import Replies, counted_reasons, golden_of
from harness.running.answering.tools import MeasuringTools, measures_of
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.steps import without_citations
from harness.values import Judgment, LlmError, Query, QueryScore


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers of one setting as measures saw them, and their scores by measure, one a case each."""

    setting: str
    cases: tuple[Case, ...]
    scores: Mapping[str, tuple[QueryScore, ...]]

    @property
    def queries(self) -> list[Query]:
        """The queries of the cases; the same for all settings."""
        return [case.query for case in self.cases]


def cases_of(one: Replies, corpus: Corpus, judgments: Mapping[str, tuple[Judgment, ...]]) -> tuple[Case, ...]:
    """The cases for measures, by query. Citations are removed from the text and kept separately."""
    cases = []
    for query in corpus.queries.queries:
        reply = one.replies[query.query_id]
        cases.append(
            Case(
                query=query,
                passages=tuple(passage.chunk for passage in one.read[query.query_id]),
                answer=None if reply.text is None else without_citations(reply.text) or reply.text,
                reason=reply.reason,
                references=golden_of(corpus, query.query_id),
                cited=reply.cited,
                judgments=judgments.get(query.query_id, ()),
            )
        )
    return tuple(cases)


def by_query(judgments: Iterable[Judgment]) -> dict[str, tuple[Judgment, ...]]:
    """Graded spans by the query that they are graded for."""
    found: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        found.setdefault(judgment.query_id, []).append(judgment)
    return {query_id: tuple(own) for query_id, own in found.items()}


def measure_all(
    replied: Sequence[Replies],
    corpus: Corpus,
    judgments: Iterable[Judgment],
    config: BenchConfig,
    context: Context,
) -> list[Measured]:
    """The scores of all settings; each measure gets all cases together, so that equal ones are asked once.

    Raises LlmError if more calls of a measure have failed than ``answer_max_unscored`` allows.
    """
    own = by_query(judgments)
    cases = [cases_of(one, corpus, own) for one in replied]
    every = [case for some in cases for case in some]
    tools = MeasuringTools(config.answer_scoring, context)
    scores: list[dict[str, tuple[QueryScore, ...]]] = [{} for _ in replied]
    for measure in measures_of(config.answer_scoring):
        with context.timed("measure answers"):
            found = measure.run(every, tools)
        if [one.query_id for one in found] != [case.query.query_id for case in every]:
            raise ValueError(f"{measure.name} did not give one score for each case, in their order")
        refuse_failures(measure, every, found, config.answer_max_unscored)
        scored = iter(found)
        for one, its, some in zip(replied, scores, cases, strict=True):
            its[measure.name] = tuple(replace(next(scored), setting=one.setting) for _ in some)
    return [Measured(one.setting, some, its) for one, some, its in zip(replied, cases, scores, strict=True)]


def refuse_failures(
    measure: AnswerMeasure[Any], cases: Sequence[Case], scores: Sequence[QueryScore], most: float
) -> None:
    """Raise LlmError if more than the share ``most`` of the cases that could be scored have failed.

    A case that lacks what the measure looks at, such as an answer, could not be scored. A measure that is
    undefined for a case has not failed.
    """
    could = [score for case, score in zip(cases, scores, strict=True) if not measure.missing(case)]
    failed = [score.reason for score in could if score.failed]
    if len(failed) > most * len(could):
        raise LlmError(
            f"{measure.name}: {len(failed)} of {len(could)} answers could not be scored "
            f"({counted_reasons(failed, ', ')}); answer_max_unscored allows {most:.0%}. What was answered is "
            "in the ledger. Set `answer_judge.ask_again: true` to ask the failed calls again, name another "
            "model, or raise the limit."
        )
