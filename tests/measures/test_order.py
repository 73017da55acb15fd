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
