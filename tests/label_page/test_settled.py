"""The ratings of all raters together: agreement, differences, decisions."""

from math import isnan

import pytest

from harness.judge import alpha_of_all, pair_agreements
from harness.labels import Rating, grades_of
from harness.labels.label_page.ratings import Decision, ItemRating, differing, settle


def labels(**of_raters):
    return [
        ItemRating(rater, str(at), Rating(grade=grade), 1)
        for rater, grades in of_raters.items()
        for at, grade in enumerate(grades)
        if grade is not None
    ]


def test_agreement_of_two_raters_by_hand():
    grades = grades_of(labels(Ada=[4, 3, 0, 1, 2], Bob=[4, 1, 0, 2, None]))
    (pair,) = pair_agreements(grades)
    # equal: 4 and 0 of four shared; at most one apart: also 1 against 2
    assert (pair.items, pair.exact, pair.near) == (4, 0.5, 0.75)
    # squared distances are 0, 4, 0, 1: 5 in sum. Expected: over all pairs of Ada's {4,3,0,1} and Bob's
    # {4,1,0,2}, the squared distances are (0+9+16+4) + (1+4+9+1) + (16+1+0+4) + (9+0+1+1) = 76,
    # over 4: 19. 1 - 5/19
    assert pair.kappa_quadratic == pytest.approx(1 - 5 / 19)
    items, alpha = alpha_of_all(grades)
    assert items == 4
    assert alpha == pytest.approx(pair.alpha)


def test_agreement_is_nan_where_it_is_undefined_and_never_zero():
    assert isnan(alpha_of_all({})[1])
    assert pair_agreements(grades_of(labels(Ada=[1, 2]))) == []
    same = grades_of(labels(Ada=[2, 2], Bob=[2, 2]))
    (pair,) = pair_agreements(same)
    assert pair.exact == 1
    assert isnan(pair.kappa)
    assert isnan(alpha_of_all(same)[1])


def test_a_skipped_item_has_no_grade():
    given = [*labels(Ada=[1]), ItemRating("Bob", "0", Rating(skipped="cannot tell"), 1)]
    assert alpha_of_all(grades_of(given))[0] == 0
    settled = settle(given, {})
    assert settled["0"].grade == 1
    assert not settled["0"].differs
    assert settle([ItemRating("Bob", "0", Rating(skipped="cannot tell"), 1)], {}) == {}


def test_a_decision_ends_with_the_difference():
    decisions = {"0": Decision("0", "Eve", 3, "")}
    assert settle(labels(Ada=[1], Bob=[4]), decisions)["0"].grade == 3
    assert settle(labels(Ada=[4], Bob=[4]), decisions)["0"].grade == 4


def test_a_rater_sees_differences_on_what_they_have_done_alone_and_a_referee_all():
    settled = list(settle(labels(Ada=[1, 2, None], Bob=[2, 4, 0], Cem=[None, None, 4]), {}).values())
    assert {one.item_id for one in differing(settled, frozenset("01"))} == {"0", "1"}
    assert {one.item_id for one in differing(settled, frozenset())} == {"0", "1", "2"}
