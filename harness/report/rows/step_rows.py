"""Single steps: filters, losses by step, the routes of a fusion, and the health of chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from harness.report.table_spec import Measure, QueryId, QuerySplit, Setting, Stage, table
from harness.values import Column, by_key


@table(
    "filters", "what a filter found in each query", key=("setting", "step", "query_id"), when="with a filter"
)
class FilterRow:
    """The values that a filter found in a query, and the labelled text that it left out.

    A filter is *wrong* for a query where a document with relevant text is not among those left: restricted,
    the search cannot find it; boosted, other documents are put before it. Text that a judge grades was
    retrieved, so there ``wrong`` counts what some other setting has found.
    """

    setting: Setting
    step: Annotated[str, Column("the step that searches; with a dot, a route", filled=True)]
    query_id: QueryId
    mode: Annotated[str, Column("how the remaining documents are used", among=("restrict", "boost"))]
    named: Annotated[
        str, Column("what the query names, as `column=value|value`, separated by `; `; empty: nothing")
    ]
    dropped: Annotated[
        str,
        Column(
            "columns that were ignored because no document has everything that is named; separated by blanks"
        ),
    ]
    documents: Annotated[int, Column("documents that remain; all of them if nothing is named")]
    of: Annotated[int, Column("documents that are searched without the filter")]
    labelled: Annotated[int, Column("documents with text that is relevant to the query")]
    excluded: Annotated[
        str, Column("those that the filter excludes, with evidence that no other holds, separated by blanks")
    ]
    failed: Annotated[str, Column("why it is unknown what the query names; empty: it is known")]


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """Counts of queries for one filter: all, those that name something, those with a column set aside.

    ``wrong`` is for how many of the ``labelled`` ones a document with relevant text is left out; ``failed``
    how many have no answer of a language model. ``left`` is the mean number of documents left.
    """

    queries: int
    named: int
    dropped: int
    labelled: int
    wrong: int
    failed: int
    left: float
    of: float


def count_filters(rows: Iterable[FilterRow]) -> dict[tuple[str, str], FilterCounts]:
    """The counts of every filter, by setting and step."""
    return {
        which: FilterCounts(
            queries=len(filter_rows),
            named=sum(bool(row.named) for row in filter_rows),
            dropped=sum(bool(row.dropped) for row in filter_rows),
            labelled=sum(row.labelled > 0 for row in filter_rows),
            wrong=sum(bool(row.excluded) for row in filter_rows),
            failed=sum(bool(row.failed) for row in filter_rows),
            left=sum(row.documents for row in filter_rows) / len(filter_rows),
            of=sum(row.of for row in filter_rows) / len(filter_rows),
        )
        for which, filter_rows in by_key(((row.setting, row.step), row) for row in rows).items()
    }


PARSER, CHUNKING, FILTER = "parser", "chunking", "filter"
CANDIDATES, ORDER, CHANGE = "candidates", "order", "change"

PARTS = {
    PARSER: "not in the extracted text",
    CHUNKING: "split up, or amid other text",
    FILTER: "in documents that a filter leaves out",
    CANDIDATES: "not returned by the search",
    ORDER: "found, but too far down",
    CHANGE: "made worse by a later step; below 0 where it made it better",
}
"""How each part loses evidence, from the first to the last; only a change may be a gain."""

_IN_WORDS = {
    PARSER: "not read by the parser",
    CHUNKING: "badly chunked",
    FILTER: "filtered out",
    CANDIDATES: "not found",
    ORDER: "ranked too low",
}


def part_in_words(name: str) -> str:
    """What a part, by its name, does to the evidence that it loses; a change is named by its step."""
    return _IN_WORDS.get(name, f"by the {name} step")


_LISTED = "; ".join(f"`{part}`: {what}" for part, what in PARTS.items())


@table(
    "waterfall",
    "where quality is lost",
    key=("setting", "query_id", "step", "part"),
    when="if a query has relevant text",
)
class LossRow:
    """The loss of one query of a setting at one part of a step, and the score left after it.

    The unit is ``measure``: the headline, where that reads text (``ndcg_evidence@B``, ``ndcg_text@B`` and
    those in tokens). A headline of chunks, such as ``ndcg_exp@10``, cannot say what cutting costs; then it is
    the first of these families that was scored, else ``ndcg_text@10000``. From a perfect 1 each part takes
    its loss; the last ``left`` is the score of ``per_query.csv``. So the losses of a query sum to 1 minus its
    score, and so in the mean over the queries with relevant text.

    A filter that restricts the whole search has a part of its own, ``filter``; that of a route is part of
    what the route does not retrieve. The first step that ranks is charged twice: ``candidates`` is what its
    best order of what it found falls short of the best order of all chunks left, ``order`` what its own order
    falls short of that. Each later step has one ``change``. The routes of a fusion (a step with a dot, such
    as ``retrieve.bm25``) are not part of the sum: their rows say what would have been lost, and left, if the
    route were used alone. Leave them out when you add up.

    Queries without relevant text have no rows. The part ``parser`` is there where parsers are compared: it is
    the share of the ideal that only other parsers have found. A label that is in no extracted text counts in
    no score, so it is no part of 1 minus the score either; ``anchoring.csv`` lists it. docs/statistics.md
    says how the best order is found, and what ``bound`` is.

    ``harness show results/<name> --worst 10`` lists the queries that score lowest by ``measure``, the part
    that cost most, the query and the passage that came first; ``--setting`` takes another setting than
    the best.
    """

    setting: Setting
    query_id: QueryId
    split: QuerySplit
    measure: Measure
    step: Annotated[
        str, Column("`parse`, `chunk`, or a step that ranks, named as in the other tables", filled=True)
    ]
    part: Annotated[str, Column(f"what happened to evidence: {_LISTED}", among=tuple(PARTS))]
    loss: Annotated[float, Column("what is lost there")]
    left: Annotated[float, Column("the best score still possible after it; at the end, the score")]
    bound: Annotated[
        float | None,
        Column(
            "what no order can exceed, where `left` is that of the best order known; empty where it is exact"
        ),
    ] = None


@table(
    "routes", "what each route brings to a fusion", key=("setting", "stage"), when="where routes are fused"
)
class RouteRow:
    """How much of the first k of a fusion is in the first k of each of its routes, and of no other.

    Routes that share nearly all find the same: one of them may do. What no route has among its first k has
    risen by being far up in several.
    """

    setting: Setting
    stage: Stage
    fused: Annotated[str, Column("the fusion that the route is part of", filled=True)]
    k: Annotated[int | None, Column("the first cutoff in ranks among the measures; empty: the whole ranking")]
    share: Annotated[
        float | None,
        Column(
            "the share of the fusion's first k, over all queries, that the route also found; empty: "
            "nothing was found"
        ),
    ]
    share_alone: Annotated[float | None, Column("the share that only this route of the fusion found")]
    exact_share: Annotated[
        float | None,
        Column("the share of the truly nearest chunks that the route found; empty for lexical search"),
    ] = None


@table("chunks", "chunk statistics", key=("setting",))
class ChunkRow:
    """The health of one setting's chunks.

    Lengths are in tokens of the embedding model, its special tokens included, as the encoder sees them. The
    bins of the histogram begin at 0, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 2048 and 4096 tokens;
    the last one is open.

    A table is a run of three or more lines without a blank line between, each with at least two numbers
    standing alone (``1,200``, ``(1,100)``, ``$900``, ``25%``; blanks or ``|`` around them). Extracted text
    has no ruled lines, so this is a rule of thumb: prose with two figures in each of three lines counts too,
    a table of words does not.
    """

    setting: Setting
    chunks: Annotated[int, Column("how many")]
    tokens_mean: Annotated[float, Column("their mean length", unit="tokens")]
    tokens_p5: Annotated[int, Column("one in twenty is shorter", unit="tokens")]
    tokens_p50: Annotated[int, Column("their median length", unit="tokens")]
    tokens_p95: Annotated[int, Column("one in twenty is longer", unit="tokens")]
    tokens_max: Annotated[int, Column("the longest", unit="tokens")]
    share_under_32: Annotated[
        float, Column("the share with fewer than 32 tokens: headings, leftovers, page numbers")
    ]
    share_overlong: Annotated[
        float | None,
        Column(
            "the share longer than the encoder reads; the rest of each is not searched (the run warns). "
            "Empty where its window is unknown"
        ),
    ]
    share_cut_mid_sentence: Annotated[
        float, Column("the share that ends inside a sentence, according to the sentence splitter")
    ]
    tables_cut: Annotated[int, Column("tables that no chunk contains completely")]
    share_covered_twice: Annotated[
        float, Column("the share of covered characters that are in more than one chunk")
    ]
    index_tokens: Annotated[
        int,
        Column(
            "what the encoder reads to index all chunks: each up to its window, equal chunks counted each "
            "time",
            unit="tokens",
        ),
    ]
    histogram: Annotated[str, Column("the number of chunks in each bin of length, separated by blanks")]
