"""What settings answered, what they read for it, and how good the answers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import ChunkId, CiHigh, CiLow, QueryId, QuerySplit, Setting

AnswerMeasureName = Annotated[str, Column("a measure of answers", filled=True)]
_WHEN = "where a setting has an `answer` section"
_MEASURED = "where answers are measured (`answer_measures`)"


@table("replies", "what was answered", key=("setting", "query_id"), when=_WHEN)
@dataclass(frozen=True, slots=True)
class ReplyRow:
    """The answer of one setting to one question.

    Tokens, price and seconds are those of the call that brought the answer, whether this run made it or an
    earlier one; they are empty where no language model was asked.
    """

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    answered_by: Annotated[str, Column("the prompt and the model, or the kind that needs none", filled=True)]
    answer: Annotated[str, Column("the answer as it was given; empty where there is none")]
    reason: Annotated[str, Column("why there is no answer; otherwise empty")]
    golden: Annotated[str, Column("the golden answer of the query file, several as a JSON list; empty: none")]
    passages: Annotated[int, Column("how many passages were read; `reply_passages.csv` has them")]
    bad_citations: Annotated[
        int, Column("marks in the answer that look like citations but match no passage that was read")
    ]
    prompt_tokens: Annotated[int | None, Column("tokens the model read", unit="tokens")]
    completion_tokens: Annotated[int | None, Column("tokens the model wrote", unit="tokens")]
    price: Annotated[float | None, Column("what the call cost, in the currency of `prices`; empty: unknown")]
    seconds: Annotated[float | None, Column("how long the call took", unit="seconds")]


@table(
    "reply_passages",
    "the passages that were read to answer",
    key=("setting", "query_id", "place"),
    when=_WHEN,
)
@dataclass(frozen=True, slots=True)
class ReplyPassageRow:
    """A passage that was read to answer a question. Its text stands in ``passages.csv``."""

    setting: Setting
    query_id: QueryId
    place: Annotated[int, Column("its place in the prompt, from 1: the number by which it is cited")]
    rank: Annotated[int, Column("its rank in the last ranking of the setting, from 1")]
    chunk_id: ChunkId
    cited: Annotated[bool, Column("`yes` where the answer cites it")]


@table("answer_scores", "every value of every answer", key=("setting", "query_id", "measure"), when=_MEASURED)
@dataclass(frozen=True, slots=True)
class AnswerScoreRow:
    """The value of one measure for one answer. What is not scored has no value, which is not 0."""

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    cluster: Annotated[str, Column("as in `per_query.csv`")]
    measure: AnswerMeasureName
    value: Annotated[float | None, Column("the value; empty where there is none")]
    reason: Annotated[str, Column("why there is no value; otherwise empty")]
    details: Annotated[
        str,
        Column(
            "how it was derived, as JSON: statements with their verdicts, and the like; `{}` if there is "
            "nothing"
        ),
    ]


@table("answer_summary", "how good the answers are", key=("setting", "split", "measure"), when=_MEASURED)
@dataclass(frozen=True, slots=True)
class AnswerSummaryRow:
    """The mean of one measure of answers over the questions of a split that have a value.

    Intervals are those of ``summary.csv``. A mean leaves out what is not scored, and ``n_not_scored`` says
    how much that is.
    """

    setting: Setting
    split: Annotated[str, Column("`train`, `validation` or `all`", filled=True)]
    measure: AnswerMeasureName
    mean: Annotated[float | None, Column("the mean; empty where no answer has a value")]
    ci_low: CiLow
    ci_high: CiHigh
    n_queries: Annotated[int, Column("questions in the mean")]
    n_not_scored: Annotated[int, Column("questions without a value")]
    reasons: Annotated[str, Column("why they have none, each reason with its count, the most frequent first")]


@table(
    "answer_comparisons",
    "whose answers are better",
    key=("measure", "setting", "against"),
    when="where the answers of several settings are measured",
)
@dataclass(frozen=True, slots=True)
class AnswerComparisonRow:
    """A setting against the one with the highest mean of a measure, on the questions that all have a value.

    The interval and ``p`` are those of ``harness compare`` (docs/statistics.md): they hold for all settings
    of one measure at once.
    """

    measure: AnswerMeasureName
    setting: Setting
    against: Annotated[str, Column("the setting with the best mean", filled=True)]
    n: Annotated[int, Column("questions with a value for every setting")]
    n_left_out: Annotated[int, Column("questions with a value for only some settings")]
    difference: Annotated[float, Column("the mean of `setting` minus that of `against`")]
    ci_low: CiLow
    ci_high: CiHigh
    p: Annotated[float, Column("the probability of a difference this large if there is none")]
    finding: Annotated[
        str,
        Column(
            "`real`: the interval excludes 0; `open`: it does not; `few`: fewer than 30 questions",
            among=("real", "open", "few", "turns"),
        ),
    ]
