"""Late interaction over all chunks, held against the rule by hand and against the reranker."""

import numpy as np
import pytest

from harness.steps.search.rerank.late_interaction import LateInteractionConfig, LateInteractionScorer, max_sim
from harness.steps.search.retrieve import multi_vector
from harness.steps.search.retrieve.multi_vector import MultiVectorConfig, max_sims
from tests.models import tiny
from tests.search.helpers import tools_at
from tests.search.test_steps import QUERIES, passages


def matrices(lengths, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, 8)).astype(np.float32) for length in lengths]


def by_hand(queries, chunks):
    return [[max_sim(query, chunk) for chunk in chunks] for query in queries]


@pytest.mark.parametrize("held", [1, 40, 10**6])
def test_the_score_is_the_mean_of_the_best_matches_however_little_is_held(held, monkeypatch):
    queries, chunks = matrices([3, 1, 5], 1), matrices([4, 0, 1, 9, 2], 2)
    monkeypatch.setattr(multi_vector, "_BLOCK", held)
    monkeypatch.setattr(multi_vector, "_CELLS", held)
    got = max_sims(queries, iter(chunks), len(chunks))
    assert got == pytest.approx(np.array(by_hand(queries, chunks)), abs=1e-5)


def test_a_query_without_tokens_matches_nothing():
    queries, chunks = matrices([0], 1), matrices([4, 2], 2)
    assert max_sims(queries, chunks, 2).tolist() == [[-1, -1]]


def test_it_ranks_as_the_reranker_would_if_it_read_every_chunk(tools):
    given = passages()
    found = tools.search("retrieve", MultiVectorConfig(top_k=5), given, QUERIES)
    scorer = LateInteractionScorer(LateInteractionConfig())
    for query, ranking in zip(QUERIES, found.rankings, strict=True):
        scores = dict(zip(given.ids, scorer.score([(query.text, text) for text in given.texts]), strict=True))
        # the index is in half precision
        assert ranking.scores == pytest.approx([scores[i] for i in ranking.chunk_ids], abs=2e-3)
        assert set(ranking.chunk_ids) == set(given.ids)
    assert found.exact_share == 1.0


def test_blocks_of_queries_change_nothing(tools, tmp_path, monkeypatch):
    asked = ("retrieve", MultiVectorConfig(top_k=5), passages(), QUERIES)
    whole = tools.search(*asked).rankings
    monkeypatch.setattr(multi_vector, "_SCORES", 1)
    assert tools_at(tmp_path / "other").search(*asked).rankings == whole


@pytest.mark.slow
def test_a_colbert_model_finds_the_chunk_that_says_it(tools, tmp_path):
    config = MultiVectorConfig(model=tiny.colbert(tmp_path / "colbert"), top_k=2)
    found = tools.search("retrieve", config, passages(), QUERIES)
    assert found.rankings[1].chunk_ids[0] == passages().ids[2]
