"""Near-duplicates and leading questions are measured; people's marks stay; a choice is balanced."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.labels import Candidate, SetState, to_csv
from harness.labels.testset.choosing import copied, likeness_of, same_figures, terms_of
from harness.labels.testset.kinds import balanced
from tests.testset.helpers import step_printed, testset, written_by_hand

SET = SetState(Path("set"))


def test_likeness_is_the_share_of_terms_and_pairs():
    # terms plant, lyon and their pair, against plant, turin and theirs: 1 of 5 is shared
    lyon, turin, chinese = map(terms_of, ("plant Lyon", "plant Turin", "苏州工厂"))
    assert likeness_of(lyon, turin) == pytest.approx(1 / 5)
    assert likeness_of(lyon, terms_of("plant Lyon")) == 1.0
    assert likeness_of(lyon, chinese) == 0.0


def test_another_year_is_another_question():
    assert not same_figures("Revenue in 2022?", "Revenue in 2023?")
    assert same_figures("Revenue in 2022?", "What was revenue in 2022?")


@pytest.mark.parametrize(
    ("question", "passage", "words", "leads"),
    [
        # "closed in may 2023" are four words in a row
        ("Which plant closed in May 2023?", "The Lyon site was closed in May 2023.", 4, False),
        ("What was the plant in Lyon closed for?", "The plant in Lyon was closed.", 4, False),
        ("Was the plant in Lyon closed in May?", "the plant in Lyon closed in May", 7, True),
        ("Who started the firm?", "It was founded by Carla Meier.", 0, False),
        # ten characters in a row count as five words
        ("请问公司在苏州的工厂有员工多少", "公司在苏州的工厂有员工1200人", 5, True),
        ("苏州有多少人", "公司在苏州的工厂有员工1200人", 1, False),
    ],
)
def test_a_question_that_copies_its_passage_is_leading(question, passage, words, leads):
    found = copied(question, passage)
    assert found.words == words
    assert found.leads == leads


def test_without_a_passage_nothing_is_copied():
    assert copied("What is it?", " \n") is None


def candidates(*rows):
    return [
        Candidate(query_id=f"q{n}", text=f"text {n}", kind=kind, keep=keep, document=doc)
        for n, (keep, kind, doc) in enumerate(rows)
    ]


def test_a_choice_keeps_what_people_marked_spreads_over_documents_and_takes_leading_questions_last():
    rows = candidates(
        ("yes", "fact", "a"), ("no", "fact", "b"), ("", "fact", "a"), ("", "fact", "a"), ("", "fact", "b")
    )
    # q0 is kept and is of document a, so the one of b comes next
    assert balanced(rows, 2, set(), {}) == {"q0", "q4"}
    assert balanced(rows, 9, set(), {}) == {"q0", "q2", "q3", "q4"}
    rows = candidates(("", "fact", "a"), ("", "fact", "a"), ("", "fact", "a"))
    assert balanced(rows, 2, {"q0"}, {}) == {"q1", "q2"}
    # and one of a pair of twins
    assert balanced(rows, 3, {"q0"}, {"q1": {"q2"}, "q2": {"q1"}}) == {"q1", "q0"}


def test_a_choice_is_balanced_by_kind():
    rows = candidates(*[("", "fact", "a")] * 20, *[("", "table", "a")] * 20, *[("", "given", "a")] * 10)
    kept = balanced(rows, 10, set(), {})
    kinds = [one.kind for one in rows if one.query_id in kept]
    # shares 0.30, 0.15 and 10 of 50: 4.6, 2.3 and 3.1 of 10
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"fact": 5, "table": 2, "given": 3}


def test_edits_and_marks_survive_choosing_again(folder, capsys):
    written_by_hand()
    assert "0 kept" in step_printed(capsys, "choose")
    rows = SET.rows(Candidate)
    edited = [replace(rows[0], keep="yes", text="=My own words?"), replace(rows[1], keep="no"), *rows[2:]]
    own = Candidate(query_id="mine1", text="A question of my own?", kind="given", keep="yes")
    SET.path(Candidate).write_text(to_csv(Candidate, [*edited, own]), encoding="utf-8")
    assert testset("choose", "--auto") == 0
    now = {one.query_id: one for one in SET.rows(Candidate)}
    assert now[rows[0].query_id].text == "=My own words?"
    assert "'=My own words?" in SET.path(Candidate).read_text(encoding="utf-8")
    assert (now[rows[0].query_id].keep, now[rows[1].query_id].keep, now["mine1"].keep) == ("yes", "no", "yes")
    assert sum(one.keep == "yes" for one in now.values()) == 6
    assert testset("choose", "--again") == 0
    assert not any(one.keep for one in SET.rows(Candidate))


def test_near_duplicates_are_shown_at_the_later_one(folder):
    Path("mine.csv").write_text(
        "text\nWhat was the total revenue?\nWhat was total revenue?\nWho is the chair?\n"
    )
    testset("propose", "--from", "mine.csv")
    testset("choose")
    first, second, third = SET.rows(Candidate)
    assert (first.look, third.look) == ("", "")
    assert second.look == f"near-duplicate of {first.query_id}"
    assert second.like == first.query_id
