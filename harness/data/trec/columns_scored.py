"""Score a run and judgments in columns, as arrow holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from harness.data.trec.depths import depth_needed, rounded
from harness.data.trec.ids import Ids, column_of, fingerprints, numbers_of, places_in
from harness.data.trec.pair_rows import PairRows, Qrels, Run, judged_rows, refuse_repeats
from harness.measures import (
    Convention,
    Floats,
    Graded,
    Ints,
    Measure,
    compute,
    grade_documents,
    owners,
    rank_rows,
    tie_groups,
)

Numbers = npt.NDArray[np.int32]


def score_columns(
    run: Run, qrels: Qrels, measures: Sequence[Measure], rules: Convention
) -> tuple[Sequence[str], Floats]:
    """The queries that count, and their values [Q, M]."""
    n_queries = len(qrels.query.names)
    code = places_in(run.query.names, qrels.query.names)
    query = code[run.query.code]
    rows = _scored_rows(run, query, rules)
    ranked, offsets = _rank(run, query, rows, n_queries, depth_needed(measures, rules), rules)
    pairs = PairRows.of(owners(offsets), run.doc, ranked)
    refuse_repeats(run.source, run.query, pairs, "ranked")
    values = compute(_grade(run, qrels, pairs, offsets, rules), measures, rules.unanswerable)
    kept = np.arange(n_queries)
    if rules.missing == "drop":
        # a dictionary may name queries without a document, in the run (empty is not missing) or as judged
        counts = [np.bincount(codes, minlength=n_queries) for codes in (code[code >= 0], qrels.query.code)]
        kept = np.flatnonzero(np.all(counts, axis=0))
    return qrels.query.names.take(column_of(kept)).to_pylist(), values[kept]


def _scored_rows(run: Run, query: Numbers, rules: Convention) -> Ints | None:
    """The rows of judged queries; None if these are all."""
    kept = query >= 0
    if rules.skip_same_id:
        same = np.flatnonzero(fingerprints(run.query.names)[run.query.code] == run.doc.prints())
        kept[[row for row in same.tolist() if run.query.name(row) == run.doc.name(row)]] = False
    return None if kept.all() else np.flatnonzero(kept)


def _rank(
    run: Run, query: Numbers, rows: Ints | None, n_queries: int, depth: int | None, rules: Convention
) -> tuple[Ints, Ints]:
    """The ranked rows of every query, and their offsets."""
    rank = run.rank if rules.order == "given" else None
    score = rounded(run.score if rank is None else -rank.astype(np.float64), rules)

    def tie_key(chosen: Ints) -> npt.NDArray[Any]:
        """Where scores, or ids by their bytes, are among those chosen, lowest first; equals in one place."""
        chosen_rows = chosen if rows is None else rows[chosen]
        if rank is not None:
            # a rank that several documents hold, such as a column of zeros, says nothing of their order
            return np.unique(run.score[chosen_rows], return_inverse=True)[1]
        ids = Ids.of(run.doc.take(chosen_rows), run.source)
        order = pc.rank(ids.names, sort_keys="ascending", tiebreaker="first")
        return numbers_of(order).astype(np.int64)[ids.code]

    tied = rank is not None or rules.order == "score_then_id_descending"
    kept = slice(None) if rows is None else rows
    ranked, offsets = rank_rows(query[kept], n_queries, score[kept], depth, tie_key if tied else None)
    return ranked if rows is None else rows[ranked], offsets


def _grade(run: Run, qrels: Qrels, ranked: PairRows, offsets: Ints, rules: Convention) -> Graded:
    row = judged_rows(ranked, qrels.pairs)
    averaged = rules.order == "score_ties_averaged"
    ties = tie_groups(run.score[ranked.rows], offsets) if averaged else None
    judged = row >= 0
    earned = np.zeros(len(row), dtype=np.int64)
    earned[judged] = qrels.grade[row[judged]]
    judgments = (qrels.query.code, qrels.grade)
    return grade_documents(earned, judged, offsets, judgments, rules, ties)
