import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.compare import Options, advise, cross_validate, folds, select, split_queries
from harness.compare.advice import NAMED_FROM, best_shares
from harness.errors import HarnessError

from .build import matrix, noisy

QUICK = Options(resamples=2_000)


def test_what_wins_on_train_is_reported_on_validation():
    #            train  val  train  val
    scores = matrix({"a": [0.9, 0.2, 0.8, 0.1], "b": [0.5, 0.6, 0.4, 0.7]})
    found = select(scores, QUICK)
    assert (found.chosen, found.best_on_validation, found.agrees) == ("a", "b", False)
    assert found.train.value == pytest.approx(0.85)
    assert found.validation.value == pytest.approx(0.15)
    assert found.optimism.value == pytest.approx(0.7)
    # lead over the mean of both: 0.2 on train, -0.25 on validation
    assert found.selection_optimism.value == pytest.approx(0.45)
    assert found.regret.difference == pytest.approx(-0.5)
    assert "On validation b is best, 0.500 ahead, which may be chance" in found.sentences()[1]


def test_where_both_splits_agree_there_is_no_regret():
    found = select(noisy(60, (0.3, 0.7)), QUICK)
    assert found.agrees
    assert found.regret is None
    assert found.best.contenders == ("b",)
    assert len(found.sentences()) == 2


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
    with pytest.raises(HarnessError, match="too few for 5 folds"):
        cross_validate(noisy(4, (0.5, 0.6)))


ids = st.lists(st.text("abcdef0123", min_size=1, max_size=6), min_size=2, max_size=60, unique=True)


@settings(deadline=None)
@given(ids, st.floats(0, 1), st.integers(0, 5), st.data())
def test_splits_are_in_proportion_overall_and_by_stratum(query_ids, share, seed, data):
    strata = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(query_ids), max_size=len(query_ids)))
    splits = np.array(split_queries(query_ids, share, seed, strata)) == "validation"
    assert abs(splits.sum() - share * len(query_ids)) <= 0.5 + 1e-9
    for name in set(strata):
        inside = np.array(strata) == name
        assert abs(splits[inside].sum() - share * inside.sum()) <= 1 + 1e-9
    order = data.draw(st.permutations(range(len(query_ids))))
    shuffled = split_queries([query_ids[i] for i in order], share, seed, [strata[i] for i in order])
    assert [s == "validation" for s in shuffled] == [bool(splits[i]) for i in order]


def test_the_lowest_hashes_are_validation():
    query_ids = [f"q{i}" for i in range(10)]
    order = sorted(query_ids, key=lambda q: hashlib.sha256(f"7:{q}".encode()).hexdigest())
    splits = dict(zip(query_ids, split_queries(query_ids, 0.3, 7), strict=True))
    assert [splits[q] for q in order] == ["validation"] * 3 + ["train"] * 7


@settings(deadline=None)
@given(ids, st.integers(0, 5), st.data())
def test_folds_are_even_overall_and_by_stratum(query_ids, seed, data):
    count = data.draw(st.integers(2, len(query_ids)))
    strata = data.draw(st.lists(st.sampled_from("xy"), min_size=len(query_ids), max_size=len(query_ids)))
    fold = folds(query_ids, count, seed, strata)
    for inside in (np.full(len(fold), True), np.array(strata) == "x", np.array(strata) == "y"):
        sizes = np.bincount(fold[inside], minlength=count)
        assert sizes.max() - sizes.min() <= 1


def test_splits_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        split_queries(["a"], 1.5, 0)
    with pytest.raises(ValueError, match="2 queries, but 1 strata"):
        split_queries(["a", "b"], 0.5, 0, ["x"])
    with pytest.raises(ValueError, match="3 folds"):
        folds(["a", "b"], 3, 0)


def test_equals_share_a_resample():
    means = np.array([[0.5, 0.5, 0.1], [0.2, 0.4, 0.1]])
    np.testing.assert_allclose(best_shares(means), [0.25, 0.75, 0])


def test_a_clear_winner_is_named():
    found = advise(noisy(80, (0.3, 0.7, 0.35)), options=QUICK)
    assert found.named == found.leader == "b"
    assert found.best_share["b"] >= NAMED_FROM
    assert (found.contenders, found.more_queries, found.cheapest) == (("b",), None, None)
    assert found.sentences() == (
        "Use b: it has the best ndcg_exp@10 in 100 % of bootstrap resamples of 80 queries.",
        "Ruled out as the best by a one-sided test of each setting against the best of the others: "
        f"c (p {found.p_best['c']:.3f}), a (p {found.p_best['a']:.3f}).",
    )
    assert found.p_best["c"] <= 0.05 < found.p_best["b"]


def test_where_none_is_named_the_cheapest_of_the_tied_is_told():
    found = advise(noisy(50, (0.59, 0.2, 0.61), seed=2), {"a": 1.5, "b": 0.1, "c": 3.0}, QUICK)
    assert found.named is None
    assert set(found.contenders) == {"a", "c"}
    assert found.cheapest == "a"
    assert found.more_queries > 0
    told = " ".join(found.sentences())
    assert "No setting is clearly best." in told
    assert "Cheapest of those that may be best: a (1.5 cost)." in told
    assert f"About {found.more_queries} more queries would name {found.leader}" in told


def test_more_queries_do_not_tell_equals_apart():
    scores = noisy(30, (0.5,)).values[0]
    found = advise(matrix({"a": scores, "b": scores}), options=QUICK)
    assert found.best_share == {"a": 0.5, "b": 0.5}
    assert (found.named, found.more_queries) == (None, None)
    assert "the leaders do about equally well" in found.sentences()[-1]


def test_the_queries_said_to_be_missing_do_settle_it():
    rng = np.random.default_rng(1)
    gap = rng.normal(0, 0.3, 40)
    gap += 0.03 - gap.mean()
    found = advise(matrix({"a": 0.5 + gap, "b": np.full(40, 0.5)}), options=Options(resamples=20_000))
    # Φ(√n · 0.03 / sd) = 0.9
    needed = (1.2816 * gap.std() / 0.03) ** 2
    assert 40 + found.more_queries == pytest.approx(needed, rel=0.1)


def test_a_handful_of_queries_names_nothing():
    found = advise(matrix({"a": [0.9, 0.8], "b": [0.1, 0.2]}), options=QUICK)
    assert found.best_share["a"] == 1
    assert (found.named, found.more_queries) == (None, 8)
    assert found.sentences()[0] == "2 queries are too few to name a setting; a leads in ndcg_exp@10."


def test_a_missing_cost_is_refused():
    with pytest.raises(HarnessError, match="no cost for b"):
        advise(noisy(10, (0.5, 0.5)), {"a": 1.0})


def test_cross_validation_says_what_was_chosen_how_often_and_what_choosing_adds():
    found = cross_validate(noisy(40, (0.5, 0.7)), count=4, repeats=3, options=QUICK)
    told = " ".join(found.sentences())
    assert "(4 folds, 3 times over)" in told
    assert "Chosen of 12 times: b in 12." in told
    assert f"Best on all queries is b, with a mean {found.optimism:+.3f}" in told


def test_a_single_fold_is_refused():
    with pytest.raises(HarnessError, match="1 folds leave nothing"):
        cross_validate(noisy(40, (0.5, 0.7)), count=1)


def test_few_queries_are_told_without_an_interval():
    scores = matrix({"a": [0.1, 0.2, 0.3, 0.4, 0.5, 0.9], "b": [0.2, 0.1, 0.2, 0.1, 0.2, 0.3]})
    assert " to " not in " ".join(select(scores, QUICK).sentences()).replace("to 1", "")
    enough = noisy(20, (0.5, 0.7))
    assert " to " in " ".join(select(enough, QUICK).sentences())
