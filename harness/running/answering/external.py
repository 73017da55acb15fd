"""Answers of other pipelines → the values of measures, without running a pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness.comparison import Interval, mean_of
from harness.data import Exchange
from harness.measures import AnswerMeasure, AnswerScore, Case
from harness.report import Table
from harness.running.answering.failure_limits import refuse_failures
from harness.running.answering.tools import MeasuringTools, measures_of, pending_calls
from harness.running.config.answer_scoring import AnswerScoringConfig
from harness.running.context import Context
from harness.steps import PendingCalls
from harness.values import CorpusError, counted, interval, number


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """The scores of all questions by one measure, in their order, and their mean."""

    measure: str
    scores: tuple[AnswerScore, ...]
    mean: Interval
    less_is_better: bool

    @property
    def failed(self) -> int:
        """Questions whose value is not known, because a call has failed or there is no answer."""
        return sum(score.failed for score in self.scores)

    @property
    def undefined(self) -> int:
        """Questions for which the measure has no value."""
        return sum(score.value is None and not score.failed for score in self.scores)


def score_external(
    exchanges: Sequence[Exchange], config: AnswerScoringConfig, context: Context
) -> list[MeasureScores]:
    """Every measure over all questions; questions in the same words are one cluster of the intervals.

    Raises CorpusError if a measure needs passages whose text is not known, and LlmError where more calls
    have failed than ``answer_max_unscored`` allows.
    """
    measures, cases = _prepared(exchanges, config)
    clusters = [one.question for one in exchanges]
    tools = MeasuringTools(config, context)
    found = []
    for measure in measures:
        scores = tuple(measure.run(cases, tools))
        refuse_failures(measure, cases, scores, config.answer_max_unscored)
        values = np.array([np.nan if one.value is None else one.value for one in scores], dtype=np.float64)
        less = measure.facts.less_is_better
        found.append(MeasureScores(measure.name, scores, mean_of(values, clusters), less))
    return found


def price_external(
    exchanges: Sequence[Exchange], config: AnswerScoringConfig, context: Context
) -> tuple[PendingCalls, ...]:
    """The calls that scoring would make, as far as known: a measure that asks twice, up to its first calls.

    Raises CorpusError as ``score_external`` does.
    """
    measures, cases = _prepared(exchanges, config)
    tools = MeasuringTools(config, context)
    return pending_calls(partial(measure.run, cases, tools) for measure in measures)


def _prepared(
    exchanges: Sequence[Exchange], config: AnswerScoringConfig
) -> tuple[list[AnswerMeasure[Any]], list[Case]]:
    measures = measures_of(config)
    _refuse_unknown_texts(exchanges, measures)
    return measures, [one.as_case() for one in exchanges]


def external_table(title: str, found: Sequence[MeasureScores]) -> Table:
    """One row per measure: mean, interval, and how many questions count, failed and have no value."""
    rows = tuple(
        (
            f"{one.measure} (less is better)" if one.less_is_better else one.measure,
            number(one.mean.value),
            interval(one.mean.low, one.mean.high, one.mean.n),
            str(one.mean.n),
            str(one.failed),
            str(one.undefined),
        )
        for one in found
    )
    columns = ("measure", "mean", "95% interval", "n", "failed", "undefined")
    return Table(title, columns, rows, notes=tuple(note for one in found if (note := _reasons(one))))


def _reasons(one: MeasureScores) -> str:
    reasons = Counter(score.reason for score in one.scores if score.value is None)
    counts = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
    return f"{one.measure} has no value: {counts}." if counts else ""


def _refuse_unknown_texts(exchanges: Sequence[Exchange], measures: Sequence[AnswerMeasure[Any]]) -> None:
    reading = [measure.name for measure in measures if "passages" in measure.needs]
    unknown = [one for one in exchanges if any(not passage.text.strip() for passage in one.read)]
    if reading and unknown:
        raise CorpusError(
            f"{unknown[0].where}: the text of a passage that was read is not known "
            f"({counted(len(unknown), 'question')} in all), and {', '.join(reading)} would score what is "
            "left. Fill retrieved_contexts, or leave these measures out."
        )
    labelled = [measure.name for measure in measures if "labels" in measure.needs]
    if labelled:
        raise CorpusError(
            f"{', '.join(labelled)} needs labelled evidence, which a file of answers cannot hold. Leave it "
            "out here, or measure it in a benchmark with an `answer` section."
        )
