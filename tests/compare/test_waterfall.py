import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparison.advice import front
from harness.running.evaluate.losses import Level, loss_rows, waterfall
from harness.values import Query

NAMES = ("parsed", "chunked", "found", "ranked")


def fall(*columns, changes=()):
    """The waterfall of four levels that only fall, and any number that may rise: losses, and what is left."""
    levels = [
        Level(name, "part", np.array(column, dtype=np.float64))
        for name, column in zip(NAMES, columns, strict=True)
    ]
    levels += [Level("step", "change", np.array(c, dtype=np.float64)) for c in changes]
    return waterfall([f"q{i}" for i in range(len(columns[0]))], levels)


def test_losses_by_hand():
    losses, left = fall([1.0, 0.8], [0.9, 0.8], [0.6, 0.7], [0.5, 0.1], changes=[[0.55, 0.05], [0.35, 0.95]])
    np.testing.assert_allclose(
        losses, [[0, 0.1, 0.3, 0.1, -0.05, 0.2], [0.2, 0, 0.1, 0.6, 0.05, -0.9]], atol=1e-12
    )
    assert left[:, -1].tolist() == [0.35, 0.95]


@settings(deadline=None)
@given(
    st.integers(0, 3).flatmap(
        lambda changes: st.lists(
            st.tuples(
                st.lists(st.floats(0, 1), min_size=4, max_size=4),
                st.lists(st.floats(0, 1), min_size=changes, max_size=changes),
            ),
            min_size=1,
            max_size=9,
        )
    )
)
def test_losses_sum_exactly_and_only_changes_gain(rows):
    table = [sorted(four, reverse=True) for four, _ in rows]
    changes = list(zip(*(later for _, later in rows), strict=True))
    losses, left = fall(*zip(*table, strict=True), changes=changes)
    np.testing.assert_allclose(1 - losses.sum(axis=1), left[:, -1], atol=1e-12)
    np.testing.assert_allclose(1 - np.cumsum(losses, axis=1), left, atol=1e-12)
    assert (losses[:, :4] >= 0).all()
    final = [[*four, *later][-1] for four, (_, later) in zip(table, rows, strict=True)]
    assert left[:, -1].tolist() == final


def test_queries_without_scores_have_no_rows():
    queries = [Query("q0", "?", "train"), Query("q1", "?", "train")]
    levels = [Level("chunk", "chunking", np.array([np.nan, one])) for one in (1.0, 0.5)]
    rows = list(loss_rows("s", queries, levels, "ndcg_text@10000"))
    assert {(row.query_id, row.split, row.loss, row.left) for row in rows} == {("q1", "train", 0.5, 0.5)}
    levels = [Level("chunk", "chunking", np.full(2, np.nan))]
    assert list(loss_rows("s", queries, levels, "ndcg_text@10000")) == []


def test_levels_that_rise_are_refused():
    with pytest.raises(ValueError, match=r"q0: the level after found, part is 0\.9.*above the 0\.8"):
        fall([1.0], [0.8], [0.9], [0.9])


def test_nothing_is_on_the_front_for_being_cheap():
    cost = {"small": 1.0, "middle": 3.0, "wasteful": 4.0, "large": 8.0, "twin": 8.0}
    quality = {"small": 0.50, "middle": 0.60, "wasteful": 0.55, "large": 0.62, "twin": 0.62}
    assert front(cost, quality) == ["small", "middle", "large", "twin"]
    # hits at random are cheap, and worth less than their price
    assert front({"random": 9.0, "good": 10.0}, {"random": 0.01, "good": 0.5}) == ["good"]
    # what finds nothing is not on it, even for nothing
    assert front({}, {}) == []
    assert front({"none": 0.0, "good": 10.0}, {"none": 0.0, "good": 0.5}) == ["good"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_nothing_beats_the_front_and_something_beats_the_rest(points):
    cost = {str(i): float(c) for i, (c, _) in enumerate(points)}
    quality = {str(i): float(q) for i, (_, q) in enumerate(points)}
    on = set(front(cost, quality))

    def beaten(name):
        return any(
            (
                cost[o] <= cost[name]
                and quality[o] >= quality[name]
                and (cost[o], quality[o]) != (cost[name], quality[name])
            )
            or (quality[o] > quality[name] and quality[o] * cost[name] > quality[name] * cost[o])
            or (quality[o] > quality[name] == 0)
            for o in cost
        )

    assert on == {name for name in cost if not beaten(name)}
