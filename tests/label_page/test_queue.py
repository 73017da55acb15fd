"""The order in which a rater sees passages, and how far they are."""

import pytest

from harness.labels.label_page.service import next_open, order_for, progress
from tests.label_page.pools import item

ITEMS = [item(f"q{query}", "d", 10 * place, 10 * place + 5) for query in range(3) for place in range(8)]
BY_ID = {one.item_id: one for one in ITEMS}
IDS = list(BY_ID)


def query_of(item_id):
    return ITEMS[IDS.index(item_id)].query_id


def test_questions_stay_in_order_and_passages_are_shuffled_for_each_rater():
    ada, bob = (order_for(name, BY_ID) for name in ("Ada", "Bob"))
    assert sorted(ada) == sorted(bob) == sorted(IDS)
    assert [query_of(one) for one in ada] == [one.query_id for one in ITEMS]
    assert len({tuple(ada), tuple(bob), tuple(IDS)}) == 3
    assert order_for("Ada", BY_ID) == ada


def test_an_item_that_is_added_leaves_the_others_in_their_order():
    before = order_for("Ada", {name: BY_ID[name] for name in IDS[1:]})
    after = order_for("Ada", BY_ID)
    assert [one for one in after if one != IDS[0]] == before


def test_priority_goes_from_the_highest_down_and_what_has_none_comes_last():
    items = [
        item("q", "d", place, place + 1, priority=value) for place, value in enumerate([1.0, None, 3.5, -2.0])
    ]
    by_id = {one.item_id: one for one in items}
    assert [by_id[name].start for name in order_for("Ada", by_id)] == [2, 0, 3, 1]


@pytest.mark.parametrize(
    ("after", "done", "expected"),
    [
        # the next open item is behind the place, or else at the beginning
        (-1, "", "a"),
        (0, "", "b"),
        (2, "", "a"),
        (0, "b", "c"),
        (1, "ac", "b"),
        (0, "abc", None),
        (-1, "a", "b"),
    ],
)
def test_the_next_open_item(after, done, expected):
    assert next_open("abc", frozenset(done), after) == expected


def test_the_rest_takes_the_median_time_an_item():
    # median of 2, 3, 4, 50, 60 is 4; 8 are left
    assert progress(2, 10, [2, 60, 3, 4, 50])["remaining"] == 32
    assert progress(2, 10, [2, 60, 3, 4])["remaining"] is None
    assert progress(10, 10, [1.0] * 9)["remaining"] == 0
