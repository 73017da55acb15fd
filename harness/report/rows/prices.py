"""The cost of settings in tokens, money and time, and of judging them."""

from __future__ import annotations

from typing import Annotated

from harness.report.table_spec import Setting, Stage, table
from harness.values import Column


@table(
    "prices",
    "what quality costs",
    key=("setting", "stage", "measure"),
)
class PriceRow:
    """The cost of one setting and stage, and what a reader reads for each measure.

    Price and score are of one depth: for ``ndcg_exp@10`` the tokens of the first ten chunks are counted
    (``tokens@10``), for ``ndcg_evidence@5000`` those within the first 5,000 characters (``tokens@5000
    characters``). There the chunk in which the budget ends counts by the share of it that is read. All other
    costs are of the search, the same for every measure. Tokens are those of the embedding model, without
    special tokens but in ``index_tokens``.

    Times belong to one run, so they are in ``record.json``, which with ``report.html`` (and ``latency.csv``
    on another machine) is all that differs between two runs of one configuration. Under ``counts.settings``
    every setting has, by stage, ``seconds`` (wall time from chunking to that stage) and ``computed_share``
    (the share of its vectors and pairs that this run computed; 0: all came from the cache, and the seconds
    say nothing about the setting). Settings of a run share what they have in common, and the first one that
    needs it pays the seconds: compare times only where ``computed_share`` is 1. What a query takes is
    measured apart, alone and in a batch: ``latency: {queries: 50}`` in the configuration writes
    ``latency.csv``, by step, and the page draws quality against it. The four columns ``latency_…`` are its
    times up to and including the stage.

    ``build_seconds``, ``index_bytes`` and ``latency_…`` are the exception: they are measured once, when an
    index is built or queries are timed, and kept in the cache, so that runs over that cache on one machine
    have the same values. Two results that differ only in these count as the same. Of the first two a route
    has those of its own index; a fusion and the steps after it have the sum. Under a filter that leaves
    documents out, they are sums over the indexes of all sets of documents that it leaves.

    ``tokens@k`` can also be asked for as a measure, with a value for every query. It is a price: less is
    better, no setting is chosen by it, and ``harness compare`` and ``harness gate`` refuse it as their
    measure. ``harness compare`` tells which settings are on the front of quality against the tokens that its
    measure reads (no other is as good and as cheap, and better in one of the two; nor does a better one
    score more per token), and the verdict names a cheaper one only if it loses no more than the tolerance.
    """

    setting: Setting
    stage: Stage
    measure: Annotated[str, Column("the measure that the price belongs to", filled=True)]
    mean: Annotated[float | None, Column("its mean over all queries")]
    depth: Annotated[
        str, Column("how far it reads: `10 ranks`, `5000 characters`, `whole ranking`", filled=True)
    ]
    characters_ranked: Annotated[
        float,
        Column(
            "the mean length of a whole ranking; where it is below the budget of `ndcg_evidence@B`, rankings "
            "are too shallow for it (a run warns of each setting where that is so)",
            unit="characters",
        ),
    ]
    tokens_read: Annotated[
        float | None,
        Column(
            "what a reader, or a language model, reads down to that depth: the mean over all queries. Text "
            "in two chunks is read twice",
            unit="tokens",
        ),
    ]
    tokens_per_point: Annotated[
        float | None,
        Column(
            "`tokens_read / (100 · mean)`, for each hundredth of the measure; empty where the mean is 0",
            unit="tokens",
        ),
    ]
    index_tokens: Annotated[
        int | None,
        Column(
            "as in `chunks.csv`, and with what `context` puts around chunks; empty where another pipeline "
            "has indexed",
            unit="tokens",
        ),
    ]
    rerank_pairs: Annotated[
        int, Column("pairs the reranker reads for all queries; 0 before it", unit="pairs")
    ]
    rerank_tokens: Annotated[
        int,
        Column("the tokens of their passages, each once, with context where it is read", unit="tokens"),
    ]
    judge_cost: Annotated[
        float | None,
        Column("what its judgments would have cost alone; empty without a judge or price", unit="money"),
    ]
    rewrite_cost: Annotated[
        float | None,
        Column(
            "what language models were paid for rewriting all queries up to this stage, in this run or an "
            "earlier one; 0 without any; empty: the price is unknown",
            unit="money",
        ),
    ] = None
    context_cost: Annotated[
        float | None,
        Column(
            "what language models and endpoints were paid once for what is indexed around chunks "
            "(`context`), that of routes too, for all chunks, in this run or an earlier one; 0 without any; "
            "empty: the price is unknown",
            unit="money",
        ),
    ] = None
    read_cost: Annotated[
        float | None,
        Column(
            "what language models and endpoints were paid once for the texts that are read in place of "
            "chunks (`read`), for all chunks, in this run or an earlier one; 0 without any; empty: the price "
            "is unknown",
            unit="money",
        ),
    ] = None
    cost_per_1000: Annotated[
        float | None,
        Column(
            "what endpoints charge for a thousand such queries: rewriting, their vectors and the scores of "
            "their pairs, without the vectors of chunks and the judge; empty: a price is unknown, or a "
            "language model filters",
            unit="money",
        ),
    ] = None
    endpoint_cost: Annotated[
        float | None,
        Column(
            "what the vectors of its chunks and queries, those by which an existing collection is checked, "
            "and the scores of its pairs cost alone at the endpoints or language models that gave them, "
            "whenever bought; empty without one or a price",
            unit="money",
        ),
    ] = None
    index_cost: Annotated[
        float | None,
        Column(
            "the part of `endpoint_cost` for the vectors of its chunks, which is what indexing again would "
            "cost; empty without an endpoint or a price",
            unit="money",
        ),
    ] = None
    exact_share: Annotated[
        float | None,
        Column(
            "the recall of the index: the share of the truly nearest chunks that it returned, as found by "
            "our full scan, or by the store's own in an existing collection; empty for keyword search, for "
            "fusions, and where nothing was scanned"
        ),
    ] = None
    filter_share: Annotated[
        float | None,
        Column(
            "the selectivity of the filter: the share of all chunks that it leaves a query, or raises with "
            "`boost`, as a mean over queries; empty without a filter"
        ),
    ] = None
    rows_share: Annotated[
        float | None,
        Column(
            "the selectivity of `only`: the share of the rows of an existing collection that have its "
            "values, as the store counts them; empty without it"
        ),
    ] = None
    build_seconds: Annotated[
        float | None,
        Column(
            "the time to fill the index or the store, not counting its vectors; empty: nothing was "
            "built, as for `exact`, `bm25` and an existing collection, or it is unknown",
            unit="seconds",
        ),
    ] = None
    index_bytes: Annotated[
        int | None,
        Column(
            "the size of the index's files, with all that the store keeps beside the vectors; on a server "
            "and for an existing collection, as the store reports it; empty: there is no index, or its size "
            "is unknown",
            unit="bytes",
        ),
    ] = None
    latency_p50: Annotated[
        float | None,
        Column(
            "what a query takes of the search up to and including the stage, the median; empty: not measured",
            unit="milliseconds",
        ),
    ] = None
    latency_p95: Annotated[float | None, Column("the same, 95th percentile", unit="milliseconds")] = None
    latency_p99: Annotated[float | None, Column("the same, 99th percentile", unit="milliseconds")] = None
    latency_in_batch: Annotated[
        float | None,
        Column(
            "the mean of it where the measured queries are asked in one batch; empty: not measured",
            unit="milliseconds",
        ),
    ] = None


@table("costs", "what the judge has cost", key=("setting",), when="with a judge that is paid")
class CostRow:
    """The cost of the judgments that one setting uses."""

    setting: Setting
    judgments: Annotated[int, Column("how many")]
    cost_alone: Annotated[
        float | None, Column("what it would have cost by itself; empty: unknown", unit="money")
    ]
    cost_shared: Annotated[
        float | None,
        Column(
            "each judgment split among the settings that use it, which adds up to the bill; empty: unknown",
            unit="money",
        ),
    ]


_OWN = "the time of the step alone"
_TOTAL = "the search up to and including the step, with all rewriting for it"


@table(
    "latency",
    "how long a query takes, alone and in a batch",
    key=("setting", "stage"),
    when="with `latency: {queries: 50}` or similar, and for hits of another pipeline that have `seconds`",
)
class LatencyRow:
    """How long one step of a setting takes for a query, on the machine of the run.

    Queries are asked once more after everything else, one after the other, with models loaded and indexes
    open; the first few are asked beforehand and not counted. So an embedding is computed for each query, a
    store is searched as in a deployment (Chroma and FAISS without the check against a full scan), and the
    time to build an index is not part of it. Then the same queries are asked in one batch: models embed and
    rerank as many at a time as in a run, and a store gets all of them in one call. Routes of a fusion are
    asked one after the other. Under a filter each query is searched in an index of the documents that it
    names, as in the run; a filter that a retriever or a route has for itself is part of that.
    ``multi_vector`` reads its token vectors from the cache for each query, as in the run. For an answer of
    a language model it is the time that its call took when it was paid for, which the ledger has; calls
    that wait for no other are made at once. Services and endpoints are not asked again, and code of your
    own only with ``latency: {own_code: true}``; ``remark`` says so. What is measured is kept in the cache
    and not measured again on the same machine before `harness cache --clear`. It is not part of the
    outcome: two results that differ in this file alone are the same.

    Of hits that another pipeline returned these are the times in their column ``seconds``; nothing is asked.
    """

    setting: Setting
    stage: Annotated[
        str,
        Column(
            "the step: `rewrite` and `filter` are those of the setting, `read` replaces chunks by what is "
            "read; with a dot, a route",
            filled=True,
        ),
    ]
    queries: Annotated[
        int, Column("the number of queries measured; with fewer than 100, p99 is close to the maximum")
    ]
    p50: Annotated[float | None, Column(f"{_OWN}, the median", unit="milliseconds")]
    p95: Annotated[float | None, Column(f"{_OWN}, 95th percentile", unit="milliseconds")]
    p99: Annotated[float | None, Column(f"{_OWN}, 99th percentile", unit="milliseconds")]
    total_p50: Annotated[float | None, Column(f"{_TOTAL}, the median", unit="milliseconds")]
    total_p95: Annotated[float | None, Column("the same, 95th percentile", unit="milliseconds")]
    total_p99: Annotated[float | None, Column("the same, 99th percentile", unit="milliseconds")]
    total_in_batch: Annotated[
        float | None,
        Column(
            "what a query takes of it where the measured ones are asked in one batch, the mean; 1,000 by it "
            "are queries a second; empty: they were not",
            unit="milliseconds",
        ),
    ] = None
    remark: Annotated[str, Column("why it was not measured")] = ""
