"""The order in which a rater sees passages, and how far they are."""

from itertools import pairwise

import pytest

from harness.labels.label_page.queue import AGAIN, Queues, as_listed, next_open, progress, usual_order
from tests.label_page.pools import item

ITEMS = [item(f"q{query}", "d", 10 * place, 10 * place + 5) for query in range(3) for place in range(8)]
BY_ID = {one.item_id: one for one in ITEMS}
IDS = list(BY_ID)


def query_of(item_id):
    return ITEMS[IDS.index(item_id)].query_id


def test_questions_stay_in_order_and_passages_are_shuffled_for_each_rater():
    ada, bob = (usual_order(name, BY_ID, []) for name in ("Ada", "Bob"))
    assert sorted(ada) == sorted(bob) == sorted(IDS)
    assert [query_of(one) for one in ada] == [one.query_id for one in ITEMS]
    assert len({tuple(ada), tuple(bob), tuple(IDS)}) == 3
    assert usual_order("Ada", BY_ID, []) == ada
    assert usual_order("Ada", BY_ID, [], seed=1) != ada


def test_an_item_that_is_added_leaves_the_others_in_their_order():
    before = usual_order("Ada", {name: BY_ID[name] for name in IDS[1:]}, [])
    after = usual_order("Ada", BY_ID, [])
    assert [one for one in after if one != IDS[0]] == before


def test_priority_goes_from_the_highest_down_and_what_has_none_comes_last():
    items = [
        item("q", "d", place, place + 1, priority=value) for place, value in enumerate([1.0, None, 3.5, -2.0])
    ]
    by_id = {one.item_id: one for one in items}
    assert [by_id[name].start for name in usual_order("Ada", by_id, [])] == [2, 0, 3, 1]


def test_what_was_ordered_on_purpose_is_taken_as_listed():
    assert as_listed("Ada", BY_ID, []) == IDS


@pytest.mark.parametrize(
    ("ids", "first", "after", "done", "expected"),
    [
        # the next open item is behind the place, or else at the beginning
        ("abc", None, -1, "", "a"),
        ("abc", None, 0, "", "b"),
        ("abc", None, 2, "", "a"),
        ("abc", None, 0, "b", "c"),
        ("abc", None, 1, "ac", "b"),
        ("abc", None, 0, "abc", None),
        ("abc", None, -1, "a", "b"),
        # what the order names comes before the rest of the pool, as long as any of it is open
        ("abcde", 2, -1, "", "a"),
        ("abcde", 2, 1, "", "a"),
        ("abcde", 2, 1, "ab", "c"),
        ("abcde", 2, 3, "", "a"),
        ("abcde", 2, 3, "ab", "e"),
        ("abcde", 2, 4, "abe", "c"),
        ("abcde", 2, 2, "abde", "c"),
        ("abcde", 2, 2, "abcde", None),
    ],
)
def test_the_next_open_item(ids, first, after, done, expected):
    assert next_open(ids, frozenset(done), after, first) == expected


class Own:
    """An order of someone else's: what it forgets still gets its turn, what it invents does not."""

    def __init__(self):
        self.asked = 0

    def __call__(self, rater, items, labels):
        self.asked += 1
        return ["unknown", IDS[5], IDS[2], IDS[5]]


def test_an_order_is_asked_again_as_soon_as_all_that_it_named_is_done():
    own = Own()
    queues = Queues(BY_ID, own)
    named = frozenset([IDS[5], IDS[2]])
    assert queues.queue_of("Ada", list, 0, frozenset()).named == named
    queues.queue_of("Ada", list, 1, named - {IDS[2]})
    assert own.asked == 1
    queues.queue_of("Ada", list, 2, named)
    assert own.asked == 2
    # nothing was said since
    queues.queue_of("Ada", list, 2, named)
    assert own.asked == 2


def test_an_order_may_forget_repeat_or_invent_items_and_is_asked_again_after_25_labels():
    own = Own()
    queues = Queues(BY_ID, own)
    queue = queues.queue_of("Ada", list, 0, frozenset())
    assert queue.ids[:2] == [IDS[5], IDS[2]]
    assert sorted(queue.ids) == sorted(IDS)
    queues.queue_of("Ada", list, AGAIN - 1, frozenset())
    assert own.asked == 1
    queues.queue_of("Ada", list, AGAIN, frozenset())
    assert own.asked == 2


def test_the_rest_takes_the_median_time_an_item():
    # median of 2, 3, 4, 50, 60 is 4; 8 are left
    assert progress(2, 10, [2, 60, 3, 4, 50])["remaining"] == 32
    assert progress(2, 10, [2, 60, 3, 4])["remaining"] is None
    assert progress(10, 10, [1.0] * 9)["remaining"] == 0


def test_no_two_neighbours_of_the_pool_stay_neighbours_everywhere():
    # by chance alone a pair may; that all seven of a question do is 1 in 8!
    shuffled = usual_order("Ada", BY_ID, [])
    kept = sum((a, b) in set(pairwise(IDS)) for a, b in pairwise(shuffled))
    assert kept < len(IDS) - 3
