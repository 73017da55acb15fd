"""The one rule: a difference is real where its interval excludes 0, by one test of all comparisons."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.comparison import mean_of
from harness.comparison.joint_test import bound_below, decide, leads
from harness.comparison.stats import icc, sign_flips, units_of, whole_clusters

grid = st.floats(-1, 1).map(lambda x: round(x, 2))
studies = st.tuples(st.integers(2, 4), st.integers(6, 30)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=grid)
)


def pairs(rows):
    return [(i, j) for i in range(rows) for j in range(i)]


@given(studies, st.integers(1, 12))
def test_real_is_where_the_interval_excludes_zero(values, clusters):
    n = values.shape[1]
    units = units_of([f"c{i % clusters}" for i in range(n)], n)
    found = decide(values, pairs(len(values)), units, 0.95, 500, 1)
    real = found.p <= 0.05
    excluded = (found.low > 0) | (found.high < 0)
    touching = np.minimum(np.abs(found.low), np.abs(found.high)) < 1e-9
    assert ((real == excluded) | touching).all()
    assert (found.low <= found.difference + 1e-12).all()
    assert (found.high >= found.difference - 1e-12).all()


def test_the_p_value_of_a_family_by_brute_force():
    rng = np.random.default_rng(1)
    values = rng.normal(0.5, 0.2, (3, 10))
    chosen = pairs(3)
    d = np.array([values[i] - values[j] for i, j in chosen])
    signs = np.array(list(product((1, -1), repeat=10)))
    u = np.abs(signs @ d.T) / 10 / np.sqrt((d**2).mean(axis=1))
    observed = np.abs(d.mean(axis=1)) / np.sqrt((d**2).mean(axis=1))
    flipped = np.array([(u.max(axis=1) >= one - 1e-12).mean() for one in observed])
    student = stats.ttest_1samp(d, 0, axis=1).pvalue
    found = decide(values, chosen, units_of((), 10), 0.95, 10_000, 0)
    # Hall's correction may only make a difference less clear
    assert (found.p >= np.maximum(flipped, student) - 1e-12).all()


def test_p_value_and_interval_of_a_symmetric_pair_are_students():
    row = np.concatenate([np.linspace(-0.3, 0.5, 60), np.linspace(0.5, -0.3, 60)])
    found = decide(np.stack([row, np.zeros(120)]), [(0, 1)], units_of((), 120), 0.95, 40_000, 3)
    expected = stats.ttest_1samp(row, 0)
    assert found.p[0] == pytest.approx(expected.pvalue, abs=0.01)
    interval = expected.confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high), abs=0.003)


def test_whole_clusters_are_flipped():
    # ten clusters of five equal differences: what counts is ten values, not fifty
    means = np.array([0.3, -0.1, 0.2, 0.25, 0.1, -0.2, 0.4, 0.05, 0.15, 0.3])
    row = np.repeat(means, 5)
    clusters = np.repeat([f"d{i}" for i in range(10)], 5).tolist()
    by_cluster = decide(np.stack([row, 0 * row]), [(0, 1)], units_of(clusters, 50), 0.95, 10_000, 0)
    by_mean = decide(np.stack([means, 0 * means]), [(0, 1)], units_of((), 10), 0.95, 10_000, 0)
    for name in ("p", "low", "high", "error"):
        np.testing.assert_allclose(getattr(by_cluster, name), getattr(by_mean, name), atol=1e-12)
    naive = decide(np.stack([row, 0 * row]), [(0, 1)], units_of((), 50), 0.95, 10_000, 0)
    assert naive.p[0] < by_cluster.p[0] / 10


def test_unequal_clusters_keep_the_mean_over_queries():
    rng = np.random.default_rng(4)
    sizes = [1, 2, 3, 4, 5, 6, 2, 3, 4, 1, 5, 4, 3, 3]
    clusters = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    row = rng.normal(0.1, 0.2, len(clusters)) + np.repeat(rng.normal(0, 0.3, len(sizes)), sizes)
    units = units_of(clusters, len(row))
    assert units.kind == "clusters"
    found = decide(np.stack([row, 0 * row]), [(0, 1)], units, 0.95, 2_000, 0)
    assert found.difference[0] == pytest.approx(row.mean())
    # the jackknife: how far the mean moves where a document is left out, with (G - 1) / G of the squares
    left = [row[np.array(clusters) != name].mean() for name in dict.fromkeys(clusters)]
    expected = np.sqrt(((np.array(left) - row.mean()) ** 2).sum() * (len(sizes) - 1) / len(sizes))
    assert found.error[0] == pytest.approx(expected)


def clustered_t(row, of):
    """The mean over queries by its jackknife error over clusters, or that of single queries if larger."""
    left = np.array([row[of != cluster].mean() for cluster in range(of.max() + 1)])
    jackknife = np.sqrt(((left - row.mean()) ** 2).sum() * (len(left) - 1) / len(left))
    return row.mean() / max(jackknife, row.std(ddof=1) / np.sqrt(len(row)))


# the first settings lean to documents, so that the jackknife decides, and the others do not
@pytest.mark.parametrize("lean", [0.3, 0.0])
@pytest.mark.parametrize("sizes", [(3, 3, 3, 3, 3, 3, 3), (7, 4, 3, 2, 2, 2, 2, 1)])
def test_the_statistic_of_flipped_units_is_t_by_the_jackknife(sizes, lean):
    rng = np.random.default_rng(6)
    count, of = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(0.5, 0.2, (3, len(of))) + lean * rng.normal(size=(3, count))[:, of]
    units = units_of([f"d{i}" for i in of], len(of))
    assert units.kind == "clusters"
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    parts, complete = leads(values, first, second, units, 1_000, 0)
    found = np.concatenate([*parts], axis=1)
    assert complete
    assert found.shape == (3, 2**count)
    patterns = np.concatenate([*sign_flips(count, 1_000, 0)[0]])
    for at, (one, other) in enumerate(zip(first, second, strict=True)):
        t = np.array([clustered_t(signs[of] * (values[one] - values[other]), of) for signs in patterns])
        np.testing.assert_allclose(found[at], t / np.sqrt(t**2 + count - 1), atol=1e-9)


def test_documents_that_agree_by_chance_have_the_spread_of_their_queries():
    # each of eight documents has the same three differences, so that its mean is that of all
    row = np.tile([0.3, -0.1, 0.1], 8)
    units = units_of([f"d{i}" for i in np.repeat(np.arange(8), 3)], 24)
    found = decide(np.stack([row, 0 * row]), [(0, 1)], units, 0.95, 1_000, 0)
    assert found.error[0] == pytest.approx(row.std(ddof=1) / np.sqrt(24))
    assert found.high[0] - found.low[0] > 4 * found.error[0]


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [
        ([15] * 6, "clusters"),
        # 130 queries are spread over six documents as evenly as can be, and are worth 5.997
        ([22, 22, 22, 22, 21, 21], "clusters"),
        # worth 60² / (4 · 10² + 16² + 4²) = 5.36 and 77² / (5 · 15² + 2) = 5.26
        ([16, 10, 10, 10, 10, 4], "few clusters"),
        ([15] * 5, "few clusters"),
        ([15, 15, 15, 15, 15, 1, 1], "few clusters"),
        ([90, *[1] * 10], "few clusters"),
        ([1] * 9, "queries"),
    ],
)
def test_clusters_carry_a_test_from_six_of_equal_size_on(sizes, kind):
    names = [f"d{i}" for i, size in enumerate(sizes) for _ in range(size)]
    units = units_of(names, len(names))
    assert (units.kind, units.clusters) == (kind, len(sizes))
    assert units.count == (len(sizes) if kind in ("clusters", "queries") else len(names))


def test_queries_without_a_cluster_are_units_of_their_own_and_no_clusters():
    units = units_of(["a", "a", "", ""], 4)
    assert (units.kind, units.clusters, units.count) == ("few clusters", 1, 4)
    # four documents stay few, whatever else is asked
    for of_each in (1, 8):
        units = units_of([*"abcd"] * of_each + [""] * 16, 4 * of_each + 16)
        assert (units.kind, units.clusters) == ("few clusters", 4)
    # 7 documents of 8: 23 units are flipped, known as well as 7 tell
    units = units_of([*"abcdefg"] * 8 + [""] * 16, 72)
    assert (units.kind, units.clusters, units.count, units.effective) == ("clusters", 7, 23, 7.0)
    assert whole_clusters(["a", "a", "b", "", ""]).effective == pytest.approx(9 / 5)
    assert (units_of([*"abcdefg", ""], 8).kind, units_of([*"abcdefg", ""], 8).clusters) == ("queries", 7)
    assert units_of((), 4).kind == units_of(["", ""], 2).kind == "unknown"


def test_the_intraclass_correlation_by_hand():
    # two clusters of two: means 1 and 3, between 2 · (1 + 1) / 1 = 4, within (0.5 + 0.5) / 2 = 0.5
    values = np.array([0.5, 1.5, 2.5, 3.5])
    assert icc(values, ["a", "a", "b", "b"]) == pytest.approx((4 - 0.5) / (4 + 0.5))
    # means 1, 4, 7 around 4: between (2 · 9 + 2 · 9) / 2 = 18, within 6 · 1 / 3 = 2
    assert icc(np.array([0.0, 2.0, 3.0, 5.0, 6.0, 8.0]), list("aabbcc")) == pytest.approx((18 - 2) / (18 + 2))
    assert icc(values, ["a", "b", "a", "b"]) == 0.0
    assert icc(values, ["a", "b", "c", "d"]) is None
    assert icc(values, ["a"] * 4) is None
    # queries on no document say nothing of how alike those on one are
    assert icc(np.array([0.5, 1.5, 2.5, 3.5, 2.0]), ["a", "a", "b", "b", ""]) == pytest.approx(3.5 / 4.5)


@pytest.mark.parametrize("size", [40, 42])
def test_rounding_is_no_likeness_of_clusters(size):
    # 1 - 0.673… has noise in its mean of 1e-17, which came out as an ICC of 0.57, 0 or 1
    for same in (np.full(size, 1.0) - 0.6732071763541618, np.full(size, 0.1), np.zeros(size)):
        assert icc(same, [f"x{i % 3}" for i in range(size)]) is None
    noisy = 0.1 + 1e-12 * np.arange(size)
    assert icc(noisy, [f"x{i % 3}" for i in range(size)]) is None


def test_few_queries_cannot_be_surer_than_their_signs():
    # three of three better by about the same: by Student sure, yet one pattern of signs in four is as extreme
    row = np.array([0.30, 0.31, 0.32])
    found = decide(np.stack([row, 0 * row]), [(0, 1)], units_of((), 3), 0.95, 1_000, 0)
    assert found.p[0] == 0.25
    assert found.low[0] == pytest.approx(0, abs=1e-9)


def test_the_bound_of_the_gate_belongs_to_its_test():
    rng = np.random.default_rng(2)
    for shift in np.linspace(-0.1, 0.3, 21):
        row = rng.normal(shift, 0.3, 25)
        low, p = bound_below(row, 0.02, units_of((), 25), 0.05, 2_000, 1)
        assert (p <= 0.05) == (low > 0.02 + 1e-12)
    assert bound_below(np.full(9, 0.02), 0.02, units_of((), 9), 0.05, 100, 0) == (0.02, 1.0)


def test_one_mean_has_a_guarded_interval_by_clusters():
    row = np.array([0.2, 0.4, 0.6, 0.9, np.nan])
    found = mean_of(row)
    expected = stats.t.interval(0.95, 3, 0.525, stats.sem(row[:4]))
    assert (found.value, found.n) == (pytest.approx(0.525), 4)
    assert found.low <= max(expected[0], 0) + 1e-12
    assert found.high >= min(expected[1], 1) - 1e-12
    clustered = mean_of(np.repeat(np.linspace(0.2, 0.8, 12), 4), np.repeat(list("abcdefghijkl"), 4).tolist())
    alone = mean_of(np.linspace(0.2, 0.8, 12))
    assert (clustered.low, clustered.high) == pytest.approx((alone.low, alone.high))
    assert (np.isnan(mean_of(np.array([np.nan])).value), mean_of(np.array([np.nan])).n) == (True, 0)
    assert (mean_of(np.array([0.5])).low, mean_of(np.array([0.5])).n) == (None, 1)
