"""Rankings that end before what a measure reads: what is still shown of them, and what is not."""

import numpy as np
import pytest

from harness.comparison import ENOUGH_READ, Options, compared_parts, sentence, steps_of, verdict_json

from .build import conclude, noisy
from .test_factors import sweep, verdict

MEASURE = "ndcg_exp@10"
QUICK = Options(resamples=1_000)
WORDS = {"retrieve": {"kind": "bm25", "top_k": 4}}


def cut(means, read, **more):
    """A verdict where the rankings of some settings hold only a share of what is read."""
    configured = dict.fromkeys("abc"[: len(means)], WORDS)
    return conclude(noisy(80, means), read={MEASURE: read}, configured=configured, options=QUICK, **more)


def test_a_setting_that_is_read_less_deep_cannot_be_found_worse():
    assert cut((0.7, 0.4), {}).decision == "best"
    found = cut((0.7, 0.4), {"b": 0.2})
    assert (found.decision, found.advice, found.used) == ("open", None, "")
    assert (found.comparisons[0].finding, verdict_json(found)["margin"]["finding"]) == ("unread", "unread")
    assert {one.group for one in found.standings} == {"may"}
    assert "rankings of b end before what is read" in sentence(found)
    assert steps_of(found)[0].text.startswith(
        "Set `retrieve.top_k: 10` and run again: the rankings of b end "
    )
    assert "rankings end early" in str(compared_parts(found))
    # hits from elsewhere have no key to set
    hits = conclude(noisy(80, (0.7, 0.4)), read={MEASURE: {"b": 0.2}}, options=QUICK)
    assert steps_of(hits)[0].text.startswith("Give more ranks of each query: the rankings of b end")


def test_a_setting_that_is_better_although_it_is_read_less_deep_is_better():
    # by how much may change, as it may where both are cut short alike
    for read in ({"a": 0.2}, {"a": 0.4, "b": 0.41}):
        found = cut((0.7, 0.4), read)
        assert (found.decision, found.comparisons[0].finding, found.used) == ("best", "real", "a")
        assert "as far as rankings go" in sentence(found)


def test_no_two_are_equal_of_which_one_is_cut_short():
    rng = np.random.default_rng(1)
    scores = noisy(80, (0.5, 0.5))
    scores.values[1] = scores.values[0] + rng.normal(0, 0.01, 80)
    assert conclude(scores, options=QUICK).decision == "equivalent"
    for name in "ab":
        found = conclude(scores, read={MEASURE: {name: 0.5}}, options=QUICK)
        assert (found.decision, found.unread) == ("open", (name,))


def test_next_to_a_baseline_the_same_holds():
    shown = cut((0.7, 0.4), {"b": 0.2}, baseline="b")
    assert (shown.decision, shown.used) == ("not better", "")
    assert "rankings of b end before what is read" in sentence(shown)
    assert cut((0.7, 0.4), {"a": 0.2}, baseline="b").decision == "better"


@pytest.mark.parametrize(("share", "open_"), [(ENOUGH_READ, False), (ENOUGH_READ - 0.001, True)])
def test_a_twentieth_is_not_worth_a_word(share, open_):
    assert (cut((0.7, 0.4), {"b": share}).decision == "open") == open_


def test_of_factors_only_the_one_that_is_read_less_deep_is_left_open():
    # chunks of 500 characters are better, and so are words
    scores, configured = sweep()
    for size, findings in ((1000, ("unread", "real")), (500, ("real", "real"))):
        read = {scores.measure: {f"{size} {kind}": 0.2 for kind in ("bm25", "chroma")}}
        found = verdict(scores, configured, read=read)
        assert tuple(one.found.finding for one in found.effects.main) == findings
        assert (found.effects.levels is None) == (found.advice is None) == ("unread" in findings)
    # an interaction may come from the depth alone
    crossed, _ = sweep(cross=0.2)
    assert verdict(crossed, configured).effects.interactions
    assert not verdict(crossed, configured, read=read).effects.interactions
