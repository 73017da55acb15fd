"""The requests of the page: passages one by one, marks exact to the character, nothing of other raters."""

import json

import pytest

from harness.labels import Rating
from harness.values import LabelError
from tests.label_page.pools import COPY, ITEMS, PLAIN, STRANGE, TEXTS, by, desk_at

HIDDEN = {"priority", "settings", "best_rank", "score", "rank"}


def test_a_rater_goes_from_passage_to_passage_until_all_are_done(service):
    step, seen = service.enter(" Ada "), []
    assert step["rater"] == "Ada"
    while step["item"]:
        seen.append(step["item"]["item_id"])
        service.rate(by(), seen[-1], *(("skip", "cannot tell") if len(seen) == 2 else ("grade", 1)), 0)
        step = service.step("Ada", after=seen[-1])
    assert sorted(seen) == sorted(one.item_id for one in ITEMS)
    assert step["progress"]["done"] == step["progress"]["total"] == 5
    # back from the end is the last one, and again the one before it
    last = service.step("Ada", back=True)["item"]
    assert last["item_id"] == seen[-1]
    assert service.step("Ada", after=seen[-1], back=True)["item"]["item_id"] == seen[-2]
    assert service.state.rating("Ada", seen[1])[0] == Rating(skipped="cannot tell")


def test_nothing_of_a_rank_a_setting_or_another_rater_is_shown(service):
    service.rate(by("Bob"), ITEMS[0].item_id, "grade", 0, 0)
    service.rate(by("Bob"), ITEMS[0].item_id, "note", "words of Bob", 0)
    shown = [service.step("Ada", one.item_id) for one in ITEMS] + [service.question_list("Ada", 0)]
    assert not any(name in one["item"] for one in shown[:-1] for name in HIDDEN)
    assert "Bob" not in json.dumps(shown)
    assert shown[0]["item"]["rating"]["grade"] is None
    assert service.disagreements("Ada", 0)["items"] == []


def test_a_mark_is_exact_to_the_character(service):
    for words in ("𠀋", "🚗 在", "Plant\tPeople\nGraz", "Head\r\nA first", "of text.\rEnd", "שלום"):
        start = STRANGE.index(words)
        service.mark(by(), "q2", "strange", start, start + len(words), words, 4, evidence="fact")
        (mark,) = service.marks("Ada", "q2")["marks"]
        assert STRANGE[mark["start"] : mark["end"]] == words == mark["text"]
        assert mark["rating"] == {"grade": 4, "skipped": "", "note": "", "evidence": "fact"}
        assert service.marks("Bob", "q2")["marks"] == []
        undone = service.undo(by())["mark"]
        # without a grade: it is removed
        assert (undone["start"], undone["rating"]["grade"]) == (start, None)
        assert service.marks("Ada", "q2")["marks"] == []


WRONG_MARKS = [
    (("plain", 0, 9), "The plane", 4),
    (("plain", 1, 10), "The plant", 4),
    (("plain", 5, 5), "", 4),
    (("plain", -1, 3), "The", 4),
    (("plain", 0, 10**6), PLAIN, 4),
    (("plain", 60, 62), PLAIN[60:62], 4),
    (("nowhere", 0, 3), "The", 4),
    (("plain", 0, 9), "The plant", 5),
    (("plain", 0, 9), "The plant", None),
    (("plain", 0, 9), "The plant", True),
]
WRONG_RATINGS = [
    *(("grade", value) for value in (5, -1, 2.0, "3", True, None)),
    *(("note", 3), ("note", "x" * 2001), ("love", "x")),
]


def test_an_impossible_mark_rating_or_name_is_refused_and_changes_nothing(service):
    for span, text, grade in WRONG_MARKS:
        with pytest.raises(LabelError):
            service.mark(by(), "q1", *span, text, grade)
    for kind, value in WRONG_RATINGS:
        with pytest.raises(LabelError):
            service.rate(by(), ITEMS[0].item_id, kind, value, 0)
    for name in ("", "  ", "x" * 41, "a\nb", "Ada; Bob", "Lee, Ada", "a\u202eb", "\ud800"):
        with pytest.raises(LabelError, match="1 to 40"):
            service.name(name)
    assert service.state.labels() == []


def test_copies_are_found_across_line_breaks_and_the_place_itself_is_none(service):
    words = "The plant in Lyon was closed in May."
    (copy,) = service.store.copies("plain", 0, len(words))["copies"]
    told = [service.store.copies("plain", 0, len(words), most)["more"] for most in (0, 1)]
    assert told == [True, False]
    assert (copy["doc_id"], copy["text"]) == ("copy", "The plant in Lyon was\nclosed in May.")
    assert COPY[copy["start"] : copy["end"]] == copy["text"]


def test_search_finds_letter_by_letter_first(service):
    found = service.store.find("makes gears")["found"]
    assert (found[0]["how"], found[0]["doc_id"]) == ("exact", "plain")
    assert all(TEXTS[one["doc_id"]][one["start"] : one["end"]] == one["text"] for one in found)
    with pytest.raises(LabelError, match="some words"):
        service.store.find("  ")


def test_a_rating_from_another_tab_is_reported(service):
    first = service.rate(by(tab="a"), ITEMS[0].item_id, "grade", 3, 0)
    assert first["replaced"] is None
    second = service.rate(by(tab="b"), ITEMS[0].item_id, "grade", 1, 0)
    assert second["replaced"]["grade"] == 3
    # who knew of it replaces it on purpose
    assert service.rate(by(), ITEMS[0].item_id, "grade", 2, second["event"])["replaced"] is None
    # the same grade again, or a note, replaces nothing
    assert service.rate(by(), ITEMS[0].item_id, "grade", 2, 0)["replaced"] is None
    assert service.rate(by(), ITEMS[0].item_id, "note", "why", 0)["replaced"] is None


def test_a_note_of_the_same_tab_is_no_rating_from_another(service):
    at = ITEMS[0].item_id
    first = service.rate(by(tab="a"), at, "grade", 3, 0)
    service.rate(by(tab="a"), at, "note", "why", first["event"])
    # asked before the answer about the note came
    assert service.rate(by(tab="a"), at, "grade", 2, first["event"])["replaced"] is None
    service.rate(by(tab="b"), at, "grade", 1, first["event"])
    service.rate(by(tab="a"), at, "note", "because", first["event"])
    assert service.rate(by(tab="a"), at, "grade", 2, first["event"])["replaced"]["grade"] == 1


def test_a_mark_of_a_whole_passage_is_refused_and_its_rating_stays(service):
    whole = ITEMS[0]
    service.rate(by(), whole.item_id, "grade", 3, 0)
    service.rate(by(), whole.item_id, "note", "why", 0)
    with pytest.raises(LabelError, match="grade that instead"):
        service.mark(by(), "q1", whole.doc_id, whole.start, whole.end, whole.text, 4)
    assert service.state.rating("Ada", whole.item_id)[0] == Rating(grade=3, note="why")
    # of another question it is none
    service.mark(by(), "q2", whole.doc_id, whole.start, whole.end, whole.text, 4)
    assert len(service.marks("Ada", "q2")["marks"]) == 1


def test_a_grade_and_a_skip_replace_each_other_and_keep_the_note(service):
    at = ITEMS[0].item_id
    service.rate(by(), at, "note", " a note ", 0)
    service.rate(by(), at, "grade", 0, 0)
    assert service.rate(by(), at, "skip", "", 0)["rating"] == {
        "grade": None,
        "skipped": "skipped",
        "note": "a note",
        "evidence": "",
    }
    assert service.rate(by(), at, "grade", 0, 0)["rating"]["skipped"] == ""


def test_a_page_for_one_rater_takes_no_other(tmp_path):
    service = desk_at(tmp_path, rater="Ada")
    assert service.about()["raters"] == ["Ada"]
    with pytest.raises(LabelError, match="Ada alone"):
        service.enter("Bob")
    service.state.close()
    with pytest.raises(LabelError, match="semicolon"):
        desk_at(tmp_path, rater="Ada; Bob")


def test_times_are_bounded_and_what_is_no_time_is_none(service):
    for seconds in (4, 5, 6, 10**6, float("nan"), -1, None):
        service.rate(by(seconds=seconds), ITEMS[0].item_id, "grade", 1, 0)
    assert service.state.seconds("Ada") == [300, 6, 5, 4]


def test_a_difference_is_resolved_side_by_side(service):
    at = ITEMS[0].item_id
    service.rate(by("Ada"), at, "grade", 4, 0)
    service.rate(by("Bob"), at, "grade", 1, 0)
    service.rate(by("Bob"), at, "note", "only May", 0)
    service.rate(by("Cem"), ITEMS[1].item_id, "grade", 0, 0)
    assert service.disagreements("Cem", 0)["hidden"] == 1
    (shown,) = service.disagreements("Ada", 0)["items"]
    assert [(one["rater"], one["grade"], one["note"]) for one in shown["grades"]] == [
        ("Ada", 4, ""),
        ("Bob", 1, "only May"),
    ]
    service.decide(by("Ada"), at, 3, "with Bob")
    found = service.disagreements("Bob", 0)
    assert (found["open"], found["items"][0]["decided"]["grade"]) == (0, 3)


def test_undo_takes_back_a_decision_before_the_grades_given_before_it(service):
    at = ITEMS[0].item_id
    for rater, grade in (("Ada", 4), ("Bob", 1)):
        service.rate(by(rater), at, "grade", grade, 0)
    service.decide(by("Bob"), at, 2)
    service.decide(by("Ada"), at, 3)
    again = by("Ada")
    # the same request again undoes nothing more
    for _ in range(2):
        undone = service.undo(again)
        assert undone["decided"] == {"item_id": at, "rater": "Bob", "grade": 2, "note": ""}
    assert service.undo(by("Bob"))["decided"] is None
    assert service.state.decisions() == {}
    assert service.state.rating("Ada", at)[0].grade == 4
    assert service.undo(by("Ada"))["item"]["rating"]["grade"] is None


def test_an_undone_decision_leaves_a_later_one(service):
    at = ITEMS[0].item_id
    service.decide(by("Ada"), at, 3)
    service.decide(by("Bob"), at, 2)
    assert service.undo(by("Ada"))["decided"]["rater"] == "Bob"
    assert service.state.decisions()[at].grade == 2


def test_a_long_document_is_shown_in_parts_that_join_to_its_text(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.labels.label_page.document_store.WINDOW", 40)
    service = desk_at(tmp_path)
    leaf = service.store.part("strange", part=1)
    leaves = [service.store.part("strange", part=part) for part in range(1, leaf["parts"] + 1)]
    assert "".join(one["text"] for one in leaves) == STRANGE
    assert leaf["parts"] > 2
    for offset in range(len(STRANGE)):
        held = service.store.part("strange", offset)
        assert held["start"] <= offset < held["end"]
    with pytest.raises(LabelError, match="not part 99"):
        service.store.part("strange", part=99)
    service.state.close()


def test_what_was_ordered_on_purpose_is_taken_as_listed(tmp_path):
    service = desk_at(tmp_path, as_listed=True)
    listed = [one.item_id for one in ITEMS]
    assert service.step("Ada")["item"]["item_id"] == listed[0]
    assert service.step("Ada", after=listed[0])["item"]["item_id"] == listed[1]
