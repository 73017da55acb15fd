"""Whether ranking measures predict the quality of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import CiHigh, CiLow, Measure

OVER = ("settings", "queries", "within queries")


@table(
    "answer_prediction",
    "does the ranking predict the answers?",
    key=("answer_measure", "ranking_measure", "over", "coefficient"),
    when="where answers are measured",
)
@dataclass(frozen=True, slots=True)
class AnswerPredictionRow:
    """How a measure of rankings goes with a measure of answers, by the last ranking of every setting.

    Over ``settings``: whether settings with a higher mean of one have a higher mean of the other. Over
    ``queries``: whether questions whose rankings score higher, on average over the settings, are answered
    better. ``within queries``: whether, for one and the same question, settings with a better ranking answer
    better; the mean over the questions for which both measures differ between settings. Intervals are
    percentiles of 1,000 resamples of the questions, by whole clusters where there are enough. Where less is
    better in the measure of answers, its sign is turned, so that above 0 always means: a better ranking goes
    with a better answer. docs/answers.md says how to read them.
    """

    answer_measure: Annotated[str, Column("a measure of answers", filled=True)]
    ranking_measure: Measure
    over: Annotated[str, Column("the measures that are correlated", among=OVER)]
    coefficient: Annotated[str, Column("`kendall`: tau-b; `spearman`: rho", among=("kendall", "spearman"))]
    value: Annotated[float | None, Column("-1 to 1; empty where undefined")]
    ci_low: CiLow
    ci_high: CiHigh
    n_settings: Annotated[int, Column("settings that answer")]
    n_queries: Annotated[
        int, Column("questions that count: those for which all of these settings have both values")
    ]
    reason: Annotated[str, Column("why there is no value; otherwise empty")]
