import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.comparison import Options, cross_validate, select
from harness.comparison.selection import folds
from harness.values.errors import HarnessError

from .build import matrix, noisy

QUICK = Options(resamples=2_000)
# a is better on train and worse on validation, which are every other query
BY_SPLIT = np.where(np.arange(80) % 2, -0.1, 0.1)


def test_what_wins_on_train_is_reported_on_validation():
    #            train  val  train  val
    scores = matrix({"a": [0.9, 0.2, 0.8, 0.1], "b": [0.5, 0.6, 0.4, 0.7]})
    found = select(scores, QUICK)
    assert (found.chosen, found.best_on_validation) == ("a", "b")
    assert found.train.value == pytest.approx(0.85)
    assert found.validation.value == pytest.approx(0.15)
    assert found.optimism.value == pytest.approx(0.7)
    # lead over the mean of both: 0.2 on train, -0.25 on validation
    assert found.selection_optimism.value == pytest.approx(0.45)
    assert found.regret.difference == pytest.approx(-0.5)
    # two queries a side: nothing is concluded from them
    (only,) = found.sentences()
    assert only.startswith("2 validation queries are too few")


def test_where_both_splits_agree_there_is_no_regret():
    found = select(noisy(60, (0.3, 0.7)), QUICK)
    assert found.chosen == found.best_on_validation
    assert found.regret is None
    assert len(found.sentences()) == 2


def test_another_winner_on_validation_is_reported_with_its_test():
    scores = noisy(80, (0.5, 0.5), seed=1)
    found = select(matrix({"a": scores.values[0], "b": scores.values[0] - BY_SPLIT}), QUICK)
    assert (found.chosen, found.best_on_validation) == ("a", "b")
    assert "On validation b is ahead by 0.100: better (p < 0.001)" in found.sentences()[1]


def test_optimism_has_welchs_interval():
    scores = noisy(31, (0.3, 0.7), seed=4)
    found = select(scores, QUICK)
    b = scores.row("b")
    train = np.array(scores.splits) == "train"
    expected = stats.ttest_ind(b[train], b[~train], equal_var=False).confidence_interval(0.95)
    assert (found.optimism.low, found.optimism.high) == pytest.approx((expected.low, expected.high))


def test_a_split_without_queries_is_refused():
    scores = matrix({"a": [0.1, 0.2]}, splits=("train", "train"))
    with pytest.raises(HarnessError, match="No validation query has a value"):
        select(scores)
    undefined = matrix({"a": [0.1, np.nan]}, splits=("train", "validation"))
    with pytest.raises(HarnessError, match="No validation query has a value"):
        select(undefined)


def test_one_validation_query_has_no_interval():
    found = select(matrix({"a": [0.1, 0.2, 0.3], "b": [0, 0, 0]}), QUICK)
    assert (found.validation.low, found.optimism.low) == (None, None)


def test_cross_validation_scores_each_query_by_what_was_chosen_without_it():
    # two folds of two queries: whichever setting is better on one fold is worse on the other
    ids = ("q0", "q1", "q2", "q3")
    fold = folds(ids, 2, 7)
    scores = matrix({"a": np.where(fold == 0, 1.0, 0.0), "b": np.where(fold == 0, 0.0, 1.0)}, ids=ids)
    found = cross_validate(scores, count=2, repeats=1, options=QUICK)
    assert found.estimate.value == 0
    assert found.optimism == 0.5
    assert found.picks == {"a": 1, "b": 1}


def test_cross_validation_of_equals_is_less_optimistic_than_the_winner():
    found = [cross_validate(noisy(20, (0.5,) * 10, seed=i), options=QUICK) for i in range(8)]
    assert np.mean([one.optimism for one in found]) > 0.01
    assert all(sum(one.picks.values()) == one.folds * one.repeats == 50 for one in found)
    for queries, count, message in ((4, 5, "too few for 5 folds"), (40, 1, "1 folds leave nothing")):
        with pytest.raises(HarnessError, match=message):
            cross_validate(noisy(queries, (0.5, 0.6)), count=count)
    with pytest.raises(ValueError, match="3 folds"):
        folds(["a", "b"], 3, 0)


ids = st.lists(st.text("abcdef0123", min_size=1, max_size=6), min_size=2, max_size=60, unique=True)


@settings(deadline=None)
@given(ids, st.integers(0, 5), st.data())
def test_folds_are_even(query_ids, seed, data):
    count = data.draw(st.integers(2, len(query_ids)))
    sizes = np.bincount(folds(query_ids, count, seed), minlength=count)
    assert sizes.max() - sizes.min() <= 1
