"""Bounds after a choice in stages: among those that survived, and against those dropped on the way."""

from dataclasses import replace

import numpy as np
import pytest

from harness.comparison import Options, ScoreMatrix, SeenStage, ending_early, shown_worse, staged_bounds
from harness.comparison.regret import losses
from harness.comparison.staged import extended
from harness.comparison.stats import units_of

OF = np.repeat(np.arange(16), 8)
CLUSTERS = tuple(f"d{document}" for document in OF)
OPTIONS = Options(resamples=500, seed=3)


def matrix(values, rows, columns):
    return ScoreMatrix(
        "m",
        tuple(f"s{row}" for row in rows),
        tuple(f"q{column}" for column in columns),
        values[np.ix_(rows, columns)],
        ("train",) * len(columns),
        tuple(CLUSTERS[column] for column in columns),
    )


def scores(count, seed, noise=0.05, spread=0.1):
    """Settings whose queries are hard alike, each a little worse than the one before it."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0.5, 0.3, len(OF))
    documents = 0.03 * rng.normal(size=(count, 16))
    means = -np.linspace(0, spread, count)[:, None]
    return means + hard + documents[:, OF] + noise * rng.normal(size=(count, len(OF)))


EVERY = np.arange(len(OF))
FIRST = EVERY[EVERY % 8 < 2]


def stages(values, kept=4, bases=("whole", "whole")):
    rows = np.arange(len(values))
    first, last = bases
    return [
        SeenStage(matrix(values, rows, FIRST), first),
        SeenStage(matrix(values, rows[:kept], EVERY), last),
    ]


def test_one_stage_alone_has_the_bounds_of_a_sweep():
    values = scores(6, seed=1)
    bounds = staged_bounds([SeenStage(matrix(values, range(6), EVERY), "whole")], OPTIONS)
    units = units_of(CLUSTERS, len(OF))
    expected = losses(values, ~np.eye(6, dtype=bool), units, 0.95, 500, 3)
    assert bounds.dropped == {}
    assert bounds.against_dropped("s0") == 0.0
    np.testing.assert_allclose(list(bounds.survivors.values()), expected)


def test_survivors_pay_for_all_settings_that_they_were_picked_from():
    values = scores(40, seed=2)
    bounds = staged_bounds(stages(values), OPTIONS)
    units = units_of(CLUSTERS, len(OF))
    alone = losses(values[:4], ~np.eye(4, dtype=bool), units, 0.95, 500, 3)
    assert [*bounds.survivors] == ["s0", "s1", "s2", "s3"]
    assert all(bound > other for bound, other in zip(bounds.survivors.values(), alone, strict=True))
    assert [*bounds.dropped] == [f"s{at}" for at in range(4, 40)]
    # what was observed is within the bounds
    first = matrix(values, range(40), FIRST)
    for name, leads in bounds.dropped.items():
        assert leads["s0"] > first.row(name).mean() - first.row("s0").mean() - 0.05


def test_survivors_seen_on_more_make_the_bounds_of_those_dropped_smaller():
    with_control, without = [], []
    for seed in range(12):
        values = scores(12, seed=seed, noise=0.2)
        first, second = (
            staged_bounds(stages(values, bases=("whole", last)), OPTIONS) for last in ("whole", "a")
        )
        assert first.survivors == second.survivors
        with_control.append(first.against_dropped("s0"))
        without.append(second.against_dropped("s0"))
    assert np.mean(with_control) < 0.95 * np.mean(without)


def test_what_the_survivors_predict_adds_no_bias():
    values = scores(5, seed=5)
    truth = values[4].mean()
    rng = np.random.default_rng(9)
    means, plain = [], []
    for _ in range(300):
        columns = np.sort(np.concatenate([rng.choice(np.flatnonzero(d == OF), 2, False) for d in range(16)]))
        means.append(extended(values[4, columns], columns, values[:3], CLUSTERS).mean())
        plain.append(values[4, columns].mean())
    assert abs(np.mean(means) - truth) < 3 * np.std(means) / np.sqrt(300)
    # the others know how hard the queries are
    assert np.std(means) < 0.5 * np.std(plain)


def test_what_was_seen_on_all_queries_is_left_as_it_is():
    values = scores(3, seed=6)
    order = np.random.default_rng(1).permutation(len(OF))
    np.testing.assert_array_equal(extended(values[0, order], order, values[1:], CLUSTERS), values[0])


def test_documents_of_which_nothing_was_seen_are_stood_for_by_the_others():
    values = scores(3, seed=7, noise=0.0)
    columns = np.flatnonzero(OF < 12)
    row = extended(values[0, columns], columns, values[1:], CLUSTERS)
    # the setting is the others but for its documents, of which the last ones are not known
    assert abs(row.mean() - values[0].mean()) < 0.03


def test_a_setting_that_is_far_worse_is_shown_to_be():
    values = scores(5, seed=8, spread=0.0)
    values[3] -= 0.3
    seen = SeenStage(matrix(values, range(5), EVERY), "whole")
    worse = shown_worse(seen, OPTIONS)
    assert list(worse) == ["s3"]
    assert 0.2 < worse["s3"] < 0.3
    assert shown_worse(seen, OPTIONS, looks=20)["s3"] < worse["s3"]


SHORT = {"s3": 0.6, "s4": 0.9, "s5": 0.97}


def test_rankings_that_end_earlier_show_no_setting_to_be_worse():
    values = scores(5, seed=8, spread=0.0)
    values[3:] -= 0.3
    seen = matrix(values, range(5), EVERY)
    assert set(shown_worse(SeenStage(seen, "whole"), OPTIONS)) == {"s3", "s4"}
    assert ending_early(SHORT, seen.settings) == ("s3", "s4")
    assert shown_worse(SeenStage(seen, "whole", read=SHORT), OPTIONS) == {}
    # as far as rankings go where all end alike
    alike = dict.fromkeys(seen.settings, 0.6)
    assert ending_early(alike, seen.settings) == ()
    assert set(shown_worse(SeenStage(seen, "whole", read=alike), OPTIONS)) == {"s3", "s4"}
    # one that is deeper may be shown to be worse than one that is not
    assert set(shown_worse(SeenStage(seen, "whole", read={"s0": 0.6}), OPTIONS)) == {"s3", "s4"}


def test_no_bound_covers_a_setting_whose_rankings_end_earlier():
    values = scores(7, seed=10, spread=0.0)
    first, last = stages(values)
    whole = staged_bounds([first, last], OPTIONS)
    cut = [replace(first, read=SHORT), replace(last, read={"s3": 0.6})]
    bounds = staged_bounds(cut, OPTIONS)
    assert bounds.unread["s0"] == {"s3", "s4"}
    assert bounds.unread["s3"] == frozenset()
    assert np.isnan(bounds.dropped["s4"]["s0"])
    assert bounds.dropped["s4"]["s3"] == whole.dropped["s4"]["s3"]
    assert bounds.dropped["s5"] == whole.dropped["s5"]
    # the others bound the loss, and what ends early itself is bounded as before
    assert bounds.survivors["s3"] == whole.survivors["s3"]
    assert all(bounds.survivors[name] <= whole.survivors[name] for name in whole.survivors)
    two = replace(last, matrix=matrix(values, [0, 3], EVERY), read={"s3": 0.6})
    assert np.isnan(staged_bounds([first, two], OPTIONS).survivors["s0"])


def test_a_dropped_setting_that_is_far_worse_is_bounded_below_zero():
    values = scores(6, seed=10, spread=0.0)
    values[5] -= 0.3
    bounds = staged_bounds(stages(values, kept=5), OPTIONS)
    assert bounds.dropped["s5"]["s0"] < -0.15
    assert bounds.against_dropped("s0") == 0.0


def test_a_setting_does_not_come_back():
    values = scores(3, seed=11)
    back = [SeenStage(matrix(values, [0, 1], FIRST), "a"), SeenStage(matrix(values, [1, 2], EVERY), "a")]
    with pytest.raises(ValueError, match="did not see"):
        staged_bounds(back, OPTIONS)


def held_stages(reranked, bases):
    """Four retrievers, and the same with rerankers, which are held back at first; two of each go on."""
    values = np.vstack([scores(4, seed=9), reranked])
    shown = np.vstack([values[:4], values[:4]])
    first, second, last = bases
    return [
        SeenStage(matrix(shown, range(8), EVERY), first, frozenset({"s4", "s5", "s6", "s7"})),
        SeenStage(matrix(values, [0, 1, 4, 5], FIRST), second),
        SeenStage(matrix(values, [0, 4], EVERY), last),
    ]


def test_of_what_was_seen_without_a_step_nothing_is_known():
    # rerankers lift what they rank far beyond every retriever
    reranked = scores(4, seed=9) + 0.3
    bounds = staged_bounds(held_stages(reranked, ("whole", "whole", "whole")), OPTIONS)
    assert [*bounds.survivors] == ["s0", "s4"]
    assert all(np.isnan(list(bounds.dropped[name].values())).all() for name in ("s6", "s7"))
    # what has no such step was seen as it is, and stands beside the scores of survivors with all their steps
    assert bounds.dropped["s2"]["s4"] < -0.2
    assert -0.2 < bounds.dropped["s2"]["s0"] < 0.2
    assert bounds.dropped["s5"]["s4"] < 0.2


def test_without_a_stage_on_the_same_text_a_held_step_leaves_nothing_to_compare_with():
    bounds = staged_bounds(held_stages(scores(4, seed=9), ("0.3", "0.5", "whole")), OPTIONS)
    assert all(np.isnan(list(bounds.dropped[name].values())).all() for name in ("s2", "s3", "s6", "s7"))
    assert np.isfinite(list(bounds.dropped["s1"].values())).all()


def test_a_choice_by_retrievers_is_paid_for_by_all_that_was_seen():
    reranked = scores(4, seed=12)
    three = held_stages(reranked, ("whole", "whole", "whole"))
    held = staged_bounds(three, OPTIONS)
    plain = staged_bounds(three[1:], OPTIONS)
    assert all(held.survivors[name] >= plain.survivors[name] for name in held.survivors)
