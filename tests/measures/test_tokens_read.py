"""tokens@k: sums of the lengths of the first chunks, whatever their grades."""

import numpy as np
import pytest

from harness.measures import Depth, RankedTokens, less_is_better, reading_depth, tokens_to
from tests.measures.build import chunk, query, ranking, score, span

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
    # a query without a ranking or without relevant text has a price
    assert tokens("tokens@2", [a], [query("other"), query("q"), query("none")]).tolist() == [0, 3, 0]


def test_without_lengths_it_is_refused_and_a_cutoff_is_needed():
    with pytest.raises(ValueError, match="tokens@3 reads"):
        score([ranking("q", *CHUNKS)], [query("q")], [span("q", "d", 0, 10, 4)], CHUNKS, ["tokens@3"])
    with pytest.raises(ValueError, match="needs a cutoff"):
        tokens("tokens", CHUNKS)


def test_what_is_read_within_a_budget_by_hand():
    # two queries: three chunks of 100, 50 and 200 characters, and one of 40
    ranked = RankedTokens(np.array([10, 20, 30, 8]), np.array([0, 3, 4]))
    characters = np.array([100, 50, 200, 40])

    def read(*depth):
        return tokens_to(ranked, characters, Depth(*depth)).tolist()

    assert read(2) == [30, 8]
    assert read() == [60, 8]
    # 150 characters are two whole chunks, then half of the third; the other ranking ends before
    assert read(150, "characters") == [30, 8]
    assert read(250, "characters") == [45, 8]
    assert read(60, "characters") == [6, 8]
    assert read(9999, "characters") == [60, 8]
    assert read(25, "tokens") == [25, 8]
    nothing = RankedTokens(np.zeros(2, dtype=np.int64), np.array([0, 2, 2]))
    assert tokens_to(nothing, np.array([5, 5]), Depth(9, "tokens")).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("measure", "depth", "price"),
    [
        ("ndcg_exp@10", "10 ranks", "tokens@10"),
        ("text_recall@4", "4 ranks", "tokens@4"),
        ("ndcg_evidence@5000", "5000 characters", "tokens@5000 characters"),
        ("ndcg_text_tokens@900", "900 tokens", "tokens@900 tokens"),
        ("mrr", "whole ranking", "tokens"),
        # what is unjudged is left out before ranks are counted
        ("ndcg_exp_condensed@10", "whole ranking", "tokens"),
        # what reads no ranking has no depth
        *((name, "None", None) for name in ("precision_omega", "seed_ratio@5", "mine")),
    ],
)
def test_a_measure_has_a_depth_and_the_price_of_it(measure, depth, price):
    found = reading_depth(measure)
    assert (str(found), found and found.price) == (depth, price)


def test_only_prices_are_better_when_less():
    assert less_is_better("tokens@10")
    assert not any(map(less_is_better, ("ndcg_exp@10", "ndcg_text_tokens@500", "seed_ratio@5", "nonsense")))
