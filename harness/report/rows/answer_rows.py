"""The answers of settings, how good they are, and where they are lost."""

from __future__ import annotations

from typing import Annotated

from harness.report.table_spec import ChunkId, CiHigh, CiLow, QueryId, QuerySplit, Setting, table
from harness.values import Column

AnswerMeasureName = Annotated[str, Column("a measure of answers", filled=True)]
_WHEN = "where a setting has an `answer` section"
_MEASURED = "where answers are measured (`answer_measures`)"


@table("replies", "what was answered", key=("setting", "query_id"), when=_WHEN)
class ReplyRow:
    """The answer of one setting to one query.

    Tokens, price and seconds are those of the call that brought the answer, whether this run made it or an
    earlier one; they are empty if no language model was asked.
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
class ReplyPassageRow:
    """A passage that was read to answer a query; its text is in ``passages.csv`` unless it was changed."""

    setting: Setting
    query_id: QueryId
    place: Annotated[int, Column("its place in the prompt, from 1: the number by which it is cited")]
    rank: Annotated[
        int | None, Column("its rank in the last ranking of the setting, from 1; empty: it is not from there")
    ]
    chunk_id: ChunkId
    cited: Annotated[bool, Column("`yes` where the answer cites it")]
    change: Annotated[
        str,
        Column(
            "`noise`: a passage without the answer took this place (`read: {kind: noise}`); `altered`: its "
            "facts were changed (`read: {kind: counterfactual}`); empty: it was read as found",
            among=("", "noise", "altered"),
        ),
    ] = ""
    text: Annotated[str, Column("the text as it was read, where it was changed; otherwise empty")] = ""


@table("answer_scores", "every value of every answer", key=("setting", "query_id", "measure"), when=_MEASURED)
class AnswerScoreRow:
    """The value of one measure for one answer. What is not scored has no value, which is not 0."""

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    cluster: Annotated[str, Column("as in `per_query.csv`")]
    measure: AnswerMeasureName
    value: Annotated[float | None, Column("the value; empty where there is none")]
    reason: Annotated[str, Column("why there is no value, or that a panel was tied or lacked votes")]
    details: Annotated[
        str,
        Column(
            "how it was derived, as JSON: statements with their verdicts, and the like; `{}` if there is "
            "nothing"
        ),
    ]


@table("answer_summary", "how good the answers are", key=("setting", "split", "measure"), when=_MEASURED)
class AnswerSummaryRow:
    """The mean of one measure of answers over the queries of a split that have a value.

    Intervals are those of ``summary.csv``. A mean leaves out what is not scored, and ``n_not_scored`` says
    how much that is.
    """

    setting: Setting
    split: Annotated[str, Column("`train`, `validation` or `all`", filled=True)]
    measure: AnswerMeasureName
    mean: Annotated[float | None, Column("the mean; empty where no answer has a value")]
    ci_low: CiLow
    ci_high: CiHigh
    n_queries: Annotated[int, Column("queries in the mean")]
    n_not_scored: Annotated[int, Column("queries without a value")]
    reasons: Annotated[str, Column("why they have none, each reason with its count, the most frequent first")]


NOT_EXTRACTED, CUT, NOT_FOUND, TOO_LOW = "not extracted", "cut apart", "not found", "ranked too low"
LEFT_OUT, CONTRADICTS, ADDS = "left out", "contradicts", "adds"
SOMETHING_ELSE, WITHOUT = "something else", "without evidence"

ANSWER_PARTS = {
    NOT_EXTRACTED: "the evidence is not in the extracted text",
    CUT: "no chunk holds it",
    NOT_FOUND: "a chunk holds it, but the setting did not retrieve it",
    TOO_LOW: "it was found, but ranked too low to be read",
    LEFT_OUT: "it was read, and the answer leaves it out",
    CONTRADICTS: "it was read, and the answer contradicts the golden answer",
    ADDS: "it was read, and the answer adds what the golden answer does not say",
    SOMETHING_ELSE: "it was read, and the answer says something else: whether it contradicts or adds "
    "is not known",
    WITHOUT: "right without the evidence being read; below 0, as it offsets losses",
}
"""How an answer loses, from the first part to the last."""

_LISTED = "; ".join(f"`{part}`: {what}" for part, what in ANSWER_PARTS.items())


@table(
    "answer_losses",
    "where answers are lost",
    key=("setting", "query_id", "part"),
    when="if answers are measured against golden ones and evidence is labelled",
)
class AnswerLossRow:
    """The loss of one answer at one part of the way, and the value left after it.

    The unit is ``measure``, the one of ``answer_measures`` that compares with the golden answer:
    ``answer_correctness`` where it is measured, else ``token_f1``, else ``exact_match``. From a perfect 1
    each part takes its loss; the losses of a query sum to 1 minus its value, and so in the mean.

    Up to what is read, every labelled fact counts the same: one of four facts that was not read costs 1/4,
    charged to the part that lost it. What the answer then falls short of the share of facts read is charged
    to ``left out`` and to what the answer says beyond the golden one, in the proportion of what it lacks in
    recall and in precision. A model that scored the statements tells what ``contradicts`` from what ``adds``;
    without one, an answer that holds every word of the golden answer adds to it, one that gives one other
    figure for the only figure of the golden answer contradicts it, and the rest is ``something else``.
    An answer that is better than that share earns the rest back under ``without evidence``: it was right
    without having read all that is labelled. Queries without a golden answer, without labelled evidence or
    without an answer have no rows. docs/answers.md has an example.
    """

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    measure: Annotated[str, Column("the answer measure that is decomposed", filled=True)]
    part: Annotated[str, Column(f"what happened to the evidence: {_LISTED}", among=tuple(ANSWER_PARTS))]
    loss: Annotated[float, Column("what is lost there")]
    left: Annotated[
        float, Column("the best value still possible after it; at the end, the value of the measure")
    ]

    @property
    def step(self) -> str:
        """'': the parts of the way to an answer are those of no single step."""
        return ""
