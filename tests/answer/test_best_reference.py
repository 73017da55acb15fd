"""Several golden answers: the best counts; what has failed beside one of them is not known."""

import json
from dataclasses import replace

import pytest

from harness.measures import ANSWER_MEASURES, in_tiers

from .helpers import NO_TOOLS, ToyTools, case


def measure(kind, **keys):
    return ANSWER_MEASURES.make(ANSWER_MEASURES.find(kind).config(**keys))


def joined(answer, *golden):
    return replace(case(answer), references=golden)


def test_exact_match_and_f1_take_the_best_golden_answer():
    one = joined("14.50 crowns", "14 crowns and 50", "14.50 crowns", "fourteen")
    (match,) = NO_TOOLS.score(measure("exact_match"), [one])
    assert (match.value, match.details["golden"]) == (1.0, "14.50 crowns")
    # beside the first: 1 word of 2 in common with 4 → 2 · 1 / 6; beside the second all
    (f1,) = NO_TOOLS.score(measure("token_f1"), [joined("14 crowns", "14 crowns and 50", "fourteen")])
    assert f1.value == pytest.approx(2 * 2 / 6)
    assert f1.details == {"precision": 1.0, "recall": 0.5, "golden": "14 crowns and 50"}


def test_one_of_the_golden_answers_in_the_answer_is_enough():
    (score,) = NO_TOOLS.score(measure("contains"), [joined("It is in Norway.", "Sweden", "Norway")])
    assert (score.value, score.details["golden"]) == (1.0, "Norway")


@pytest.mark.parametrize("whole", ["token_f1", "exact_match"])
def test_the_measure_of_the_whole_answer_is_shown_first_and_then_those_that_explain_it(whole):
    kinds = ["contains", "context_recall", whole, "faithfulness"]
    ordered = [one.kind for one in in_tiers([ANSWER_MEASURES.find(kind).config() for kind in kinds])]
    assert ordered == [whole, "faithfulness", "context_recall", "contains"]


def test_similarity_takes_the_nearest():
    tools = ToyTools(vector_of={"x": [1, 0], "far": [0, 1], "near": [0.6, 0.8]}.__getitem__)
    (score,) = tools.score(measure("answer_similarity"), [joined("x", "far", "near")])
    assert score.value == pytest.approx(0.6)
    # the length of (1, 1, 1) squared is less than 3 by a rounding, and 3 over it 1.0000000000000002
    for vector, value in (([1, 1, 1], 1), ([-1, -1, -1], -1)):
        tools = ToyTools(vector_of={"x": [1, 1, 1], "as far": vector}.__getitem__)
        (score,) = tools.score(measure("answer_similarity"), [joined("x", "as far")])
        assert score.value == value


def supports(passages, statements):
    """A text supports the statements that are in it."""
    (text,) = json.loads(passages)
    return {
        "verdicts": [
            {"number": n, "verdict": int(s in text)} for n, s in enumerate(json.loads(statements), 1)
        ]
    }


def reply(name, query, texts, sample):
    if name.startswith("statements"):
        return None if texts[0] == "unreadable" else json.dumps({"statements": texts[0].split(". ")})
    return json.dumps(supports(*texts))


def test_correctness_takes_the_best_golden_answer():
    tools = ToyTools(reply)
    scorer = measure("answer_correctness", similarity_weight=0)
    # beside "a. b" 1 of 1 statements is right and 1 of 2 missing: 1 / (1 + 1/2); beside "c" nothing is
    (score,) = tools.score(scorer, [joined("a", "c", "a. b")])
    assert score.value == pytest.approx(2 / 3)
    assert score.details["golden"] == "a. b"
    # the best is not known where one could not be read, even if another is good
    (failed,) = tools.score(scorer, [joined("a", "a", "unreadable")])
    assert (failed.value, failed.failed) == (None, True)
