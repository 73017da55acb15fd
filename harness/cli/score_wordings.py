"""What `harness score` notes of queries that its files do not share: each sentence by its code."""

from __future__ import annotations

from collections.abc import Mapping

QUERIES: Mapping[str, str] = {
    "clusters.lacking.one": (
        "{file} names no cluster for 1 query, such as {query}; each stands alone in the test."
    ),
    "clusters.lacking": (
        "{file} names no cluster for {count} queries, such as {query}; each stands alone in the test."
    ),
    "queries.bare.one": (
        "1 judged query has nothing relevant, such as {query}. The convention {convention} leaves such "
        "queries out of NDCG and of all measures that need something relevant."
    ),
    "queries.bare": (
        "{count} judged queries have nothing relevant, such as {query}. The convention {convention} leaves "
        "such queries out of NDCG and of all measures that need something relevant."
    ),
    "queries.dropped.one": (
        "1 judged query has no ranking, such as {query}. The convention {convention} leaves such queries "
        "out; trec_eval_c and harness count them as 0."
    ),
    "queries.dropped": (
        "{count} judged queries have no ranking, such as {query}. The convention {convention} leaves such "
        "queries out; trec_eval_c and harness count them as 0."
    ),
    "queries.zero.one": (
        "1 judged query has no ranking, such as {query}. The convention {convention} counts such queries "
        "as 0."
    ),
    "queries.zero": (
        "{count} judged queries have no ranking, such as {query}. The convention {convention} counts such "
        "queries as 0."
    ),
    "queries.unjudged.one": "Left out: 1 ranked query without a judgment, such as {query}.",
    "queries.unjudged": "Left out: {count} ranked queries without a judgment, such as {query}.",
    "queries.numbered.one": (
        "1 query id begins with #, such as {query}. trec_eval 10 treats such lines as comments; delete them "
        "if they are comments."
    ),
    "queries.numbered": (
        "{count} query ids begin with #, such as {query}. trec_eval 10 treats such lines as comments; delete "
        "them if they are comments."
    ),
}
