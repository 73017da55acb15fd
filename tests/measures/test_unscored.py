"""A judgment that failed is unknown, and no grade 0: in the gain, in the bound, in the share of judged."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import Graded, SpanQrels, project
from tests.measures.build import chunk, grid, span, value

# Two chunks of 100 characters; the judge failed on the second half of the first.
CHUNKS = grid("d", 100, 2)
FAILED = span("q", "d", 50, 100, None)


def test_a_chunk_of_grade_0_and_a_failed_judgment_is_unjudged():
    judgments = [span("q", "d", 0, 50, 0), FAILED, span("q", "d", 100, 200, 2)]
    assert value("judged@2", CHUNKS, judgments, CHUNKS) == 0.5
    assert value("ndcg_lin@2", CHUNKS, judgments, CHUNKS) == pytest.approx(1 / np.log2(3))
    # were the failed half a 4: (4 + 2 / log2(3)) / (4 + 2 / log2(3))
    assert value("ndcg_lin_upper@2", CHUNKS, judgments, CHUNKS) == pytest.approx(1.0)
    assert value("ndcg_lin_condensed@2", CHUNKS, judgments, CHUNKS) == pytest.approx(1.0)
    # with a real 0 in its place all is known
    known = [*judgments[:1], span("q", "d", 50, 100, 0), *judgments[2:]]
    assert value("judged@2", CHUNKS, known, CHUNKS) == 1.0
    assert value("ndcg_lin_upper@2", CHUNKS, known, CHUNKS) == pytest.approx(1 / np.log2(3))


def test_what_is_known_of_a_chunk_is_earned_and_the_rest_stays_open():
    judgments = [span("q", "d", 0, 50, 1), FAILED, span("q", "d", 100, 200, 4)]
    assert value("ndcg_lin@2", CHUNKS, judgments, CHUNKS) == pytest.approx(
        (1 + 4 / np.log2(3)) / (4 + 1 / np.log2(3))
    )
    assert value("judged@2", CHUNKS, judgments, CHUNKS) == 0.5
    assert value("ndcg_lin_upper@2", CHUNKS, judgments, CHUNKS) == 1.0


def test_nothing_is_open_about_a_chunk_that_has_the_highest_grade():
    judgments = [span("q", "d", 0, 50, 4), FAILED, span("q", "d", 100, 200, 2)]
    assert value("judged@2", CHUNKS, judgments, CHUNKS) == 1.0
    assert value("ndcg_lin_upper@1", CHUNKS[1:], judgments, CHUNKS) == pytest.approx(0.5)


def test_a_span_that_another_judgment_grades_is_known():
    judgments = [FAILED, span("q", "d", 50, 100, 0), span("q", "d", 100, 200, 2)]
    assert value("judged@2", CHUNKS, judgments, CHUNKS) == 1.0
    assert len(SpanQrels.from_judgments(judgments).unscored) == 0


def test_failures_of_other_queries_and_documents_change_nothing():
    judgments = [span("q", "d", 0, 100, 0), span("q", "d", 100, 200, 2)]
    others = [span("p", "d", 0, 100, None), span("q", "e", 0, 100, None)]
    for measure in ("judged@2", "ndcg_lin@2", "ndcg_lin_upper@2"):
        assert value(measure, CHUNKS, judgments, CHUNKS) == value(measure, CHUNKS, judgments + others, CHUNKS)


def test_a_failure_alone_leaves_every_chunk_unjudged():
    grades = project(SpanQrels.from_judgments([FAILED]), CHUNKS)
    assert len(grades.query) == 0
    assert np.isnan(value("ndcg_lin@2", CHUNKS, [FAILED], CHUNKS))
    assert value("judged@2", CHUNKS, [FAILED], CHUNKS) == 0.0


@pytest.mark.parametrize(
    ("partly", "still_open"), [([False, False, True], [False, True]), ([False] * 3, [False, False])]
)
def test_what_is_taken_out_of_a_ranking_leaves_what_is_known_of_the_others(partly, still_open):
    offsets, grades = np.array([0, 3]), np.array([2, 0, 1])
    judged = np.array([True, False, True])
    best = grades, offsets
    ranked = Graded(offsets, judged, ~judged | np.array(partly), grades, best, best, best)
    assert ranked.condensed().earned.tolist() == [2, 1]
    assert ranked.condensed().open.tolist() == still_open


def test_a_failed_span_without_extent_is_refused():
    with pytest.raises(ValueError, match="no extent"):
        SpanQrels.from_judgments([span("q", "d", 5, 5, None)])


GRADES = st.one_of(st.none(), st.integers(0, 4))


@pytest.mark.slow
@given(
    grades=st.lists(GRADES, min_size=6, max_size=6),
    order=st.permutations(range(3)),
    k=st.integers(1, 3),
    gain=st.sampled_from(["lin", "exp"]),
)
def test_no_way_to_grade_what_failed_beats_the_bound(grades, order, k, gain):
    """Three chunks of two judged halves each; every grading of up to two failures is tried."""
    chunks = [chunk("d", i * 100, (i + 1) * 100) for i in range(3)]
    failed = [i for i, grade in enumerate(grades) if grade is None][:2]
    grades = [0 if grade is None and i not in failed else grade for i, grade in enumerate(grades)]

    def spans(given):
        return [span("q", "d", i * 50, (i + 1) * 50, grade) for i, grade in enumerate(given)]

    ranked = [chunks[i] for i in order]
    bound = value(f"ndcg_{gain}_upper@{k}", ranked, spans(grades), chunks)
    headline = value(f"ndcg_{gain}@{k}", ranked, spans(grades), chunks)
    if not np.isnan(headline):
        assert headline <= bound + 1e-12
    for guess in itertools.product(range(5), repeat=len(failed)):
        truth = list(grades)
        for i, grade in zip(failed, guess, strict=True):
            truth[i] = grade
        true = value(f"ndcg_{gain}@{k}", ranked, spans(truth), chunks)
        if not np.isnan(true) and not np.isnan(bound):
            assert true <= bound + 1e-12
