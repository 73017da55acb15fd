"""Runs put in order of their scores: as if every query were sorted by itself."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import order

# few values, so that many tie, or as they come
SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]) | st.floats(allow_nan=False)
ROWS = st.lists(st.tuples(st.integers(0, 4), SCORES), max_size=40)


@given(ROWS, st.booleans(), st.none() | st.integers(1, 6), st.booleans(), st.sampled_from([1, 7, 250_000]))
def test_every_query_is_sorted_by_itself(rows, grouped, depth, keyed, cells):
    if grouped:
        rows = sorted(rows, key=lambda row: row[0])
    query = np.array([row[0] for row in rows], dtype=np.int64)
    score = np.array([row[1] for row in rows], dtype=np.float64)
    # a number for each row, in another order than the rows
    tie_key = (lambda chosen: chosen * 17 % 41) if keyed else None
    with patch.object(order, "_BLOCK_CELLS", cells):
        found, offsets = order.rank_rows(query, 5, score, depth, tie_key)
    for one in range(5):
        own = np.flatnonzero(query == one).tolist()
        own.sort(key=lambda row: (-score[row], -(tie_key(row) if keyed else 0)))
        assert found[offsets[one] : offsets[one + 1]].tolist() == own[:depth]


def test_queries_of_one_length_are_sorted_together_also_where_others_stand_between():
    # in blocks of five cells queries 0 and 4 are sorted together: from the first of one to the last of the
    # other there are six scores, of which two are of others
    query, score = np.array([0, 0, 1, 2, 4, 4]), np.array([1.0, 2.0, 9.0, 8.0, 3.0, 4.0])
    with patch.object(order, "_BLOCK_CELLS", 5):
        rows, offsets = order.rank_rows(query, 5, score, None)
    assert rows.tolist() == [1, 0, 2, 3, 5, 4]
    assert offsets.tolist() == [0, 2, 3, 4, 4, 6]
