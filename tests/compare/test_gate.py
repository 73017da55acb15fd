import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from harness.comparison import (
    ENOUGH_READ,
    MOST_WORDS,
    ScoredOn,
    gate,
    gate_sentence,
    github_annotations,
    junit,
)
from harness.values import HarnessError

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


def test_a_rise_and_a_small_drop_pass():
    for now in (BASE + 0.1, SLIGHTLY_DIFFERENT, BASE, BASE - 0.01):
        assert not checked(now).failed


def test_a_check_that_passes_says_whether_the_two_are_equivalent():
    noise = RNG.normal(0, 0.2, 100)
    noisy = BASE - 0.005 + noise - noise.mean()
    for now, max_drop, equivalent, said in (
        (SLIGHTLY_DIFFERENT, 0.02, True, "equivalent within 0.02; a drop is at most {:.4f}."),
        (noisy, 0.03, False, "no drop beyond the 0.03 tolerated is shown, though one of up to {:.4f} "),
        (noisy, 0.1, False, "a drop of more than {:.4f} is excluded, with 0.1 tolerated."),
        (BASE + 0.1, 0.02, False, "queries: a drop is excluded."),
    ):
        result = checked(now, max_drop=max_drop)
        (check,) = result.checks
        told = gate_sentence(result, str, "document")
        assert ("excluded" in told, "not excluded" in told) == (not equivalent, check.most > max_drop)
        assert (check.equivalent, said.format(check.most) in check.reason) == (equivalent, True)
    (same,) = checked(SLIGHTLY_DIFFERENT).checks
    assert -0.02 < same.drop < same.most < 0.02
    assert replace(same, most=-0.0).reason.endswith("a drop is at most 0.0000.")
    # five queries bound a drop by more than there was to lose
    assert checked([0.1, 0.0, 0, 0, 0], [0.1, 0.4, 0, 0, 0]).checks[0].most == pytest.approx(0.1)
    assert not checked(SLIGHTLY_DIFFERENT, tolerance=0.001).checks[0].equivalent


@pytest.mark.parametrize("drop", [0.0, 0.3])
def test_few_clusters_pass_and_fail_only_for_themselves(drop):
    before = replace(matrix({"a": BASE}), clusters=tuple(f"d{i % 4}" for i in range(100)))
    result = gate(replace(before, values=before.values - drop), before, max_drop=0.02)
    assert result.failed == (drop > 0)
    for told in (junit(result), github_annotations(result)):
        assert "may not hold for new ones" in told
    assert "cannot stand for new ones" in result.holds_for


def test_one_sentence_says_what_came_of_it_and_how_sure_that_is():
    """What it says of a drop is held against the checks in test_sentences_hold."""
    base = matrix({"a": BASE, "b": BASE})
    worse = gate(replace(base, values=base.values - 0.3), base, max_drop=0.02, read=({"a": 0.2}, {}))
    assert gate_sentence(worse, str, "d").endswith("Rankings end earlier in one of the two runs.")
    assert ["may be of their depth alone" in check.reason for check in worse.checks] == [True, False]
    few = replace(base, clusters=tuple(f"d{i % 4}" for i in range(100)))
    failed = gate(replace(few, values=base.values - 0.3), few, max_drop=0.02)
    long = gate_sentence(failed, lambda name: f"{name} with far more words than anybody reads " * 3, "d")
    # no other name begins as this one does, so nothing follows what is cut
    assert "… dropped" in long
    assert long.endswith("1 other failed too. This holds for these ds alone. Best 0.15: none is good enough.")
    assert len(long.split()) <= MOST_WORDS
    single = gate_sentence(checked([0.1], [0.9]), str, "d")
    assert single == "Passed: a single query cannot show whether a drop is real."


def test_a_drop_in_doubt_passes():
    few = np.array([0.5, 0.9, 0.2, 0.7, 0.6])
    result = checked(few - np.array([0.4, -0.2, 0.1, 0.3, -0.1]), few)
    assert (result.failed, result.checks[0].drop) == (False, pytest.approx(0.1))
    assert result.checks[0].at_least <= 0
    assert "but chance may explain all of it" in result.checks[0].reason


def test_a_single_query_is_shown_to_be_nothing():
    (check,) = checked([0.5], [0.5]).checks
    assert (check.failed, check.equivalent, check.at_least, check.most) == (False, False, None, None)


@pytest.mark.parametrize(("share", "unread"), [(ENOUGH_READ, False), (ENOUGH_READ - 0.001, True)])
def test_rankings_that_hold_almost_all_that_is_read_are_whole(share, unread):
    (check,) = checked(BASE, read=({"a": share}, {})).checks
    assert check.unread == unread


def test_more_confidence_asks_for_more():
    now = BASE - 0.04 + RNG.normal(0, 0.08, 100)
    bounds = [checked(now, confidence=c).checks[0].at_least for c in (0.6, 0.8, 0.95, 0.999)]
    assert bounds == sorted(bounds, reverse=True)


def test_several_settings_share_the_risk():
    now, before = matrix({"a": SLIGHTLY_DIFFERENT, "b": BASE}), matrix({"a": BASE, "b": BASE})
    both = gate(now, before, max_drop=0.02)
    alone = checked(SLIGHTLY_DIFFERENT, confidence=0.975)
    assert both.checks[0].at_least == pytest.approx(alone.checks[0].at_least)


def test_queries_are_matched_by_name_undefined_ones_left_out_and_one_alone_cannot_fail():
    before = matrix({"a": BASE[::-1]}, ids=tuple(f"q{i}" for i in range(99, -1, -1)), splits=("train",) * 100)
    now = matrix({"a": BASE}, splits=("train",) * 100)
    assert gate(now, before, max_drop=0).checks[0].drop == 0
    assert checked([0.5, np.nan, 0.4], [0.5, np.nan, 0.4]).checks[0].n == 2
    single = checked([0.1], [0.9])
    assert (single.failed, "single query" in single.checks[0].reason) == (False, True)


def test_three_queries_that_drop_alike_prove_nothing():
    result = checked(np.array([0.3, 0.4, 0.5]), np.array([0.8, 0.9, 1.0]))
    # of the eight patterns of signs one reaches the data, the data themselves
    assert result.checks[0].p == 1 / 8
    assert not result.failed
    # by their spread alone the bound would be 0.5; the test supports none
    assert result.checks[0].at_least is None


@pytest.mark.parametrize("max_drop", [0, 0.02, 0.5])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_queries_too_few_for_the_test_exclude_nothing(n, max_drop):
    """Of n queries one pattern of signs in 2^n is that of the data, so four cannot show anything at 95 %."""
    values = np.full(n, 0.5)
    passed, strict = (checked(values, values, max_drop=max_drop, must_decide=must) for must in (False, True))
    (check,) = passed.checks
    few = n < 5
    assert (check.most is None, check.at_least is None, check.undecided) == (few, few, few)
    assert (check.equivalent, passed.failed, strict.failed) == (not few, False, few)
    said = gate_sentence(passed, str, "document")
    assert ("excluded" in said, "cannot show" in said or "too few to show" in said) == (False, few)
    # nothing was tested, so nothing holds for other queries
    assert (passed.holds_for == "") == few


def test_settings_and_confidence_take_more_queries_and_more_flips():
    before = matrix({f"s{i}": BASE[:7] for i in range(8)})
    result = gate(before, before, max_drop=0)
    assert "7 queries are too few to show" in gate_sentence(result, str, "document")
    alone = gate(matrix({"a": BASE[:7]}), matrix({"a": BASE[:7]}), max_drop=0)
    assert gate_sentence(alone, str, "document").startswith("Passed: the setting is equal")
    whole = replace(matrix({"a": BASE}), clusters=tuple(f"d{i % 7}" for i in range(100)))
    rare = gate(whole, whole, max_drop=0, confidence=0.999)
    assert gate_sentence(rare, str, "document").startswith("Passed: 7 clusters are too few to show")
    # ten thousand flips could never give a p-value as small as this
    assert checked(BASE - 0.3, confidence=0.99995).failed


def test_what_cannot_be_compared_is_refused():
    one, other = (ScoredOn({}, {"queries": "1", "labels": label}) for label in "23")
    # nothing is larger than what is no number, and every gate would pass
    numbers = [({"max_drop": drop}, "max-drop of at least 0") for drop in (-1, math.nan, math.inf)]
    numbers += [({"confidence": given}, "confidence") for given in (1.0, math.nan)]
    for now, before, options, message in (
        (BASE[:50], BASE, {}, "the queries differ"),
        ([0.1, np.nan], [0.1, 0.2], {}, "defined in only one"),
        (BASE, BASE, {"scored_on": (one, other)}, "labels differ: 2 and 3"),
        *((BASE, BASE, options, message) for options, message in numbers),
    ):
        with pytest.raises(HarnessError, match=message):
            checked(now, before, **options)
    with pytest.raises(HarnessError, match=r"settings b are not among the results (?s:.*)matched by name"):
        gate(matrix({"a": BASE}), matrix({"b": BASE}), max_drop=0)


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


def test_a_required_mean_fails_whatever_the_baseline_has():
    for least, failed in ((BASE.mean() + 1e-6, True), (BASE.mean(), False), (None, False)):
        result = checked(BASE, least=least)
        assert (result.failed, result.checks[0].too_low) == (failed, failed)
        told = gate_sentence(result, str, "document")
        assert ("below the" in told, "required" in result.checks[0].reason) == (failed, failed)
    with pytest.raises(HarnessError, match="cannot be nan"):
        checked(BASE, least=math.nan)
    assert 'type="low"' in junit(checked(BASE, least=0.99))


def test_what_is_undecided_fails_where_it_must_be_decided():
    noise = RNG.normal(0, 0.2, 100)
    noisy = BASE + noise - noise.mean()
    for now, undecided in ((noisy, True), (BASE, False), (BASE + 0.1, False), (BASE - 0.1, False)):
        (check,) = checked(now).checks
        assert check.undecided == undecided
        (strict,) = checked(now, must_decide=True).checks
        assert strict.failed == (check.failed or undecided)
        assert ("Undecided" in strict.reason) == undecided
    told = gate_sentence(checked(noisy, must_decide=True), str, "document")
    assert told.startswith("Failed: a is undecided: a drop of up to 0.0")
    assert checked([0.3], [0.3], must_decide=True).failed


def test_passing_settings_get_one_notice_in_all():
    noise = RNG.normal(0, 0.2, 100)
    now = {"a": BASE, "b": BASE + noise - noise.mean(), "c": BASE, "d": BASE - 0.3}
    text = github_annotations(gate(matrix(now), matrix(dict.fromkeys(now, BASE)), max_drop=0.02))
    error, notice = text.splitlines()
    assert error.startswith("::error title=ndcg_exp@10 of d::")
    # that of which the most is open
    assert notice.startswith("::notice title=ndcg_exp@10 of b::")
    assert notice.endswith(" 2 others passed too.")
