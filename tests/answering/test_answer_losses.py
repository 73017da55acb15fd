"""Where answers are lost: every part by hand, and the sum for whatever is read and answered."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.measures import Case, Projection
from harness.report import (
    ADDS,
    CONTRADICTS,
    CUT,
    LEFT_OUT,
    NOT_EXTRACTED,
    NOT_FOUND,
    SOMETHING_ELSE,
    TOO_LOW,
    WITHOUT,
)
from harness.running.bench.answer_losses import losses_of
from harness.values import ANSWER, Chunk, Judgment, Query, QueryScore

# Chunks of 100 characters each of one document; the fact at 1000 is in none.
CHUNKS = [Chunk(f"d:{i}-{i + 100}", "d", i, i + 100, "") for i in range(0, 500, 100)]
FACTS = {name: Judgment("q", "d", at, at + 50, 4) for name, at in (("a", 0), ("b", 100), ("c", 200))}
NOWHERE = Judgment("q", "d", 1000, 1050, 4)
LOST = Judgment("q", "\0lost", 0, 10, 4)
PARTS = (NOT_EXTRACTED, CUT, NOT_FOUND, TOO_LOW, LEFT_OUT, CONTRADICTS, ADDS, SOMETHING_ELSE, WITHOUT)


def losses(labels, read, found, value, details=None, lost=(), answer="x", golden="y"):
    passages = tuple(Chunk(f"d:{i}-{i + 100}", "d", i, i + 100, "") for i in read)
    query = Query("q", "What about 2023?", "train")
    case = Case(query, passages, answer, references=(golden,), judgments=tuple(labels))
    score = QueryScore("", ANSWER, "q", "m", value, details=details or {})
    ids = {f"d:{i}-{i + 100}" for i in (*read, *found)}
    return losses_of(case, score, ids, lost, {"d": CHUNKS}, Projection())


def test_worked_example_of_every_part():
    # Of five facts one was not extracted, one is in no chunk, one is found and not read, one is not found,
    # one is read: 1/5 is what the answer could reach, and it reaches 0.05. It lacks 0.5 of recall and 0.25
    # of precision, so that 2/3 of the 0.15 are left out.
    found = losses(
        [*FACTS.values(), NOWHERE],
        read=[0],
        found=[100],
        value=0.05,
        details={"recall": 0.5, "precision": 0.75},
        lost=[LOST],
    )
    expected = {NOT_EXTRACTED: 0.2, CUT: 0.2, NOT_FOUND: 0.2, TOO_LOW: 0.2}
    expected |= {LEFT_OUT: 0.1, CONTRADICTS: 0.0, ADDS: 0.0, SOMETHING_ELSE: 0.05, WITHOUT: 0.0}
    assert found == pytest.approx(expected)
    assert tuple(found) == PARTS


def test_a_right_answer_without_the_evidence_earns_back_what_was_lost():
    found = losses([FACTS["a"]], read=[300], found=[], value=0.8)
    assert found[NOT_FOUND] == 1.0
    assert found[WITHOUT] == pytest.approx(-0.8)
    assert sum(found.values()) == pytest.approx(0.2)


def test_verdicts_on_statements_distinguish_omissions_from_other_claims():
    # 1 of 4 statements of the golden answer is missing, 3 of 4 of the answer's own are something else
    details = {
        "reference": [{"statement": "", "verdict": v} for v in (1, 1, 1, 0)],
        "statements": [{"statement": "", "verdict": v} for v in (1, 0, 0, 0)],
    }
    found = losses([FACTS["a"]], read=[0], found=[], value=0.6, details=details)
    assert (found[LEFT_OUT], found[SOMETHING_ELSE]) == pytest.approx((0.1, 0.3))


def test_a_model_tells_contradictions_from_additions():
    # of three statements that the golden answer does not support, one contradicts it: a third of 0.3
    details = {
        "reference": [{"statement": "", "verdict": v} for v in (1, 1, 1, 0)],
        "statements": [
            {"statement": "", "verdict": 1},
            {"statement": "", "verdict": 0, "contradicts": 1},
            *[{"statement": "", "verdict": 0, "contradicts": 0}] * 2,
        ],
    }
    found = losses([FACTS["a"]], read=[0], found=[], value=0.6, details=details)
    assert (found[LEFT_OUT], found[CONTRADICTS], found[ADDS]) == pytest.approx((0.1, 0.1, 0.2))
    assert found[SOMETHING_ELSE] == 0.0


@pytest.mark.parametrize(
    ("answer", "golden", "part"),
    [
        ("It employs 39,717 people in Norway.", "39,717", ADDS),
        ("It employs 40,000 people.", "39,717", CONTRADICTS),
        ("It costs 14.5 crowns.", "14.50", SOMETHING_ELSE),
        # with several figures nobody knows which of them answers
        ("In 2019 it grew by 7.", "5", SOMETHING_ELSE),
        # one that is in the question does not answer it
        ("In 2023 it grew by 7.", "In 2023 by 5.", CONTRADICTS),
        ("Orders came in 2023.", "5", SOMETHING_ELSE),
        ("It employs many.", "39,717", SOMETHING_ELSE),
        ("Sweden", "Norway", SOMETHING_ELSE),
        ("I cannot answer this from the passages.", "39,717", LEFT_OUT),
    ],
)
def test_without_a_model_only_what_can_be_known_is_reported(answer, golden, part):
    found = losses([FACTS["a"]], read=[0], found=[], value=0.0, answer=answer, golden=golden)
    beyond = {
        name: loss for name, loss in found.items() if name in (CONTRADICTS, ADDS, SOMETHING_ELSE) and loss
    }
    assert list(beyond) == ([] if part == LEFT_OUT else [part])
    assert sum(found.values()) == pytest.approx(1.0)


def test_copies_of_one_fact_are_one_and_without_labelled_evidence_there_are_no_losses():
    copies = [Judgment("q", "d", at, at + 50, 4, evidence="e") for at in (0, 400)]
    assert losses(copies, read=[400], found=[], value=1.0) == dict.fromkeys(PARTS, 0.0)
    for labels in ([], [Judgment("q", "d", 0, 50, 0)], [Judgment("q", "d", 0, 50, None)]):
        assert losses(labels, read=[0], found=[], value=0.5) == {}


PLACES = st.lists(st.sampled_from([0, 100, 200, 300, 400]), unique=True)


@given(
    st.lists(st.sampled_from([*FACTS.values(), NOWHERE]), min_size=1, max_size=4, unique=True),
    PLACES,
    PLACES,
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
)
@example([FACTS["a"]], [0], [], 0.01, 1.0, 0.6875, True)
def test_the_parts_sum_to_one_minus_the_value(labels, read, found, value, recall, precision, lose):
    parts = losses(
        labels, read, found, value, {"recall": recall, "precision": precision}, [LOST] if lose else []
    )
    assert sum(parts.values()) == pytest.approx(1 - value)
    assert all(loss >= 0 for part, loss in parts.items() if part != WITHOUT)
    assert parts[WITHOUT] <= 0
