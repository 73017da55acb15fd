"""Judge-corrected means: exact where that can be derived, covering where it is random."""

import numpy as np
import pytest

from benchmarks.compare_populations import BETTER, EQUAL, POPULATIONS
from benchmarks.judge_coverage import GOOD, RARE, USELESS, simulate
from harness.judge import corrected_difference, corrected_mean
from harness.values import LabelError
from tests.stats.rows import guarded


def scores(values, start=0):
    return {f"q{number}": float(value) for number, value in enumerate(values, start)}


def sample(seed=0, queries=400, labelled=60, noise=0.1):
    rng = np.random.default_rng(seed)
    human = rng.beta(2, 2, queries)
    judge = np.clip(human + 0.2 + rng.normal(0, noise, queries), 0, 1.5)
    return scores(human[:labelled]), scores(judge), human.mean()


def test_the_estimate_follows_its_formula():
    human, judge, _ = sample()
    found = corrected_mean(human, judge)
    true = np.array(list(human.values()))
    judged = np.array([judge[query] for query in human])
    rest = np.array([value for query, value in judge.items() if query not in human])
    covariance = np.cov(true, judged)[0, 1]
    weight = covariance / (np.concatenate([judged, rest]).var(ddof=1) * (1 + 60 / 340))
    assert found.weight == pytest.approx(weight)
    assert found.value == pytest.approx(true.mean() + weight * (rest.mean() - judged.mean()))
    assert (found.labelled, found.unanswerable, found.judged) == (60, 0, 400)


def test_a_biased_judge_is_corrected_and_the_interval_is_shorter():
    human, judge, truth = sample()
    found = corrected_mean(human, judge)
    assert found.judge_only - truth > 0.15
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.7 * (found.human_only_high - found.human_only_low)


def test_a_shift_of_the_judge_and_an_uninformative_one_change_nothing():
    human, judge, _ = sample()
    shifted = {query: value + 5 for query, value in judge.items()}
    one, two = corrected_mean(human, judge), corrected_mean(human, shifted)
    assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high))
    for constant in (0.0, 0.7):
        found = corrected_mean(human, dict.fromkeys(judge, constant))
        assert (found.weight, found.value) == (0, found.human_only)


def test_everything_labelled_is_the_mean_of_the_labels():
    _, judge, _ = sample(queries=50)
    human = {query: value / 2 for query, value in judge.items()}
    found = corrected_mean(human, judge)
    assert found.value == found.human_only == pytest.approx(np.mean(list(human.values())))


def test_settings_that_tie_throughout_still_leave_some_doubt():
    human, judge, _ = sample(labelled=50)
    found = corrected_difference((human, human), (judge, judge))
    # two made-up queries of half a point among 50: 0.5 * sqrt(2) / 50 = 0.0141, times t(49) = 2.01
    assert found.value == 0
    assert (found.low, found.high) == (pytest.approx(-0.0284, abs=1e-4), pytest.approx(0.0284, abs=1e-4))


def test_a_query_without_relevant_text_leaves_the_mean_and_is_counted():
    human, judge, _ = sample()
    found = corrected_mean({**human, "q0": None}, {**judge, "q399": None})
    assert (found.labelled, found.unanswerable, found.judged) == (59, 1, 400)
    assert found.human_only == pytest.approx(np.mean([human[f"q{n}"] for n in range(1, 60)]))


def test_queries_that_only_the_judge_can_score_do_not_shift_the_mean():
    """People find nothing in half of the queries, and there the judge invents an easy answer."""
    human, judge, _ = sample(queries=4000, labelled=2000, noise=0.01)
    easy = {query: 1.5 for number, query in enumerate(judge) if number % 2}
    blind = {query: None if query in easy else value for query, value in human.items()}
    found = corrected_mean(blind, {**judge, **easy})
    truth = np.mean([value for value in blind.values() if value is not None])
    assert found.value == pytest.approx(truth, abs=0.01)
    assert found.judge_only > truth + 0.3


def test_labels_that_correct_nothing_are_refused():
    human, judge, _ = sample()
    with pytest.raises(LabelError, match="Label more"):
        corrected_mean(sample(labelled=9)[0], judge)
    with pytest.raises(LabelError, match="not judged"):
        corrected_mean({**human, "new": 1.0}, judge)
    with pytest.raises(LabelError, match="same queries"):
        corrected_difference((human, dict(list(human.items())[1:])), (judge, judge))


def test_people_alone_have_the_interval_of_a_plain_mean():
    """With many different values: the wider of Student's t and Hall's, as `harness compare` gives."""
    human, judge, _ = sample()
    found = corrected_mean(human, dict.fromkeys(judge, 0.5))
    low, high = guarded(np.array([list(human.values())]), 0.025)
    assert (found.human_only_low, found.human_only_high) == (pytest.approx(low[0]), pytest.approx(high[0]))
    assert (found.low, found.high) == (found.human_only_low, found.human_only_high)


@pytest.mark.slow
@pytest.mark.parametrize("judge", [GOOD, USELESS], ids=lambda judge: judge.name)
@pytest.mark.parametrize("population", [*POPULATIONS, RARE], ids=lambda population: population.name)
@pytest.mark.parametrize(("labelled", "unanswerable"), [(20, 0.25), (50, 0.0)])
def test_intervals_cover(population, judge, labelled, unanswerable):
    """1,000 trials: a true coverage of 95 % shows above 93 % in 998 of 1,000 runs; the seed is fixed."""
    for shift in (EQUAL, BETTER):
        found = simulate(population, shift, judge, unanswerable, labelled, 10 * labelled, 1000)
        covers = {name: share for name, share in found.items() if "width" not in name}
        assert min(covers.values()) >= 0.93, covers
        assert found["mean width"] < (0.85 if judge is GOOD else 1.1)
