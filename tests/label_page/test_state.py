"""The store of ratings: every change is an event, and nothing is lost or counted twice."""

import sqlite3
import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.labels import PageState, Rating
from harness.values import LabelError
from tests.label_page.pools import ITEMS, QUESTIONS, SHAS, by, item, state_at

FIRST, SECOND = ITEMS[0].item_id, ITEMS[1].item_id


@pytest.fixture
def state(tmp_path):
    with state_at(tmp_path / "labels.sqlite") as state:
        yield state


def grade(state, request, item_id, value):
    return state.change(request, item_id, "grade", lambda rating: replace(rating, grade=value, skipped=""))


def history(state, item_id):
    """All events of an item, the first first: (tab, grade after it)."""
    rows = state._read("SELECT tab, after FROM event WHERE item_id = ? ORDER BY id", item_id)
    return [(tab, Rating.from_json(after).grade) for tab, after in rows]


def test_a_grade_is_there_for_whoever_opens_the_file_next(state):
    assert grade(state, by(), FIRST, 3).rating == Rating(grade=3)
    with PageState(state.path) as other:
        assert other.rating("Ada", FIRST)[0].grade == 3
        assert other.rating("Bob", FIRST) == (Rating(), 0)
        assert other.done("Ada") == {FIRST}


def test_every_commit_is_on_the_disk(state):
    # FULL (2): a commit has reached the disk when it returns, also where the power goes
    assert state._read("PRAGMA synchronous")[0][0] == 2
    assert state._read("PRAGMA journal_mode")[0][0] == "wal"


def test_a_request_that_is_made_twice_counts_once(state):
    request = by()
    first = grade(state, request, FIRST, 3)
    again = grade(state, request, FIRST, 3)
    assert (again.event, again.rating) == (first.event, first.rating)
    assert len(history(state, FIRST)) == 1


@pytest.mark.parametrize("other", [(FIRST, "grade", 2), (SECOND, "grade", 3), (FIRST, "skip", 3)])
def test_a_request_number_that_another_change_has_is_refused(state, other):
    """It was answered as if it had been saved."""
    request = by()
    grade(state, request, FIRST, 3)
    item, kind, value = other
    with pytest.raises(LabelError, match="belongs to another change; nothing was saved"):
        state.change(request, item, kind, lambda rating: replace(rating, grade=value, skipped=""))
    with pytest.raises(LabelError, match="belongs to another change"):
        state.undo(request)
    with pytest.raises(LabelError, match="belongs to another change"):
        state.decide(request, FIRST, 3)


def test_a_request_of_another_rater_cannot_be_made_again(state):
    request = by("Ada")
    grade(state, request, FIRST, 3)
    with pytest.raises(LabelError, match="another rater"):
        grade(state, replace(request, rater="Bob"), FIRST, 0)


def test_of_two_tabs_the_last_one_counts_and_the_history_has_both(state):
    grade(state, by(tab="one"), FIRST, 3)
    with PageState(state.path) as other:
        saved = grade(other, by(tab="two"), FIRST, 1)
    assert (saved.before.grade, saved.rating.grade) == (3, 1)
    assert state.rating("Ada", FIRST)[0].grade == 1
    assert history(state, FIRST) == [("one", 3), ("two", 1)]


def test_undo_takes_back_one_thing_after_another_and_only_ones_own(state):
    grade(state, by(), FIRST, 3)
    grade(state, by("Bob"), FIRST, 0)
    state.change(by(), FIRST, "note", lambda rating: replace(rating, note="why"))
    grade(state, by(), SECOND, 1)
    assert state.undo(by()).item_id == SECOND
    assert state.undo(by()).rating == Rating(grade=3)
    assert state.undo(by()).rating == Rating()
    assert state.undo(by()) is None
    assert state.rating("Bob", FIRST)[0].grade == 0
    # what was undone is still reported
    assert len(history(state, FIRST)) == 5


def test_the_rating_after_an_undo_is_undone_first(state):
    grade(state, by(), FIRST, 3)
    state.undo(by())
    grade(state, by(), FIRST, 4)
    assert state.undo(by()).rating == Rating()
    assert state.undo(by()) is None


def test_an_undo_that_is_asked_twice_undoes_once(state):
    grade(state, by(), FIRST, 3)
    grade(state, by(), FIRST, 4)
    request = by()
    assert state.undo(request).rating.grade == 3
    assert state.undo(request).rating.grade == 3


actions = st.lists(
    st.tuples(st.sampled_from(["Ada", "Bob"]), st.integers(0, 4), st.integers(0, 4)), max_size=12
)


@given(actions)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undoing_everything_leaves_no_ratings(tmp_path_factory, done):
    with state_at(tmp_path_factory.mktemp("undo") / "labels.sqlite") as state:
        expected = {}
        for rater, which, value in done:
            grade(state, by(rater), ITEMS[which].item_id, value)
            expected[rater, ITEMS[which].item_id] = value
        assert {(one.rater, one.item_id): one.rating.grade for one in state.labels()} == expected
        for _ in done:
            for rater in ("Ada", "Bob"):
                state.undo(by(rater))
        assert not any(one.rating.done for one in state.labels())


def test_two_people_at_once_lose_nothing(state):
    def label(rater, value):
        with PageState(state.path) as own:
            for one in ITEMS * 5:
                grade(own, by(rater), one.item_id, value)

    threads = [threading.Thread(target=label, args=pair) for pair in (("Ada", 3), ("Bob", 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(state._read("SELECT id FROM event")) == 2 * 5 * len(ITEMS)
    assert {(one.rater, one.rating.grade) for one in state.labels()} == {("Ada", 3), ("Bob", 0)}
    assert len(state.labels()) == 2 * len(ITEMS)


def test_events_can_be_neither_changed_nor_removed(state):
    grade(state, by(), FIRST, 3)
    for statement in ("UPDATE event SET rater = 'x'", "DELETE FROM event"):
        with pytest.raises(sqlite3.DatabaseError, match="only added"):
            state._read(statement)


def test_a_pool_that_is_made_again_keeps_its_grades(state):
    grade(state, by(), FIRST, 3)
    new = item("q1", "copy", 0, 8, "Summary.")
    state.sync(QUESTIONS, [new, *ITEMS[1:]], SHAS)
    assert list(state.items()) == [new.item_id, *(one.item_id for one in ITEMS[1:])]
    assert state.rating("Ada", FIRST)[0].grade == 3
    assert FIRST in state.items(wanted=False)


def test_labels_on_a_text_that_has_changed_are_refused(state):
    other = SHAS | {"plain": "0" * 64}
    # nothing is labelled yet: the new text is taken
    state.sync(QUESTIONS, ITEMS, other)
    state.sync(QUESTIONS, ITEMS, SHAS)
    grade(state, by(), FIRST, 3)
    with pytest.raises(LabelError, match="plain has changed"):
        state.sync(QUESTIONS, ITEMS, other)
    assert state.rating("Ada", FIRST)[0].grade == 3


def test_halves_of_characters_can_be_kept(state):
    state.sync(QUESTIONS, [item("q1", "plain", 0, 3, "a\ud800b"), *ITEMS], SHAS)
    assert next(iter(state.items().values())).text == "a\ufffdb"


@pytest.mark.parametrize("content", [b"not a database, but a text of some length" * 30, None])
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "labels.sqlite"
    if content is None:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE mine (x)")
        content = path.read_bytes()
    else:
        path.write_bytes(content)
    with pytest.raises(LabelError, match="--state FILE"):
        PageState(path)
    if content[:6] != b"SQLite":
        assert path.read_bytes() == content
    else:
        with sqlite3.connect(path) as db:
            assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_a_folder_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LabelError, match="cannot be kept there"):
        PageState(tmp_path / "file" / "labels.sqlite")
