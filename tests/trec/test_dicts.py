"""Dictionaries score like tables, wherever the blocks end and whatever kind of mapping they are."""

from types import MappingProxyType
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.data import evaluate, evaluate_dicts, qrels_from_dict, run_from_dict
from harness.data.trec import evaluate as scoring
from harness.measures import CONVENTIONS, order

IDS = [*"abcdefgh", "q1", "A", "a\0", "", "10", "9"]
SCORES = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 2, np.float32(2), np.uint8(3), 1e39, -np.inf, np.inf])
# few measures that look at few documents, and many judged ones, make the run the side that is looked up
MEASURES = ["ndcg_lin@2", "ndcg_exp@3", "ndcg_lin_upper@2", "ndcg_lin_condensed@2", "ndcg_exp", "judged@3"]


def nested(values):
    return st.dictionaries(
        st.sampled_from(["q1", "q2", "q3", "Q1", ""]), st.dictionaries(st.sampled_from(IDS), values)
    )


@given(
    nested(SCORES),
    nested(st.integers(-1, 4)),
    st.sampled_from(sorted(CONVENTIONS)),
    st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2),
    st.sampled_from([1, 2, 5, 13]),
    st.sampled_from([1, 3, 8, 40]),
)
def test_small_blocks_score_alike(run, qrels, convention, measures, documents, cells):
    if convention == "sklearn":
        measures = [m for m in measures if m.startswith("ndcg") and "upper" not in m] or ["ndcg_lin@2"]
    expected = evaluate(run_from_dict(run), qrels_from_dict(qrels), measures, convention)
    frozen = MappingProxyType({q: MappingProxyType(inner) for q, inner in run.items()})
    with patch.object(scoring, "_BLOCK_DOCUMENTS", documents), patch.object(order, "_BLOCK_CELLS", cells):
        for scores in (
            evaluate_dicts(frozen, qrels, measures, convention),
            evaluate(run_from_dict(run), qrels_from_dict(qrels), measures, convention),
        ):
            assert scores.query_ids == expected.query_ids
            np.testing.assert_allclose(scores.values, expected.values, rtol=0, atol=1e-12)
