"""Answers → scores by the measures that a configuration asks for → rows: values and means."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness import judge
from harness.measures import AnswerMeasure, Case, in_tiers
from harness.report import AnswerScoreRow, AnswerSummaryRow
from harness.running.answering.measuring_tools import MeasuringTools
from harness.running.answering.passages_read import parts_of
from harness.running.answering.replies import Replies, counted_reasons, golden_of
from harness.running.config.answer_measures import AnswerScoringConfig
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.evaluate.scoring import means_by_split, values_of
from harness.running.loop import Loop, Visitor
from harness.running.notes import RunNotes
from harness.running.planning import Planning
from harness.steps import PendingCalls, words_of
from harness.values import Judgment, LlmError, QueryScore, by_key, finite


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers of one setting as measures saw them, and their scores by measure, one a case each."""

    setting: str
    cases: tuple[Case, ...]
    scores: Mapping[str, tuple[QueryScore, ...]]


def cases_of(
    replied: Replies, corpus: Corpus, judgments: Mapping[str, Sequence[Judgment]]
) -> tuple[Case, ...]:
    """The cases for measures, by query. What it cites is kept apart from the text."""
    cases = []
    for query in corpus.queries.queries:
        reply, read = replied.replies[query.query_id], replied.read[query.query_id]
        cases.append(
            Case(
                query=query,
                passages=tuple(passage.chunk for passage in read),
                changed=tuple(at for at, passage in enumerate(read) if passage.change == "altered"),
                parts=parts_of(corpus, query.query_id),
                answer=words_of(reply.text, cites=bool(reply.cited or reply.bad_citations)),
                reason=reply.reason,
                references=golden_of(corpus, query.query_id),
                cited=reply.cited,
                judgments=tuple(judgments.get(query.query_id, ())),
            )
        )
    return tuple(cases)


def measure_all(
    replied: Sequence[Replies],
    corpus: Corpus,
    judgments: Iterable[Judgment],
    config: AnswerScoringConfig,
    visitor: Visitor,
    notes: RunNotes,
) -> list[Measured]:
    """The scores of all settings; each measure gets all cases together, so that equal ones are asked once.

    Raises LlmError if more calls of a measure have failed than ``answer_max_unscored`` allows.
    """
    labels = by_key((judgment.query_id, judgment) for judgment in judgments)
    cases = [cases_of(reply, corpus, labels) for reply in replied]
    every = [case for some in cases for case in some]
    scores: list[dict[str, tuple[QueryScore, ...]]] = [{} for _ in replied]
    with notes.timed("measure answers"):
        for measure, scores_of in scored(every, config, visitor, notes):
            each = iter(scores_of)
            for reply, scores_here, some in zip(replied, scores, cases, strict=True):
                scores_here[measure.label] = tuple(replace(next(each), setting=reply.setting) for _ in some)
    return [
        Measured(reply.setting, some, its) for reply, some, its in zip(replied, cases, scores, strict=True)
    ]


def scored(
    cases: Sequence[Case], config: AnswerScoringConfig, visitor: Visitor, notes: RunNotes
) -> Iterator[tuple[AnswerMeasure, Sequence[QueryScore]]]:
    """The scores of all cases by every measure; all that measures can ask at a time is asked together.

    Raises LlmError if more than the share ``answer_max_unscored`` of the cases that could be scored have
    failed. A case that lacks what the measure looks at, such as an answer, could not be scored. A measure
    that is undefined for a case has not failed.
    """
    tools, measures = MeasuringTools(config), config.answer_measures
    scores_of = Loop(visitor).run({str(at): measure.run(cases, tools) for at, measure in enumerate(measures)})
    for measure, scores in zip(measures, scores_of.values(), strict=True):
        if [score.query_id for score in scores] != [case.query.query_id for case in cases]:
            raise ValueError(f"{measure.label} did not give one score for each case, in their order")
        could = [score for case, score in zip(cases, scores, strict=True) if not measure.missing(case)]
        failed = [score.reason for score in could if score.failed]
        if len(failed) > config.answer_max_unscored * len(could):
            raise LlmError(
                f"{measure.label}: {len(failed)} of {len(could)} answers could not be scored "
                f"({counted_reasons(failed, ', ')}); answer_max_unscored allows "
                f"{config.answer_max_unscored:.0%}. What was answered is in the ledger. Set "
                f"`{'panel' if measure.voters else 'answer_judge'}.ask_again: true` to ask the failed calls "
                "again, name another model, or raise the limit."
            )
        if measure.voters:
            notes.panels[measure.label] = panel_facts(scores)
        yield measure, scores


def calls_of(
    cases: Sequence[Case],
    measures: Iterable[AnswerMeasure],
    config: AnswerScoringConfig,
    planning: Planning,
) -> tuple[PendingCalls, ...]:
    """The calls that scoring would make, at most: what is asked about answers is as long as these may be.

    Nothing is computed or asked; ``planning`` has noted nothing yet.
    """
    tools = MeasuringTools(config)
    Loop(planning).run({str(at): measure.run(cases, tools) for at, measure in enumerate(measures)})
    return (*planning.calls, *(endpoint for endpoint in planning.endpoints if endpoint.estimate.calls))


def panel_facts(scores: Sequence[QueryScore]) -> dict[str, Any]:
    """How the models of a panel voted on answers: ties, missing votes by model, and how far they agree."""
    votes = [score.details["votes"] for score in scores if "votes" in score.details]
    table = np.array([list(vote.values()) for vote in votes], dtype=float)
    return {
        "answers": len(votes),
        "ties": sum(bool(score.details.get("tie")) for score in scores),
        "no_vote": {name: sum(vote[name] is None for vote in votes) for name in votes[0]} if votes else {},
        **(judge.panel_agreement(list(votes[0]), table.T) if votes else {}),
    }


def answer_rows(
    measured: Sequence[Measured], clusters: Mapping[str, str], config: BenchConfig
) -> Iterator[Any]:
    """The rows of answer_scores.csv and answer_summary.csv, the measure of the whole answer first."""
    names = [measure.label for measure in in_tiers(config.answer_measures)]
    for scores_of in measured:
        queries = [case.query for case in scores_of.cases]
        for measure, scores in ((name, scores_of.scores[name]) for name in names):
            for query, score in zip(queries, scores, strict=True):
                yield AnswerScoreRow(
                    setting=scores_of.setting,
                    query_id=query.query_id,
                    split=query.split,
                    cluster=clusters.get(query.query_id, ""),
                    measure=measure,
                    value=score.value,
                    reason=score.reason,
                    details=json.dumps(dict(score.details), ensure_ascii=False, sort_keys=True),
                )
            values = {measure: values_of(score.value for score in scores)}
            level = config.bootstrap.level
            for split, _, rows, mean in means_by_split(values, queries, clusters, level):
                reasons = [scores[i].reason for i in rows if scores[i].value is None]
                yield AnswerSummaryRow(
                    setting=scores_of.setting,
                    split=split,
                    measure=measure,
                    mean=finite(mean.value),
                    ci_low=mean.low,
                    ci_high=mean.high,
                    n_queries=mean.n,
                    n_not_scored=len(reasons),
                    reasons=counted_reasons(reasons, "; "),
                )
