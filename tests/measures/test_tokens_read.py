"""tokens@k: sums of the lengths of the first chunks, whatever their grades."""

import numpy as np
import pytest

from harness.measures import less_is_better, score
from tests.measures.build import chunk, query, ranking, span

CHUNKS = [chunk("d", 0, 10), chunk("d", 5, 15), chunk("d", 20, 30)]
TOKENS = np.array([3, 4, 50], dtype=np.int32)


def tokens(measure, ranked, queries=None):
    return score(
        [ranking("q", *ranked)],
        queries or [query("q")],
        [span("q", "d", 0, 10, 4)],
        CHUNKS,
        [measure],
        chunk_tokens=TOKENS,
    ).values[:, 0]


def test_by_hand():
    a, b, c = CHUNKS
    assert tokens("tokens@2", [c, a, b]).tolist() == [53]
    assert tokens("tokens@1", [a, b]).tolist() == [3]
    assert tokens("tokens@9", [a, b]).tolist() == [7]  # they overlap, and both are read


def test_a_query_without_ranking_or_without_relevant_text_has_a_price():
    assert tokens("tokens@2", [CHUNKS[0]], [query("other"), query("q"), query("none")]).tolist() == [0, 3, 0]


def test_without_lengths_it_is_refused_and_a_cutoff_is_needed():
    with pytest.raises(ValueError, match="tokens@3 reads"):
        score([ranking("q", *CHUNKS)], [query("q")], [span("q", "d", 0, 10, 4)], CHUNKS, ["tokens@3"])
    with pytest.raises(ValueError, match="needs a cutoff"):
        tokens("tokens", CHUNKS)


def test_only_prices_are_better_when_less():
    assert less_is_better("tokens@10")
    assert not any(map(less_is_better, ("ndcg_exp@10", "ndcg_text_tokens@500", "seed_ratio@5", "nonsense")))
