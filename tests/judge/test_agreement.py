"""Agreement coefficients against worked examples, other libraries and the public pairs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agreement_coverage import read_tables, simulate
from harness.judge import (
    GradedPair,
    bias_per_grade,
    cohen_kappa,
    confusion_matrix,
    kendall_tau,
    krippendorff_alpha,
    match_judgments,
    measure_agreement,
    order_agreement,
    pair_agreements,
)
from harness.values import Judgment, LabelError

graded = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=80)


def columns(rows):
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def test_kappa_of_a_worked_example():
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5;
    # kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4.
    human = np.repeat([1, 1, 0, 0], [20, 5, 10, 15])
    judge = np.repeat([1, 0, 1, 0], [20, 5, 10, 15])
    assert cohen_kappa(human, judge, 2) == pytest.approx(0.4)
    assert confusion_matrix(human, judge, 2).tolist() == [[15, 10], [5, 20]]


@given(graded)
def test_kappa_equals_scikit_learn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    human, judge = columns(rows)
    for weights in (None, "quadratic"):
        ours = cohen_kappa(human, judge, 5, quadratic=weights is not None)
        if math.isnan(ours):
            assert len(set(human)) == len(set(judge)) == 1
            continue
        theirs = metrics.cohen_kappa_score(human, judge, weights=weights, labels=range(5))
        assert ours == pytest.approx(theirs)


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff 2011, example C: four observers, twelve units, missing data; ordinal .815
    gap = math.nan
    data = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
            [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
        ]
    )
    assert krippendorff_alpha(data) == pytest.approx(0.815, abs=5e-4)


def alpha_by_definition(human, judge):
    """One less the mean squared distance within pairs over that between all values (no gaps).

    The place of a grade is how many of all grades are below it, and half of those equal to it.
    """
    both = np.stack([human, judge])
    places = np.array([[(both < one).sum() + (both == one).sum() / 2 for one in row] for row in both])
    pool = places.ravel()
    observed = ((places[0] - places[1]) ** 2).mean()
    n = len(pool)
    expected = (np.subtract.outer(pool, pool) ** 2).sum() / (n * (n - 1))
    return 1 - observed / expected


@given(graded)
def test_alpha_equals_its_definition(rows):
    human, judge = columns(rows)
    ours = krippendorff_alpha(np.stack([human, judge]).astype(float))
    if len({*human, *judge}) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(alpha_by_definition(human, judge))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_tau_equals_scipy(rows):
    stats = pytest.importorskip("scipy.stats")
    left, right = columns(rows)
    ours, theirs = kendall_tau(left, right), stats.kendalltau(left, right).statistic
    assert ours == pytest.approx(theirs, nan_ok=True)


def test_no_pairs_give_undefined_and_not_zero():
    empty = np.array([], dtype=int)
    assert math.isnan(cohen_kappa(empty, empty, 5))
    assert math.isnan(krippendorff_alpha(np.empty((2, 0))))
    assert math.isnan(krippendorff_alpha(np.array([[1.0, math.nan], [math.nan, 2.0]])))


def test_bias_per_grade():
    found = bias_per_grade(np.array([0, 0, 4, 2]), np.array([1, 2, 1, 2]), 5)
    assert found == pytest.approx([1.5, math.nan, 0, math.nan, -3], nan_ok=True)


@pytest.mark.parametrize(("human", "judge"), [([0, 4, 0, 4], [0, 4, 0, 4]), ([0, 4, 0, 4], [4, 0, 4, 0])])
def test_perfect_agreement_has_no_interval_of_width_0_and_two_queries_bound_nothing(human, judge):
    pairs = [GradedPair(f"q{n // 4}", human[n % 4], judge[n % 4]) for n in range(40)]
    found = measure_agreement("x", pairs, 4)
    assert abs(found.kappa_quadratic.value) == 1
    assert found.kappa_quadratic.low is None
    pairs = [GradedPair(f"q{n % 2}", n % 5, n % 3) for n in range(40)]
    assert measure_agreement("x", pairs, 4).kappa.low is None


def test_agreement_with_one_grade_throughout_is_undefined():
    # people gave a 4 to all twelve, the judge to eleven: kappa would be 0 for the best judge and the worst
    pairs = [GradedPair(f"q{n}", 4, 3 if n == 0 else 4) for n in range(12)]
    found = measure_agreement("x", pairs, 4)
    for coefficient in (found.kappa, found.kappa_quadratic, found.alpha_ordinal):
        assert math.isnan(coefficient.value)
        assert (coefficient.low, coefficient.high) == (None, None)
    assert found.exact == pytest.approx(11 / 12)
    assert found.in_words.startswith("Kappa and alpha are undefined: people gave one grade throughout.")
    assert "92%" in found.in_words
    assert "rely" not in found.in_words
    # a judge that gives one grade where people gave two is known to tell nothing apart
    constant = measure_agreement("x", [GradedPair(f"q{n}", 4 * (n % 2), 4) for n in range(12)], 4)
    assert constant.kappa_quadratic.value == 0


def test_two_raters_of_whom_one_gave_one_grade_are_not_said_to_disagree():
    (pair,) = pair_agreements({"ann": {1: 4, 2: 4, 3: 4}, "ben": {1: 4, 2: 4, 3: 3}})
    assert math.isnan(pair.kappa)
    assert math.isnan(pair.alpha)
    assert (pair.exact, pair.near) == (pytest.approx(2 / 3), 1.0)
    assert "undefined, as one of them gave one grade throughout" in str(pair)


@pytest.mark.slow
def test_intervals_of_twelve_queries_cover(shared_corpora):
    """400 trials: a true coverage of 95 % shows above 91 % in 999 of 1,000 runs; the seed is fixed."""
    tables = read_tables(shared_corpora / "judge-agreement" / "llmjudge_dl23.csv", "h2oloo-fewself", 4)
    found = simulate(tables, queries=12, trials=400)
    assert min(found.values()) > 0.91, found


def test_the_order_of_settings():
    rng = np.random.default_rng(3)
    quality = np.array([0.9, 0.7, 0.5, 0.3, 0.1])[:, None]
    human = quality + rng.normal(0, 0.02, (5, 60))
    same = order_agreement(human, human + 0.3, top=3)
    assert (same.settings, same.tau.value, same.top, same.tau_top.value) == (5, 1.0, 3, 1.0)
    # The judge turns the two best round: 9 of 10 pairs agree (tau 0.8), 2 of 3 among the top three (tau 1/3).
    turned = human[[1, 0, 2, 3, 4]]
    found = order_agreement(human, turned, top=3)
    assert (found.tau.value, found.tau_top.value) == (pytest.approx(0.8), pytest.approx(1 / 3))
    assert found.tau.low <= found.tau.value <= found.tau.high


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.full((2, 4), math.nan), np.zeros(4)])
def test_an_order_from_unequal_scores_is_refused(wrong):
    with pytest.raises(ValueError, match="score"):
        order_agreement(np.zeros((2, 4)), wrong)


def test_judgments_are_matched_by_query_and_span():
    human = [Judgment("q", "d", 0, 9, 3), Judgment("q", "d", 9, 12, 0), Judgment("r", "d", 0, 9, None)]
    judge = [Judgment("q", "d", 0, 9, None), Judgment("q", "d", 9, 12, 1), Judgment("r", "d", 0, 9, 2)]
    assert match_judgments(human, judge) == [GradedPair("q", 3, None), GradedPair("q", 0, 1)]
    assert match_judgments(human, []) == []
    with pytest.raises(LabelError, match="0 and 4"):
        match_judgments([*human, Judgment("q", "d", 9, 12, 4)], judge)
    with pytest.raises(LabelError, match="no pair"):
        measure_agreement("x", [GradedPair("q", 1, None)], 4)
