"""Evidence and near misses of a question, from its labels and rankings."""

from harness.report.rows.ranked import PassageRow
from harness.running.abilities.own import _evidence
from harness.values.types import Judgment

ROW = {"query_id": "q", "text": "How many?", "answer": "39,717"}


def passage(start, text):
    end = start + len(text)
    return PassageRow(f"d:{start}-{end}", "d", start, end, None, text)


def label(start, end, grade, evidence=""):
    return Judgment("q", "d", start, end, grade, evidence)


PASSAGES = [passage(0, "a" * 100), passage(100, "b" * 100), passage(200, "c" * 100), passage(300, "d" * 100)]


def test_the_best_graded_passages_are_evidence_and_overlapping_ones_are_no_near_misses():
    # a holds the best span, b a worse one, c ten characters of it: only d is a near miss
    found = _evidence(ROW, PASSAGES, [label(0, 60, 4), label(110, 210, 1)])
    assert found.facts == {"evidence": ("a" * 100,)}
    assert found.near == ("d" * 100,)


def test_evidence_names_tell_facts_apart_and_all_must_be_found():
    labels = [
        label(0, 60, 4, "one"),
        label(110, 160, 2, "two"),
        label(210, 260, 2, "two"),
        label(310, 360, 1),
    ]
    found = _evidence(ROW, PASSAGES, labels)
    assert found.facts == {"one": ("a" * 100,), "two": ("b" * 100, "c" * 100)}
    assert found.near == ()
    assert _evidence(ROW, PASSAGES[1:], labels).facts == {}


def test_an_unlabelled_passage_with_the_answer_in_it_is_no_near_miss():
    found = _evidence(ROW, [*PASSAGES, passage(400, "There are 39,717 people.")], [label(0, 60, 4)])
    assert found.near == ("b" * 100, "c" * 100, "d" * 100)


def test_failed_judgments_and_grade_0_are_no_evidence():
    found = _evidence(ROW, PASSAGES, [label(0, 60, 0), label(100, 160, None)])
    assert found.facts == {}
    assert len(found.near) == 4
