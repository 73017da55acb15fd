"""Where answers are lost, from the documents to the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import QueryId, QuerySplit, Setting

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
@dataclass(frozen=True, slots=True)
class AnswerLossRow:
    """What one answer loses at one part of the way, and what is left after it.

    The unit is ``measure``, the one of ``answer_measures`` that compares with the golden answer:
    ``answer_correctness`` where it is measured, else ``token_f1``, else ``exact_match``. From a perfect 1
    each part takes its loss; the losses of a question sum to 1 minus its value, and so in the mean.

    Up to what is read, every labelled fact counts the same: one of four facts that was not read costs 1/4,
    charged to the part that lost it. What the answer then falls short of the share of facts read is charged
    to ``left out`` and to what the answer says beyond the golden one, in the proportion of what it lacks in
    recall and in precision. A model that scored the statements tells what ``contradicts`` from what ``adds``;
    without one, an answer that holds every word of the golden answer adds to it, one that gives one other
    figure for the only figure of the golden answer contradicts it, and the rest is ``something else``.
    An answer that is better than that share earns the rest back under ``without evidence``: it was right
    without having read all that is labelled. Questions without a golden answer, without labelled evidence or
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
