"""Judged documents: the classic case, where every item is its own evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.conventions import Convention
from harness.measures.graded import Graded
from harness.measures.ragged import AnyArray, Bools, Ints, offsets_of, owners, sorted_descending

_LARGEST = 2**31
"""Query and grade go into one number of 64 bits, half of it each."""


@dataclass(frozen=True, slots=True)
class JudgedDocuments:
    """The query (a number from 0 on) and the grade of every judged document, [J] each."""

    query: AnyArray
    grade: Ints


def grade_documents(
    earned: Ints,
    judged: Bools,
    offsets: Ints,
    judgments: JudgedDocuments,
    rules: Convention,
    ties: Ints | None = None,
) -> Graded:
    """Graded rankings from the grade of every ranked document [N], 0 if it is not ``judged``.

    ``ties`` are the groups within which gains are averaged, None for none.
    """
    n_queries = len(offsets) - 1
    all_grades, all_offsets = _by_query(judgments, n_queries)
    if rules.ideal == "retrieved":
        ideal, ideal_offsets = sorted_descending(earned, owners(offsets), n_queries)
    else:
        ideal, ideal_offsets = all_grades, all_offsets
    lowest = None if rules.negative_is_judged else 0
    return Graded(
        offsets,
        judged,
        earned,
        ideal_offsets,
        ideal,
        all_offsets,
        all_grades,
        ties=ties,
        condensed_from=lowest,
    )


def _by_query(judgments: JudgedDocuments, n_queries: int) -> tuple[Ints, Ints]:
    """The grades above 0 of every query, highest first; raises ValueError for one of 2^31 or more."""
    grade, query = judgments.grade, judgments.query
    span = int(grade.max(initial=0)) + 1
    if span > _LARGEST:
        raise ValueError(f"the grade {span - 1} is too large; grades go up to {_LARGEST - 1}")
    if n_queries * span <= 4 * len(grade):
        # as few as they usually are, counting them is several times faster than sorting
        below_highest = span - 1 - np.maximum(grade, 0)
        counts = np.bincount(query.astype(np.int64) * span + below_highest, minlength=n_queries * span)
        counts = counts.reshape(n_queries, span)[:, :-1]
        falling = np.tile(np.arange(span - 1, 0, -1), n_queries)
        return np.repeat(falling, counts.ravel()), offsets_of(counts.sum(axis=1))
    kept = grade > 0
    # query and falling grade in one number: the order of these numbers is what is asked for
    packed = np.sort(query[kept].astype(np.int64) * span + (span - 1 - grade[kept]))
    return span - 1 - packed % span, offsets_of(np.bincount(query[kept], minlength=n_queries))
