"""Fusions by hand: what each rule makes of two routes, and of routes with little to say."""

import math

import pytest

from harness.running import STEP_KINDS
from harness.steps import Bm25Config
from harness.values import NOT_SCORED, Ranking

ROUTES = (Bm25Config(), Bm25Config())
BY_SCORE = ["minmax", "weighted"]


def fuse(kind, *routes, weights=(1.0, 1.0), **fields):
    table = STEP_KINDS["retrieve"][kind]
    rankings = [Ranking("q", tuple(route), tuple(map(float, route.values()))) for route in routes]
    config = table.config(routes=ROUTES[:1] * len(routes), **fields)
    return table.make(config).combine(rankings, weights)


A = {"x": 8, "y": 6, "z": 4}
B = {"y": 0.9, "w": 0.5}

# Of A: lowest 4, highest 8. Of B: lowest 0.5, highest 0.9.
GOLDEN = {
    "rrf": {"x": 1 / 61, "y": 1 / 62 + 1 / 61, "z": 1 / 63, "w": 1 / 62},
    "minmax": {"x": 1.0, "y": 0.5 + 1.0, "z": 0.0, "w": 0.0},
    "weighted": {"x": 8.0, "y": 6.9, "z": 4.0, "w": 0.5},
}


@pytest.mark.parametrize("kind", GOLDEN)
def test_golden_values_and_weights_that_multiply_what_a_route_gives(kind):
    assert fuse(kind, A, B) == pytest.approx(GOLDEN[kind])
    first, second = fuse(kind, A, B, weights=(1, 0)), fuse(kind, A, B, weights=(0, 1))
    both = fuse(kind, A, B, weights=(3, 0.5))
    assert both == pytest.approx({chunk: 3 * first[chunk] + 0.5 * second[chunk] for chunk in both})


def test_equal_scores_and_single_hits_count_as_found():
    same = {"x": 3.3, "y": 3.3}
    assert fuse("minmax", same, {"z": 7}) == {"x": 1, "y": 1, "z": 1}
    # a sum that is not exact must not make a difference of equal scores
    many = {str(i): 0.1 for i in range(7)}
    assert set(fuse("minmax", many, weights=(1.0,)).values()) == {1}


@pytest.mark.parametrize("kind", BY_SCORE)
def test_an_empty_route_adds_nothing(kind):
    alone = fuse(kind, A, weights=(1.0,))
    assert sorted(alone, key=alone.get, reverse=True) == ["x", "y", "z"]
    assert fuse(kind, A, {}) == pytest.approx(alone)
    assert fuse(kind, {}, {}) == {}


@pytest.mark.parametrize("kind", BY_SCORE)
def test_what_a_route_did_not_score_counts_as_absent_and_stays(kind):
    tail = {**B, "x": NOT_SCORED, "v": NOT_SCORED}
    fused = fuse(kind, A, tail)
    without = fuse(kind, A, B)
    assert {chunk: fused[chunk] for chunk in without} == pytest.approx(without)
    assert math.isfinite(fused["v"])
    assert fused["v"] == min(fused.values())
    nothing_scored = fuse(kind, {"x": NOT_SCORED, "y": NOT_SCORED}, weights=(1.0,))
    assert len(set(nothing_scored.values())) == 1
    assert list(nothing_scored) == ["x", "y"]


def test_an_absent_chunk_is_above_none_that_was_found():
    l2 = {"near": -0.5, "far": -2.0}
    assert fuse("weighted", l2, {"absent": 0.0}) == {"near": -0.5, "far": -2.0, "absent": -2.0}
