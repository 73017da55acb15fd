"""What the page may ask and say: passages one by one, marks exact to the character, nothing of others."""

import json

import pytest

from harness.errors import LabelError
from harness.label_page.items import Rating
from harness.label_page.state import Envelope
from tests.label_page.pools import COPY, ITEMS, PLAIN, STRANGE, TEXTS, by, desk_at, item

HIDDEN = {"priority", "settings", "best_rank", "score", "rank"}


def test_a_rater_goes_from_passage_to_passage_until_all_are_done(desk):
    step, seen = desk.enter(" Ada "), []
    assert step["rater"] == "Ada"
    while step["item"]:
        seen.append(step["item"]["item_id"])
        desk.say(by(), seen[-1], *(("skip", "cannot tell") if len(seen) == 2 else ("grade", 1)), 0)
        step = desk.step("Ada", after=seen[-1])
    assert sorted(seen) == sorted(one.item_id for one in ITEMS)
    assert step["progress"]["done"] == step["progress"]["total"] == 5
    # back from the end is the last one, and again the one before it
    last = desk.step("Ada", back=True)["item"]
    assert last["item_id"] == seen[-1]
    assert desk.step("Ada", after=seen[-1], back=True)["item"]["item_id"] == seen[-2]
    assert desk.state.rating("Ada", seen[1])[0] == Rating(skipped="cannot tell")


def test_nothing_of_a_rank_a_setting_or_another_rater_is_shown(desk):
    desk.say(by("Bob"), ITEMS[0].item_id, "grade", 0, 0)
    desk.say(by("Bob"), ITEMS[0].item_id, "note", "words of Bob", 0)
    shown = [desk.step("Ada", one.item_id) for one in ITEMS] + [desk.listed("Ada", 0)]
    assert not any(name in one["item"] for one in shown[:-1] for name in HIDDEN)
    assert "Bob" not in json.dumps(shown)
    assert shown[0]["item"]["rating"]["grade"] is None
    assert desk.disagreements("Ada", 0)["items"] == []


@pytest.mark.parametrize(
    "words", ["𠀋", "🚗 在", "Plant\tPeople\nGraz", "Head\r\nA first", "of text.\rEnd", "שלום"]
)
def test_a_mark_is_exact_to_the_character(desk, words):
    start = STRANGE.index(words)
    desk.mark(by(), "q2", ("strange", start, start + len(words)), words, Rating(grade=4, evidence="fact"))
    (mark,) = desk.marks("Ada", "q2")
    assert STRANGE[mark["start"] : mark["end"]] == words == mark["text"]
    assert mark["rating"] == {"grade": 4, "skipped": "", "note": "", "evidence": "fact"}
    assert desk.marks("Bob", "q2") == []
    assert desk.undo(by())["mark"]["start"] == start
    assert desk.marks("Ada", "q2") == []


@pytest.mark.parametrize(
    ("span", "text", "rating"),
    [
        (("plain", 0, 9), "The plane", Rating(grade=4)),
        (("plain", 1, 10), "The plant", Rating(grade=4)),
        (("plain", 5, 5), "", Rating(grade=4)),
        (("plain", -1, 3), "The", Rating(grade=4)),
        (("plain", 0, 10**6), PLAIN, Rating(grade=4)),
        (("plain", 60, 62), PLAIN[60:62], Rating(grade=4)),
        (("nowhere", 0, 3), "The", Rating(grade=4)),
        (("plain", 0, 9), "The plant", Rating(grade=5)),
        (("plain", 0, 9), "The plant", Rating(grade=None)),
        (("plain", 0, 9), "The plant", Rating(grade=True)),
    ],
)
def test_a_mark_that_is_not_what_was_selected_is_refused(desk, span, text, rating):
    with pytest.raises(LabelError):
        desk.mark(by(), "q1", span, text, rating)
    assert desk.state.labels() == []


def test_copies_are_found_across_line_breaks_and_the_place_itself_is_none(desk):
    words = "The plant in Lyon was closed in May."
    (copy,) = desk.copies("plain", 0, len(words))
    assert (copy["doc_id"], copy["text"]) == ("copy", "The plant in Lyon was\nclosed in May.")
    assert COPY[copy["start"] : copy["end"]] == copy["text"]


def test_search_finds_letter_by_letter_first(desk):
    found = desk.find("makes gears")
    assert (found[0]["how"], found[0]["doc_id"]) == ("exact", "plain")
    assert all(TEXTS[one["doc_id"]][one["start"] : one["end"]] == one["text"] for one in found)
    with pytest.raises(LabelError, match="some words"):
        desk.find("  ")


def test_what_another_tab_had_said_is_told(desk):
    first = desk.say(by(tab="a"), ITEMS[0].item_id, "grade", 3, 0)
    assert first["replaced"] is None
    second = desk.say(by(tab="b"), ITEMS[0].item_id, "grade", 1, 0)
    assert second["replaced"]["grade"] == 3
    # who knew of it replaces it on purpose
    assert desk.say(by(), ITEMS[0].item_id, "grade", 2, second["event"])["replaced"] is None
    # the same grade again, or a note, replaces nothing
    assert desk.say(by(), ITEMS[0].item_id, "grade", 2, 0)["replaced"] is None
    assert desk.say(by(), ITEMS[0].item_id, "note", "why", 0)["replaced"] is None


def test_a_grade_and_a_skip_replace_each_other_and_keep_the_note(desk):
    at = ITEMS[0].item_id
    desk.say(by(), at, "note", " a note ", 0)
    desk.say(by(), at, "grade", 0, 0)
    assert desk.say(by(), at, "skip", "", 0)["rating"] == {
        "grade": None,
        "skipped": "skipped",
        "note": "a note",
        "evidence": "",
    }
    assert desk.say(by(), at, "grade", 0, 0)["rating"]["skipped"] == ""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("grade", value) for value in (5, -1, 2.0, "3", True, None)),
        *(("note", 3), ("note", "x" * 2001), ("love", "x")),
    ],
)
def test_what_cannot_be_said_is_refused_and_changes_nothing(desk, kind, value):
    with pytest.raises(LabelError):
        desk.say(by(), ITEMS[0].item_id, kind, value, 0)
    assert desk.state.labels() == []


def test_an_unknown_passage_is_refused(desk):
    with pytest.raises(LabelError, match="Load the page again"):
        desk.say(by(), "nothing", "grade", 3, 0)


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\nb", "a\u202eb", "\ud800"])
def test_a_name_that_cannot_be_read_is_refused(desk, name):
    with pytest.raises(LabelError, match="1 to 40"):
        desk.name(name)


def test_a_page_for_one_rater_takes_no_other(tmp_path):
    desk = desk_at(tmp_path, rater="Ada")
    assert desk.about()["raters"] == ["Ada"]
    with pytest.raises(LabelError, match="Ada alone"):
        desk.enter("Bob")
    desk.state.close()


def test_times_are_bounded_and_what_is_no_time_is_none(desk):
    for seconds in (4, 5, 6, 10**6, float("nan"), -1, None):
        desk.say(by(seconds=seconds), ITEMS[0].item_id, "grade", 1, 0)
    assert desk.state.seconds("Ada") == [300, 6, 5, 4]


def test_a_difference_is_resolved_side_by_side(desk):
    at = ITEMS[0].item_id
    desk.say(by("Ada"), at, "grade", 4, 0)
    desk.say(by("Bob"), at, "grade", 1, 0)
    desk.say(by("Bob"), at, "note", "only May", 0)
    desk.say(by("Cem"), ITEMS[1].item_id, "grade", 0, 0)
    assert desk.disagreements("Cem", 0)["hidden"] == 1
    (shown,) = desk.disagreements("Ada", 0)["items"]
    assert [(one["rater"], one["grade"], one["note"]) for one in shown["grades"]] == [
        ("Ada", 4, ""),
        ("Bob", 1, "only May"),
    ]
    desk.decide(by("Ada"), at, 3, "with Bob")
    found = desk.disagreements("Bob", 0)
    assert (found["open"], found["items"][0]["decided"]["grade"]) == (0, 3)
    # undo is for what one says of passages; a decision is changed by another one
    desk.undo(by("Ada"))
    assert desk.state.decisions()[at].grade == 3


def test_a_long_document_is_shown_in_parts_that_join_to_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.label_page.shelf.WINDOW", 40)
    desk = desk_at(tmp_path)
    leaf = desk.leaf("strange", None, 1)
    leaves = [desk.leaf("strange", None, part) for part in range(1, leaf.parts + 1)]
    assert "".join(one.text for one in leaves) == STRANGE
    assert leaf.parts > 2
    for offset in range(len(STRANGE)):
        held = desk.leaf("strange", offset, None)
        assert held.start <= offset < held.end
    with pytest.raises(LabelError, match="not part 99"):
        desk.leaf("strange", None, 99)
    desk.state.close()


def test_ten_thousand_passages_are_asked_for_one_by_one(tmp_path):
    many = [item(f"q{at // 20}", "plain", at, at + 5, PLAIN[:60]) for at in range(10_000)]
    desk = desk_at(tmp_path, many)
    step = desk.enter("Ada")
    answer = desk.say(Envelope("Ada", "request-1"), step["item"]["item_id"], "grade", 1, 0)
    after = desk.step("Ada", after=step["item"]["item_id"])
    assert after["progress"]["total"] == 10_000
    assert len(json.dumps([answer, after])) < 4_000
    assert len(json.dumps(desk.listed("Ada", 0))) < 12_000
    desk.state.close()
