"""Retrieval by a learned sparse encoder, held against its vectors multiplied out."""

import numpy as np
import pytest

from harness.steps import RETRIEVERS
from harness.values import Query
from tests.models import tiny
from tests.search.test_steps import QUERIES, passages

LearnedSparseConfig = RETRIEVERS["learned_sparse"].config

# a kind that few use; the library takes seconds to load
pytestmark = pytest.mark.slow


def config(**more):
    return LearnedSparseConfig(model=tiny.a_splade(), **{"top_k": 5, **more})


def full(rows):
    out = np.zeros(500)
    out[rows[0].astype(int)] = rows[1].astype(np.float64)
    return out


@pytest.mark.parametrize("options", [{}, {"max_active_dims": 8, "query_max_active_dims": 4}])
def test_scores_are_dot_products_and_zero_is_no_hit(options, tools):
    c = config(**options)
    given = passages()
    chunks = [full(rows) for rows in c.embed.make().encode(given.texts)]
    queries = [*QUERIES, Query("nothing", "", "train")]
    for query, ranking in zip(queries, tools.search("r", c, given, queries).rankings, strict=True):
        asked = full(c.embed_queries.make().encode([query.text])[0])
        expected = {i: float(asked @ chunk) for i, chunk in zip(given.ids, chunks, strict=True)}
        assert set(ranking.chunk_ids) == {i for i, score in expected.items() if round(score, 6) > 0}
        assert ranking.scores == pytest.approx([expected[i] for i in ranking.chunk_ids], rel=1e-4)


def test_vectors_are_computed_once_for_all_depths_and_again_for_another_cap(tools):
    tools.search("r", config(), passages(), QUERIES)
    assert tools.session.notes.counts["vectors_computed"] == 5 + 2
    tools.search("r", config(top_k=2), passages(), QUERIES)
    assert tools.session.notes.counts["vectors_computed"] == 5 + 2
    tools.search("r", config(max_active_dims=3), passages(), QUERIES)
    # chunks alone: the queries keep what they have
    assert tools.session.notes.counts["vectors_computed"] == 5 + 2 + 5
