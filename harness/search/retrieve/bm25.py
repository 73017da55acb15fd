"""BM25 over the terms of the chunks, by bm25s."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.search.depth import Depth
from harness.search.retrieve.lexical import TermIds, Terms, TermsConfig
from harness.search.retrieve.ranked import DECIMALS, Doubles, in_order
from harness.search.step import Found, Identity, Passages, Retriever, RetrieverConfig
from harness.search.tools import Tools
from harness.types import Query, Ranking

# Lv and Zhai's own values: CIKM 2011 for BM25+, SIGIR 2011 for BM25L.
_DELTA = {"bm25+": 1.0, "bm25l": 0.5}


class Bm25Config(TermsConfig, RetrieverConfig):
    """BM25 by bm25s: ranks by the terms a chunk shares with the query. Loads no model."""

    kind: Literal["bm25"] = "bm25"
    method: Literal["lucene", "robertson", "atire", "bm25+", "bm25l"] = Field(
        "lucene",
        description="The formula, by the names of Kamphuis et al. (ECIR 2020). `robertson` gives nothing for "
        "a term that half of the chunks hold.",
    )
    delta: float | None = Field(
        None, ge=0, description="For `bm25+` and `bm25l`; empty: 1 and 0.5, as their authors have it."
    )


class Bm25Retriever(Retriever[Bm25Config]):
    """Builds the index in memory and scores every query against all chunks.

    A chunk is a hit where it shares a term with the query that counts: a score of zero, or for ``bm25+`` and
    ``bm25l`` that of a chunk without any term of the query, is none. A query without such terms has an empty
    ranking. A term that the query repeats counts as often (no k3).
    """

    def identity(self, tools: Tools) -> Identity:
        """The settings, bm25s, and what decides the terms, the synonyms of the file included."""
        own = self.config.model_dump(
            mode="json", exclude={"rewrite", "filter", "user_dictionary", "synonyms"}
        )
        return [own, version("bm25s"), Terms(self.config).identity]

    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> Found:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        with tools.timed("retrieve"):
            terms = Terms(self.config)
            known = terms.of_passages(passages, tools)
            if not known.vocabulary:
                return Found([Ranking(query.query_id, (), ()) for query in queries])
            index = self._index(known)
            depth = Depth.of(self.config, passages)
            return Found(
                [
                    _ranking(
                        query,
                        self._scores(index, terms.of_query(query.text, known.vocabulary)),
                        passages,
                        depth,
                    )
                    for query in queries
                ]
            )

    def _index(self, known: TermIds) -> Any:
        import bm25s

        c = self.config
        delta = _DELTA.get(c.method, 0.0) if c.delta is None else c.delta
        index = bm25s.BM25(k1=c.k1, b=c.b, delta=delta, method=c.method, dtype="float64", backend="numpy")
        index.index((known.rows, known.vocabulary), create_empty_token=False, show_progress=False)
        return index

    def _scores(self, index: Any, asked: list[int]) -> tuple[Doubles, float]:
        """The score of every chunk [N], and that of a chunk without any of these terms."""
        if not asked:
            return np.zeros(index.scores["num_docs"]), 0.0
        scores: Doubles = index.get_scores_from_ids(asked)
        absent = index.nonoccurrence_array
        return scores, 0.0 if absent is None else float(absent[asked].sum())


def _ranking(query: Query, scored: tuple[Doubles, float], passages: Passages, depth: Depth) -> Ranking:
    scores, nothing = scored
    hits = np.flatnonzero(np.round(scores - nothing, DECIMALS) > 0)
    rows, rounded = in_order(hits, scores[hits])
    end = depth.of_ranked(depth.lengths[rows])
    return Ranking(query.query_id, tuple(passages.ids[i] for i in rows[:end]), tuple(rounded[:end].tolist()))
