import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import answerability, separation, thresholds

scores = st.lists(st.sampled_from([-np.inf, -2.0, 0.0, 0.5, 0.5 + 1e-12, 3.0]), min_size=1, max_size=12)


def test_golden():
    # pairs: 3 beats 1 and 2; 2 beats 1 and ties with 2; 0 loses twice: (2 + 1.5 + 0) / 6
    got = separation([3.0, 2.0, 0.0], [1.0, 2.0], seed=1)
    assert got.auroc == pytest.approx(3.5 / 6, abs=1e-15)
    assert (got.n_answerable, got.n_unanswerable) == (3, 2)
    assert got.low <= got.auroc <= got.high


def test_perfect_chance_and_reversed():
    assert separation([2.0, 3.0], [0.0, 1.0], seed=1).auroc == 1.0
    assert separation([1.0, 1.0], [1.0, 1.0], seed=1).auroc == 0.5
    reverse = separation([0.0, 1.0], [2.0, 3.0], seed=1)
    assert (reverse.auroc, reverse.low, reverse.high) == (0.0, 0.0, 0.0)


@given(scores, scores)
def test_the_same_as_scikit_learn_and_as_comparing_every_pair(high, low):
    metrics = pytest.importorskip("sklearn.metrics")
    got = separation(high, low, seed=1, resamples=10).auroc
    wins = [(a > b) + (a == b) / 2 for a in high for b in low]
    assert got == pytest.approx(np.mean(wins), abs=1e-12)
    labels = [1] * len(high) + [0] * len(low)
    finite = np.nan_to_num([*high, *low])
    assert got == pytest.approx(metrics.roc_auc_score(labels, finite), abs=1e-9)


def test_the_interval_is_that_of_resampling_both_sides():
    rng = np.random.default_rng(0)
    high, low = rng.normal(0.8, 1, 60), rng.normal(0, 1, 40)
    got = separation(high, low, seed=3)
    plain = []
    for _ in range(2000):
        a, b = rng.choice(high, 60), rng.choice(low, 40)
        plain.append(((a[:, None] > b) + (a[:, None] == b) / 2).mean())
    assert got.low == pytest.approx(np.percentile(plain, 2.5), abs=0.01)
    assert got.high == pytest.approx(np.percentile(plain, 97.5), abs=0.01)


def test_blocks_do_not_bias_and_seeds_repeat(monkeypatch):
    high, low = [3.0, 2.0, 0.0, 1.0], [1.0, 2.0, 0.5]
    whole = separation(high, low, seed=2)
    assert separation(high, low, seed=2) == whole
    monkeypatch.setattr(answerability, "_BLOCK_DRAWS", 50)
    answerability._interval.cache_clear()
    assert separation(high, low, seed=2).low == pytest.approx(whole.low, abs=0.05)
    answerability._interval.cache_clear()


def test_groups_of_none_or_one_query():
    assert separation([], [1.0], seed=1) is None
    assert separation([1.0], [], seed=1) is None
    one = separation([1.0], [0.0, 2.0], seed=1)
    assert (one.auroc, one.low, one.high) == (0.5, None, None)


def test_thresholds():
    # answerable 1, 2, 2, 4; unanswerable 0, 2. At 2: kept 2, 2, 4 of four; refused 0 of two
    threshold, kept, refused = thresholds([1.0, 2.0, 2.0, 4.0], [2.0, 0.0])
    assert threshold.tolist() == [0.0, 1.0, 2.0, 4.0, np.inf]
    assert kept.tolist() == [1.0, 1.0, 0.75, 0.25, 0.0]
    assert refused.tolist() == [0.0, 0.5, 0.5, 1.0, 1.0]


@given(scores, scores)
def test_thresholds_keep_and_refuse_as_they_say(high, low):
    candidates, kept, refused = thresholds(high, low)
    for row, threshold in enumerate(candidates[:-1]):
        assert kept[row] == pytest.approx(np.mean(np.array(high) >= threshold))
        assert refused[row] == pytest.approx(np.mean(np.array(low) < threshold))
    assert (kept[-1], refused[-1]) == (0.0, 1.0)


def test_invalid_input_is_refused():
    with pytest.raises(ValueError, match="top score of the unanswerable queries is NaN"):
        separation([1.0], [np.nan], seed=1)
    with pytest.raises(ValueError, match="top score of the answerable queries is NaN"):
        thresholds([np.nan], [1.0])
