"""Golden values, each derived by hand, and the cases where there is nothing to score."""

from math import log2

import numpy as np
import pytest

from harness.measures import (
    FAMILIES,
    UNJUDGED,
    Scorer,
    SpanQrels,
    find_convention,
    grade_documents,
    parse_measure,
)
from harness.measures.documents import _by_query
from tests.measures.build import chunk, grid, query, ranking, score, span, value

CHUNKS = grid("d", 10, 6)
A, B, C, D, E, F = CHUNKS
# grades of the chunks: A 3, B 0, C 1, D 2, the others unjudged
JUDGED = [
    span("q", "d", 0, 10, 3),
    span("q", "d", 10, 20, 0),
    span("q", "d", 20, 30, 1),
    span("q", "d", 30, 40, 2),
]
IDEAL_EXP = 7 + 3 / log2(3) + 1 / 2
IDEAL_LIN = 3 + 2 / log2(3) + 1 / 2


@pytest.mark.parametrize(
    ("measure", "ranked", "expected"),
    [
        ("ndcg_exp@10", [A, D, C], 1.0),
        ("ndcg_lin@10", [A, D, C], 1.0),
        ("ndcg_exp@10", [C, B, A], (1 + 7 / 2) / IDEAL_EXP),
        ("ndcg_lin@10", [C, B, A], (1 + 3 / 2) / IDEAL_LIN),
        ("ndcg_exp@2", [C, B, A], 1 / (7 + 3 / log2(3))),
        ("ndcg_exp", [C, B, A], (1 + 7 / 2) / IDEAL_EXP),
        ("ndcg_exp@10", [E, F], 0.0),
        ("recall@1", [C, B, A], 1 / 3),
        ("recall@3", [C, B, A], 2 / 3),
        ("recall(rel=2)@3", [C, B, A], 1 / 2),
        ("precision@3", [C, B, A], 2 / 3),
        ("precision@10", [C, B, A], 2 / 10),
        ("precision(rel=3)@3", [C, B, A], 1 / 3),
        ("map", [C, B, A], (1 / 1 + 2 / 3) / 3),
        ("map(rel=2)", [C, B, A], (1 / 3) / 2),
        ("map@2", [C, B, A], (1 / 1) / 3),
        ("mrr", [B, E, D, A], 1 / 3),
        ("mrr(rel=3)", [B, E, D, A], 1 / 4),
        ("mrr@2", [B, E, D, A], 0.0),
        ("judged@2", [B, E, D], 1 / 2),
        ("judged@10", [B, E, D], 2 / 3),
        # without E: B D A, so 0 + 3 / log2(3) + 7 / 2
        ("ndcg_exp_condensed@10", [B, E, D, A], (3 / log2(3) + 7 / 2) / IDEAL_EXP),
        ("ndcg_exp_condensed@10", [E, F], 0.0),
        ("recall_condensed@2", [B, E, D, A], 1 / 3),
        ("recall_condensed(rel=2)@3", [B, E, D, A], 2 / 2),
        ("precision_condensed@2", [B, E, D, A], 1 / 2),
        ("rr_condensed", [B, E, D, A], 1 / 2),
        ("ap_condensed", [B, E, D, A], (1 / 2 + 2 / 3) / 3),
    ],
)
def test_golden(measure, ranked, expected):
    assert value(measure, ranked, JUDGED, CHUNKS) == pytest.approx(expected, abs=1e-12)


def test_evidence_is_earned_once():
    # two copies of one fact (A, B) and another fact (C); ideal: 3, 1
    judged = [span("q", "d", 0, 10, 3, "f"), span("q", "d", 10, 20, 3, "f"), span("q", "d", 20, 30, 1)]
    ideal = 7 + 1 / log2(3)
    assert value("ndcg_exp@10", [A, C], judged, CHUNKS) == 1.0
    assert value("ndcg_exp@10", [A, B, C], judged, CHUNKS) == pytest.approx((7 + 1 / 2) / ideal)
    assert value("precision@2", [A, B, C], judged, CHUNKS) == 1 / 2
    assert value("recall@1", [B], judged, CHUNKS) == 1 / 2
    assert value("map", [A, B, C], judged, CHUNKS) == pytest.approx((1 + 2 / 3) / 2)
    assert value("judged@2", [A, B], judged, CHUNKS) == 1.0


def test_a_copy_of_grade_0_does_not_use_the_evidence_up():
    judged = [span("q", "d", 0, 10, 0, "f"), span("q", "d", 10, 20, 2, "f")]
    assert value("mrr", [A, B], judged, CHUNKS) == 1 / 2


def test_overlapping_chunks_over_one_span_earn_once():
    left, right = chunk("d", 0, 10), chunk("d", 5, 15)
    judged = [span("q", "d", 5, 10, 2)]
    assert value("precision@2", [left, right], judged, [left, right]) == 1 / 2
    assert value("ndcg_exp@2", [left, right], judged, [left, right]) == 1.0


def test_one_chunk_can_cover_several_facts():
    judged = [span("q", "d", 0, 4, 2), span("q", "d", 5, 9, 2)]
    assert value("recall@1", [A], judged, CHUNKS) == 1.0


def test_relevant_text_that_no_chunk_covers_scores_0():
    judged = [span("q", "d", 1000, 1010, 3)]
    for measure in ("ndcg_exp@10", "ndcg_exp_upper@10", "recall@10", "map", "mrr"):
        assert value(measure, [A], judged, CHUNKS[:1]) == (1.0 if "upper" in measure else 0.0)


@pytest.mark.parametrize("judged", [[], [span("q", "d", 0, 10, 0)], [span("q", "d", 0, 10, None)]])
@pytest.mark.parametrize(
    "measure", ["ndcg_exp@10", "ndcg_lin_condensed@5", "recall@5", "map", "mrr", "precision@5"]
)
@pytest.mark.parametrize("ranked", [None, [], [A, B]])
def test_without_relevant_text_there_is_no_value(judged, measure, ranked):
    assert np.isnan(value(measure, ranked, judged, CHUNKS))
    assert value(measure, ranked, judged, CHUNKS, unanswerable="zero") == 0.0


def test_no_evidence_of_the_wanted_grade_leaves_the_measure_undefined():
    judged = [span("q", "d", 0, 10, 1)]
    assert np.isnan(value("recall(rel=2)@5", [A], judged, CHUNKS))
    assert value("recall@5", [A], judged, CHUNKS) == 1.0


@pytest.mark.parametrize("ranked", [None, []])
def test_a_query_without_a_ranking_scores_0(ranked):
    for measure in (
        "ndcg_exp@10",
        "ndcg_exp_upper@10",
        "ndcg_lin_condensed@5",
        "recall@5",
        "map",
        "mrr",
        "precision@5",
    ):
        assert value(measure, ranked, JUDGED, CHUNKS) == 0.0
    assert np.isnan(value("judged@10", ranked, JUDGED, CHUNKS))


def test_part_of_a_run_and_part_of_the_judgments():
    queries = [query("q3"), query("q"), query("q2")]
    judged = [*JUDGED, span("q3", "d", 0, 10, 1), span("elsewhere", "d", 0, 10, 1)]
    table = score(
        [ranking("q", A, D, C), ranking("q2", A)], queries, judged, CHUNKS, ["ndcg_exp@5", "judged@5"]
    )
    assert table.query_ids == ("q3", "q", "q2")
    assert table.ranked.tolist() == [False, True, True]
    assert table.has_relevant.tolist() == [True, True, False]
    np.testing.assert_array_equal(table.values, [[0.0, np.nan], [1.0, 1.0], [np.nan, 0.0]])


def test_nothing_at_all():
    table = score([], [], [], [], ["ndcg_exp@10", "map", "recall@3", "judged@3", "ndcg_exp_upper@3"])
    assert table.values.shape == (0, 5)
    table = score(
        [], [query("q")], [], [], ["ndcg_exp@10", "map", "recall@3", "judged@3", "ndcg_exp_upper@3"]
    )
    assert np.isnan(table.values).all()


def test_ranked_items_tell_grade_and_what_was_earned():
    judged = [
        *JUDGED,
        span("q", "d", 40, 50, 2, ""),
        span("q2", "d", 0, 10, 1, "f"),
        span("q2", "d", 50, 60, 1, "f"),
    ]
    rankings = [ranking("q2", F, A, B), ranking("q", B, A)]
    items = score(rankings, [query("q"), query("q2")], judged, CHUNKS, ["map"]).items
    assert items.query.tolist() == [0, 0, 1, 1, 1]
    assert items.rank.tolist() == [1, 2, 1, 2, 3]
    assert items.chunk.tolist() == [1, 0, 5, 0, 1]
    assert items.grade.tolist() == [0, 3, 1, 1, UNJUDGED]
    assert items.earned.tolist() == [0, 3, 1, 0, 0]


def test_inputs_that_contradict_each_other_are_refused():
    def run(rankings, queries=None, chunks=CHUNKS):
        score(rankings, queries or [query("q")], JUDGED, chunks, ["map"])

    with pytest.raises(ValueError, match="chunk d:0-10, which is not among the chunks"):
        run([ranking("q", A)], chunks=CHUNKS[1:])
    with pytest.raises(ValueError, match="queries that are not scored, such as q9"):
        run([ranking("q9", A)])
    with pytest.raises(ValueError, match="query q has more than one ranking"):
        run([ranking("q", A), ranking("q", B)])
    with pytest.raises(ValueError, match="query q is listed more than once"):
        run([], [query("q"), query("q")])


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("ndcg_exp@10", "ndcg_exp@10"),
        (" map ", "map"),
        ("recall( rel = 2 )@10", "recall(rel=2)@10"),
        ("recall(rel=1)@10", "recall@10"),
        ("precision()@5", "precision@5"),
        ("success( rel=2 )@5", "success(rel=2)@5"),
        ("hit(rel=2)@5", "hit(rel=2)@5"),
    ],
)
def test_names(given, canonical):
    assert repr(parse_measure(given)) == canonical
    assert parse_measure(canonical) == parse_measure(given)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@10", "is called ndcg_lin@k .* or ndcg_exp@k\\. "),
        ("recal@10", "did you mean 'recall'"),
        ("zzz", "there is no measure 'zzz'. Known measures: ndcg_exp, ndcg_lin"),
        ("precision", "needs a cutoff, as in precision@10"),
        ("recall@0", "the cutoff must be at least 1"),
        ("recall@-1", "is not the name of a measure"),
        ("recall(level=2)@10", "no parameter 'level'; its parameters and defaults: rel=1"),
        ("ndcg_exp(rel=2)@10", "no parameter 'rel'; its parameters and defaults: none"),
        ("recall(rel=x)@10", "rel must be a whole number of at least 1, not 'x'"),
        ("", "is not the name of a measure"),
    ],
)
def test_invalid_names(name, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        parse_measure(name)


@pytest.mark.parametrize("highest", [3, 10**6])
def test_grades_of_documents_are_in_falling_order_however_high_they_are(highest):
    grades, offsets = _by_query(np.array([0, 0, 0, 1, 1]), np.array([1, highest, 0, 2, -1]), 2)
    assert (grades.tolist(), offsets.tolist()) == ([highest, 1, 2], [0, 2, 3])


def test_a_ranking_scored_before_keeps_its_values_and_other_labels_and_orders_have_their_own():
    scorer = Scorer([query("q")], JUDGED, CHUNKS)
    asked = [parse_measure("mrr(rel=2)"), parse_measure("ndcg_exp@10")]
    first, other = (scorer.score([ranking("q", *order)], asked).values[0] for order in ([C, B, A], [A, B, C]))
    # the columns are those asked for, in their order, known or new
    more = [asked[1], parse_measure("recall@3"), asked[0]]
    again = scorer.score([ranking("q", C, B, A)], more).values[0]
    assert first.tolist() == [1 / 3, pytest.approx((1 + 7 / 2) / IDEAL_EXP)]
    assert other.tolist() == [1.0, pytest.approx((7 + 1 / 2) / IDEAL_EXP)]
    assert again.tolist() == [first[1], pytest.approx(2 / 3), first[0]]
    relabelled = scorer.against(SpanQrels.from_judgments([span("q", "d", 10, 20, 3)]))
    assert relabelled.score([ranking("q", C, B, A)], asked).values[0, 0] == 1 / 2
    assert scorer.score([ranking("q", C, B, A)], asked).values[0].tolist() == first.tolist()


def test_only_measures_that_a_perfect_ranking_does_not_bring_to_one_say_so():
    # fewer than k are relevant, a reader goes on for ever, or a chunk is longer than the evidence in it
    below = {"precision", "precision_condensed", "p", "rbp", "rbp_condensed"}
    below |= {"precision_omega", "text_iou", "text_precision"}
    assert {name for name, family in FAMILIES.items() if family.below_one} == below


def test_only_bounds_and_estimates_count_what_is_unjudged():
    bounds = {f"{name}_upper" for name in ("ndcg_exp", "ndcg_lin", "ndcg_evidence", "ndcg_evidence_tokens")}
    others = {"ndcg_exp_expected", "ndcg_lin_expected", "rbp_residual"}
    assert {name for name, family in FAMILIES.items() if family.unjudged_counts} == bounds | others


def test_a_last_query_without_judgments_has_an_ideal_of_nothing():
    judged, offsets = np.array([True, False]), np.array([0, 1, 2])
    of_first = np.array([0]), np.array([3])
    graded = grade_documents(np.array([3, 0]), judged, offsets, of_first, find_convention("trec_eval"))
    assert [part.tolist() for part in graded.ideal] == [[3], [0, 1, 1]]
