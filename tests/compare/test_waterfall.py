import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import STAGES, Levels, front, waterfall, worst_queries
from harness.errors import HarnessError


def levels(*columns, reranked=None):
    arrays = [np.array(column, dtype=np.float64) for column in columns]
    ids = tuple(f"q{i}" for i in range(len(arrays[0])))
    return Levels(ids, *arrays, None if reranked is None else np.array(reranked, dtype=np.float64))


def test_losses_by_hand():
    fall = waterfall(levels([1.0, 0.8], [0.9, 0.8], [0.6, 0.7], [0.5, 0.1], reranked=[0.55, 0.05]))
    np.testing.assert_allclose(fall.losses, [[0, 0.1, 0.3, 0.1, -0.05], [0.2, 0, 0.1, 0.6, 0.05]], atol=1e-12)
    assert [one.stage for one in worst_queries(fall)] == ["ranking", "retriever"]
    worst = worst_queries(fall, 1)[0]
    assert (worst.query_id, worst.stage, worst.final) == ("q1", "ranking", 0.05)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.floats(0, 1)), min_size=1, max_size=9
    )
)
def test_losses_sum_exactly_and_only_the_reranker_gains(rows):
    table = [sorted(four, reverse=True) for four, _ in rows]
    fall = waterfall(levels(*zip(*table, strict=True), reranked=[last for _, last in rows]))
    np.testing.assert_allclose(1 - fall.losses.sum(axis=1), fall.final, atol=1e-12)
    assert (fall.losses[:, :4] >= 0).all()


def test_without_a_reranker_it_neither_gains_nor_loses():
    fall = waterfall(levels([1.0], [0.9], [0.8], [0.7]))
    assert fall.losses[0, STAGES.index("reranker")] == 0
    assert fall.final.tolist() == [0.7]


def test_a_perfect_query_has_no_stage_to_blame():
    fall = waterfall(levels([1.0], [1.0], [1.0], [1.0]))
    assert worst_queries(fall)[0].stage is None


def test_undefined_queries_are_left_out():
    fall = waterfall(levels([np.nan, 1.0], [np.nan, 1.0], [np.nan, 0.5], [np.nan, 0.5]))
    assert fall.query_ids == ("q1",)
    with pytest.raises(HarnessError, match="No query has a score"):
        waterfall(levels([np.nan], [np.nan], [np.nan], [np.nan]))


def test_levels_that_rise_or_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"q0: the level after the retriever is 0\.9.*above the 0\.8"):
        waterfall(levels([1.0], [0.8], [0.9], [0.9]))
    with pytest.raises(ValueError, match="one score per query"):
        waterfall(Levels(("q0",), np.ones(2), np.ones(2), np.ones(2), np.ones(2)))


def test_the_front_and_its_prices():
    cost = {"small": 1.0, "middle": 3.0, "wasteful": 4.0, "large": 8.0, "twin": 8.0}
    quality = {"small": 0.50, "middle": 0.60, "wasteful": 0.55, "large": 0.62, "twin": 0.62}
    steps = front(cost, quality)
    assert [s.setting for s in steps] == ["small", "middle", "large", "twin"]
    # 2 more for 10 points; 5 more for 2 points; a twin gains nothing
    assert [s.price for s in steps] == [None, pytest.approx(0.2), pytest.approx(2.5), None]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_nothing_beats_the_front_and_something_beats_the_rest(points):
    cost = {str(i): float(c) for i, (c, _) in enumerate(points)}
    quality = {str(i): float(q) for i, (_, q) in enumerate(points)}
    on = {step.setting for step in front(cost, quality)}

    def beaten(name):
        return any(
            cost[o] <= cost[name]
            and quality[o] >= quality[name]
            and (cost[o], quality[o]) != (cost[name], quality[name])
            for o in cost
        )

    assert on == {name for name in cost if not beaten(name)}


def test_a_setting_without_a_cost_is_refused_and_one_without_quality_left_out():
    with pytest.raises(HarnessError, match="no cost for b"):
        front({"a": 1.0}, {"a": 0.5, "b": 0.6})
    assert [s.setting for s in front({"a": 1.0, "b": 2.0}, {"a": 0.5, "b": np.nan})] == ["a"]
    assert front({}, {}) == []
