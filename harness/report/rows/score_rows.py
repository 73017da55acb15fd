"""Scores: means, every value, the queries, means under labels of other lengths; what top scores tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from harness.report.table_spec import CiHigh, CiLow, Measure, QueryId, QuerySplit, Setting, Stage, table
from harness.values import Column, listed

WHY = {
    "unanswerable": "unanswerable",
    "ungraded": "never graded",
    "irrelevant": "graded, with nothing relevant",
}
"""The reasons for which a query is left out, as they are called in tables, and in words."""
SEED_RATIO = "seed_ratio@"
"""How the measure begins that has a value at one stage alone, the reranker that predicts grades."""


@table("summary", "means", key=("setting", "stage", "split", "measure"), some=True)
class SummaryRow:
    """The mean of one measure over the queries of a split.

    The interval is the wider of Student's and Hall's t on either side, between clusters of queries where
    there are enough of them (docs/statistics.md); ``harness show``, ``harness compare`` and the page have
    the same one. With fewer than five queries it is in the file but is not shown: it says less than it
    seems to.
    """

    setting: Setting
    stage: Stage
    split: Annotated[str, Column("`train`, `validation` or `all`", filled=True)]
    measure: Measure
    mean: Annotated[float | None, Column("the mean; empty where no query has a value")]
    ci_low: CiLow
    ci_high: CiHigh
    n_queries: Annotated[int, Column("queries in the mean")]
    n_unanswerable: Annotated[
        int,
        Column(
            "queries left out because the query file calls them unanswerable (none for `judged@k` and "
            "`tokens@k`, which have a value for every query with a ranking)"
        ),
    ]
    n_failed: Annotated[
        int,
        Column(
            "queries without a ranking (they score 0 and count) or with text that the judge could not grade "
            "(they count, and that text is unjudged)"
        ),
    ]
    judge: Annotated[str, Column("who graded")] = ""
    n_ungraded: Annotated[int, Column("queries left out because no text has been graded for them")] = 0
    n_irrelevant: Annotated[int, Column("queries left out because nothing graded is relevant")] = 0

    @property
    def left_out(self) -> dict[str, int]:
        """How many queries have no value, by reason."""
        return {why: getattr(self, f"n_{why}") for why in WHY}


def left_out_words(counts: Mapping[str, int]) -> str:
    """A sentence on how many queries are left out for each reason; '' if none are."""
    parts = [f"{count:,} {words}" for why, words in WHY.items() if (count := counts.get(why))]
    return f"Left out: {listed(parts, len(parts))}." if parts else ""


@table("per_query", "every value", key=("setting", "stage", "query_id", "measure"), some=True, kw_only=True)
class ScoreRow:
    """The value of one measure for one query."""

    setting: Setting
    stage: Stage
    query_id: QueryId
    split: QuerySplit
    cluster: Annotated[
        str,
        Column(
            "the group of queries it is tested with: the column of that name in the query file, else the "
            "document of its evidence; empty where it has neither"
        ),
    ] = ""
    measure: Measure
    value: Annotated[float | None, Column("the value; empty where the measure is undefined for the query")]


@table("queries", "the queries", key=("query_id",), extra_columns=True)
class QueryRow:
    """One query, and all that the query file says of it: its other columns follow under their names."""

    query_id: QueryId
    text: Annotated[str, Column("the query")]
    split: QuerySplit
    answerable: Annotated[bool, Column("`no` if the documents are known to contain no answer")]
    cluster: Annotated[str, Column("as in `per_query.csv`")] = ""
    type: Annotated[str, Column("its type, if the query file has one")] = ""


@table(
    "label_sensitivity",
    "does it depend on the length of the labels?",
    key=("setting", "stage", "measure", "labels"),
    when="if a measure depends on the length of text",
)
class LabelSensitivityRow:
    """The mean of a measure that reads a length of text, with the labels drawn in one of several ways.

    These are ``ndcg_evidence@B``, ``ndcg_text@B`` and those in tokens. ``harness compare`` prints the means,
    and names the differences that it calls real and whose sign turns under one of the ways: they say more of
    the labels than of the settings. docs/conventions.md describes the measures,
    [a study](study-measure.md) shows which of them hold.
    """

    setting: Setting
    stage: Stage
    measure: Measure
    labels: Annotated[
        str,
        Column(
            "`as labelled`, `padded by 100`, `250` and `700` characters on either side, `trimmed to 50 %` "
            "and `25 %` (the middle of each), `whole sentences` and `a sentence more` on either side (700 "
            "characters at most)",
            filled=True,
        ),
    ]
    label_p50: Annotated[
        float,
        Column(
            "the median length of a relevant label; `record.json` has that of the given labels as "
            "`counts.label_characters_p50`",
            unit="characters",
        ),
    ]
    mean: Annotated[float | None, Column("the mean over all queries")]
    n_queries: Annotated[int, Column("queries in the mean")]


@table(
    "reading",
    "how does the score run with what is read?",
    key=("setting", "stage", "measure"),
    when="if a measure depends on the length of text in characters",
)
class ReadingRow:
    """The mean of the measure that settings are compared by, if so many characters were read.

    The depths are 500 to 20,000 characters. A setting may be best for one reader and not for another who
    reads further: ``harness show`` and the page draw the means, and the verdict says from which depth on
    another setting leads.
    """

    setting: Setting
    stage: Stage
    measure: Annotated[str, Column("the measure with its depth, such as `ndcg_evidence@500`", filled=True)]
    characters: Annotated[int, Column("how far is read", unit="characters")]
    mean: Annotated[float | None, Column("the mean over all queries")]
    read: Annotated[
        float,
        Column(
            "the share of what is read that rankings hold: below 0.95 more might have been found by deeper "
            "ones, and the mean is too low"
        ),
    ]


@table(
    "answerability",
    "does the top score show whether there is an answer?",
    key=("setting", "stage"),
    when="if some queries have no answer",
)
class AnswerabilityRow:
    """How well the top score of a ranking tells answerable from unanswerable queries.

    Queries that nobody has graded text for are neither, unless they are marked.
    """

    setting: Setting
    stage: Stage
    auroc: Annotated[
        float, Column("the chance that an answerable query has a higher top score than an unanswerable one")
    ]
    ci_low: CiLow
    ci_high: CiHigh
    n_answerable: Annotated[int, Column("queries with relevant text, of grade `answerable_from` or more")]
    n_unanswerable: Annotated[int, Column("queries marked unanswerable, or with all graded text below it")]
    remark: Annotated[str, Column("a note where either group has fewer than five queries")] = ""


@table("thresholds", "answering only from a given score upwards", when="if some queries have no answer")
class ThresholdRow:
    """The effect of answering only queries whose top score reaches a threshold."""

    setting: Setting
    stage: Stage
    threshold: Annotated[
        float, Column("the lowest top score that is answered; `inf`: none is", infinite=True)
    ]
    answerable_kept: Annotated[float, Column("the share of answerable queries that are answered")]
    unanswerable_refused: Annotated[float, Column("the share of unanswerable queries that are not answered")]


@table(
    "seed_ratio",
    "not NDCG",
    key=("setting", "stage", "query_id"),
    when="where `relevance: {seed_ratio: 5}` asks for it",
)
class SeedRatioRow:
    """How far retrieval agrees with the reranker, *not* NDCG; docs/conventions.md says what it is worth."""

    setting: Setting
    stage: Annotated[str, Column("the reranker that predicts grades, the last of several; `retrieve`: none")]
    query_id: QueryId
    split: QuerySplit
    depth: Annotated[int, Column("how many of the chunks retrieved first are graded")]
    seed_ratio: Annotated[float | None, Column("the ratio; empty where it is undefined")]
    reason: Annotated[str, Column("why it is undefined")]
