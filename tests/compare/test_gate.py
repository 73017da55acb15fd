import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from harness.comparison import ScoredOn, gate, gate_sentence, github_annotations, junit
from harness.comparison.sentences import MOST_WORDS
from harness.values.errors import HarnessError

from .build import matrix

RNG = np.random.default_rng(11)
BASE = RNG.random(100)
SLIGHTLY_DIFFERENT = BASE + RNG.normal(0, 0.05, 100)


def checked(now, before=BASE, **options):
    options = {"max_drop": 0.02} | options
    return gate(matrix({"a": now}), matrix({"a": before}), **options)


def test_a_real_drop_fails():
    result = checked(BASE - 0.1 + RNG.normal(0, 0.05, 100))
    (check,) = result.checks
    assert result.failed
    assert check.drop == pytest.approx(0.1, abs=0.02)
    assert 0.02 < check.at_least < check.drop
    assert "with 0.02 tolerated" in check.reason


def test_a_rise_and_a_small_drop_pass():
    assert not checked(BASE + 0.1).failed
    assert not checked(SLIGHTLY_DIFFERENT).failed
    assert not checked(BASE).failed
    assert not checked(BASE - 0.01).failed


def test_a_check_that_passes_says_whether_the_two_are_equivalent():
    (same,) = checked(SLIGHTLY_DIFFERENT).checks
    assert same.equivalent
    assert -0.02 < same.drop < same.most < 0.02
    assert f"equivalent within 0.02; a drop is at most {same.most:.4f}." in same.reason
    noise = RNG.normal(0, 0.2, 100)
    (open_,) = checked(BASE - 0.005 + noise - noise.mean(), max_drop=0.03).checks
    assert not open_.equivalent
    assert "no drop beyond the 0.03 that is tolerated, though one of up to 0.0" in open_.reason
    (small,) = checked(BASE - 0.005 + noise - noise.mean(), max_drop=0.1).checks
    assert f"a drop of more than {small.most:.4f} is excluded, with 0.1 tolerated." in small.reason
    # two queries bound a drop by more than there was to lose
    assert checked([0.1, 0.1], [0.2, 0.4]).checks[0].most == pytest.approx(0.3)
    (risen,) = checked(BASE + 0.1).checks
    assert not risen.equivalent
    assert risen.reason.endswith("queries: a drop is excluded.")
    assert gate_sentence(checked(BASE + 0.1), str, "document") == "Passed: a drop is excluded (95%)."
    assert replace(same, most=-0.0).reason.endswith("a drop is at most 0.0000.")
    assert not checked(SLIGHTLY_DIFFERENT, tolerance=0.001).checks[0].equivalent


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_few_clusters_pass_and_fail_only_for_themselves(drop):
    before = replace(matrix({"a": BASE}), clusters=tuple(f"d{i % 4}" for i in range(100)))
    now = replace(before, values=before.values - drop)
    result = gate(now, before, max_drop=0.02)
    assert result.failed == (drop > 0)
    assert "about the 4 clusters of these queries; new ones may differ" in junit(result)
    assert "new ones may differ" in github_annotations(result)
    assert "4 clusters of queries cannot stand for new ones" in result.holds_for


def test_one_sentence_says_what_came_of_it_and_how_sure_that_is():
    def said(result):
        return gate_sentence(result, lambda name: f"500 characters, {name}", "document")

    same, base = matrix({"a": SLIGHTLY_DIFFERENT, "b": BASE}), matrix({"a": BASE, "b": BASE})
    assert said(gate(same, base, max_drop=0)) == (
        "Passed: all 2 settings are equal to the baseline within 0.02 (95%)."
    )
    worse = gate(replace(base, values=base.values - 0.3), base, max_drop=0.02, read=({"a": 0.2}, {}))
    assert said(worse).endswith(
        "Best 0.15: none is good enough. Rankings end earlier in one of the two runs."
    )
    depths = ["may be of their depth alone" in check.reason for check in worse.checks]
    assert depths == [True, False]
    few = tuple(f"d{i % 4}" for i in range(100))
    failed = gate(
        replace(base, values=base.values - 0.3, clusters=few), replace(base, clusters=few), max_drop=0.02
    )
    assert said(failed) == (
        "Failed: 500 characters, a dropped by at least 0.30 (95%). 1 other failed too. New documents "
        "may differ. Best 0.15: none is good enough."
    )
    noise = RNG.normal(0, 0.2, 100)
    open_ = [checked(BASE - 0.005 + noise - noise.mean(), max_drop=drop) for drop in (0.03, 0.1)]
    assert said(open_[0]).startswith(
        "Passed: no drop beyond the 0.03 tolerated is shown, though one of up to"
    )
    assert said(open_[1]).startswith("Passed: a drop of more than 0.0")
    assert said(open_[1]).endswith("is excluded, with 0.1 tolerated (95%).")
    # the bound of what dropped is rounded down, so that it holds
    steep = checked(np.full(100, 0.42) + noise / 100, np.full(100, 0.5))
    assert f"by at least {math.floor(100 * steep.checks[0].at_least) / 100:.2f} (95%)" in said(steep)
    assert said(checked([0.1], [0.9])) == "Passed: a single query cannot show whether a drop is real."
    long = gate_sentence(
        failed, lambda name: f"{name} with far more words than anybody reads " * 3, "document"
    )
    assert all(len(text.split()) <= MOST_WORDS for text in (long, said(failed), *map(said, open_)))


def test_a_drop_in_doubt_passes_and_says_so():
    few = np.array([0.5, 0.9, 0.2, 0.7, 0.6])
    result = checked(few - np.array([0.4, -0.2, 0.1, 0.3, -0.1]), few)
    assert not result.failed
    assert "a drop of 0.1000, with 0.02 tolerated, but only 0.0000 of it" in result.checks[0].reason


def test_more_confidence_asks_for_more():
    now = BASE - 0.04 + RNG.normal(0, 0.08, 100)
    bounds = [checked(now, confidence=c).checks[0].at_least for c in (0.6, 0.8, 0.95, 0.999)]
    assert bounds == sorted(bounds, reverse=True)


def test_several_settings_share_the_risk():
    now, before = matrix({"a": SLIGHTLY_DIFFERENT, "b": BASE}), matrix({"a": BASE, "b": BASE})
    both = gate(now, before, max_drop=0.02)
    alone = checked(SLIGHTLY_DIFFERENT, confidence=0.975)
    assert both.checks[0].at_least == pytest.approx(alone.checks[0].at_least)


def test_undefined_queries_are_left_out():
    assert checked([0.5, np.nan, 0.4], [0.5, np.nan, 0.4]).checks[0].n == 2


def test_queries_are_matched_by_name():
    before = matrix({"a": BASE[::-1]}, ids=tuple(f"q{i}" for i in range(99, -1, -1)), splits=("train",) * 100)
    now = matrix({"a": BASE}, splits=("train",) * 100)
    assert gate(now, before, max_drop=0).checks[0].drop == 0


def test_a_single_query_cannot_fail():
    result = checked([0.1], [0.9])
    assert not result.failed
    assert "single query" in result.checks[0].reason


def test_three_queries_that_drop_alike_prove_nothing():
    result = checked(np.array([0.3, 0.4, 0.5]), np.array([0.8, 0.9, 1.0]))
    # of the eight patterns of signs one reaches the data, the data themselves
    assert result.checks[0].p == 1 / 8
    assert not result.failed
    # by their spread alone the bound would be 0.5; it does not look surer than the test
    assert result.checks[0].at_least == pytest.approx(0.02)
    assert "only 0.0200 of it is beyond chance" in result.checks[0].reason


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(HarnessError, match="the queries differ"):
        checked(BASE[:50])
    with pytest.raises(HarnessError, match=r"settings b are not among the results (?s:.*)matched by name"):
        gate(matrix({"a": BASE}), matrix({"b": BASE}), max_drop=0)
    with pytest.raises(HarnessError, match="defined in only one"):
        checked([0.1, np.nan], [0.1, 0.2])
    # nothing is larger than what is no number, and every gate would pass
    for drop in (-1, math.nan, math.inf):
        with pytest.raises(HarnessError, match="max-drop of at least 0"):
            checked(BASE, max_drop=drop)
    for confidence in (1.0, math.nan):
        with pytest.raises(HarnessError, match="confidence"):
            checked(BASE, confidence=confidence)
    one = ScoredOn({}, {"queries": "1", "labels": "2"})
    other = ScoredOn({}, {"queries": "1", "labels": "3"})
    with pytest.raises(HarnessError, match="labels differ: 2 and 3"):
        checked(BASE, scored_on=(one, other))


HOSTILE = 'a<b>&"c"\x00 100 %, x: y\nz\n::add-mask::1\r\x1b[31m'


def test_junit_holds_any_name_and_counts():
    now = matrix({HOSTILE: BASE - 0.3, "fine": BASE})
    root = ElementTree.fromstring(
        junit(gate(now, matrix({HOSTILE: BASE, "fine": BASE}), max_drop=0.02)).split("\n", 1)[1]
    )
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuite", "2", "1")
    bad, fine = root.findall("testcase")
    assert bad.get("name") == r'a<b>&"c"\x00 100 %, x: y z \x3a:add-mask::1 \x1b[31m'
    assert bad.find("failure").get("message").startswith("0.")
    assert fine.find("failure") is None


def test_annotations_cannot_be_broken_out_of():
    now = matrix({HOSTILE: BASE - 0.3})
    text = github_annotations(gate(now, matrix({HOSTILE: BASE}), max_drop=0.02))
    assert text.count("\n") == 1
    title = r'ndcg_exp@10 of a<b>&"c"\x00 100 %25%2C x%3A y z \x3a%3Aadd-mask%3A%3A1 \x1b[31m'
    assert text.startswith(f"::error title={title}::")
    assert github_annotations(checked(BASE)).startswith("::notice title=ndcg_exp@10 of a::")
