"""What raters have said together: agreement, differences, decisions."""

import pytest

from harness.label_page.agreement import agreement_so_far
from harness.label_page.items import Label, Rating
from harness.label_page.settled import differing, settle
from harness.label_page.state import Decision


def labels(**of_raters):
    return [
        Label(rater, str(at), Rating(grade=grade), 1)
        for rater, grades in of_raters.items()
        for at, grade in enumerate(grades)
        if grade is not None
    ]


def test_agreement_of_two_raters_by_hand():
    found = agreement_so_far(labels(Ada=[4, 3, 0, 1, 2], Bob=[4, 1, 0, 2, None]))
    (pair,) = found.pairs
    # equal: 4 and 0 of four shared; at most one apart: also 1 against 2
    assert (pair.items, pair.exact, pair.near) == (4, 0.5, 0.75)
    # squared distances are 0, 4, 0, 1: 5 in sum. Expected: over all pairs of Ada's {4,3,0,1} and Bob's
    # {4,1,0,2}, the squared distances are (0+9+16+4) + (1+4+9+1) + (16+1+0+4) + (9+0+1+1) = 76,
    # over 4: 19. 1 - 5/19
    assert pair.kappa == pytest.approx(1 - 5 / 19)
    assert found.items == 4
    assert -1 <= found.alpha <= 1


def test_agreement_is_none_where_it_is_undefined_and_never_zero():
    assert agreement_so_far([]).alpha is None
    assert agreement_so_far(labels(Ada=[1, 2])).pairs == ()
    apart = agreement_so_far(labels(Ada=[1, None], Bob=[None, 2])).pairs[0]
    assert (apart.items, apart.exact, apart.kappa) == (0, None, None)
    same = agreement_so_far(labels(Ada=[2, 2], Bob=[2, 2]))
    assert same.pairs[0].exact == 1
    assert same.pairs[0].kappa is None
    assert same.alpha is None


def test_a_skipped_item_has_no_grade():
    rating = [*labels(Ada=[1]), Label("Bob", "0", Rating(skipped="cannot tell"), 1)]
    assert agreement_so_far(rating).items == 0
    settled = settle(rating, {})
    assert settled["0"].grade == 1
    assert not settled["0"].differs
    assert settle([Label("Bob", "0", Rating(skipped="cannot tell"), 1)], {}) == {}


def test_raters_who_differ_have_no_grade_until_it_is_decided():
    given = labels(Ada=[1, 2], Bob=[1, 4])
    assert {item: one.grade for item, one in settle(given, {}).items()} == {"0": 1, "1": None}
    decided = settle(given, {"1": Decision("1", "Eve", 3, "half of it")})
    assert (decided["1"].grade, decided["1"].note) == (3, "half of it")
    assert decided["1"].differs


def test_a_decision_ends_with_the_difference():
    decisions = {"0": Decision("0", "Eve", 3, "")}
    assert settle(labels(Ada=[1], Bob=[4]), decisions)["0"].grade == 3
    assert settle(labels(Ada=[4], Bob=[4]), decisions)["0"].grade == 4


def test_a_rater_sees_differences_on_what_they_have_done_alone_and_a_referee_all():
    settled = list(settle(labels(Ada=[1, 2, None], Bob=[2, 4, 0], Cem=[None, None, 4]), {}).values())
    assert {one.item_id for one in differing(settled, "Ada", frozenset("01"))} == {"0", "1"}
    assert {one.item_id for one in differing(settled, "Eve", frozenset())} == {"0", "1", "2"}
