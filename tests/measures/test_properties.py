"""Properties for any judgments, chunking and ranking, against plain restatements of the definitions."""

from itertools import permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.measures import ChunkTable, SpanQrels, project, unjudged
from tests.measures.build import chunk, grid, query, ranking, score, span, value
from tests.measures.test_projection import chunk_lists, judgments

GAINS = {"exp": lambda g: 2**g - 1, "lin": lambda g: g}


@st.composite
def cases(draw, queries=("q1", "q2", "q3")):
    judged, chunks = draw(judgments), draw(chunk_lists)
    rankings = []
    for name in queries:
        if draw(st.booleans()):
            ids = draw(st.permutations(chunks))
            rankings.append(ranking(name, *ids[: draw(st.integers(0, len(ids)))]))
    return judged, chunks, rankings, [query(name) for name in queries]


MEASURES = [
    *(
        f"ndcg_{gain}{kind}@{k}"
        for gain in GAINS
        for kind in ("", "_upper", "_condensed")
        for k in (1, 3, 20)
    ),
    *("recall@3", "recall(rel=2)@3", "success@1", "precision@3", "map", "map(rel=3)", "mrr", "judged@3"),
    *("recall_condensed@3", "recall_condensed(rel=2)@1", "precision_condensed@3", "ap_condensed"),
]


@given(cases())
def test_every_value_is_between_0_and_1_or_undefined(case):
    judged, chunks, rankings, queries = case
    values = score(rankings, queries, judged, chunks, MEASURES).values
    known = values[~np.isnan(values)]
    assert ((known >= 0) & (known <= 1 + 1e-12)).all()


@given(cases(), st.sampled_from([1, 2, 3, 20]), st.sampled_from([1, 2, 4]))
def test_success_is_whether_the_first_relevant_rank_lies_within_the_cutoff(case, k, rel):
    judged, chunks, rankings, queries = case
    names = [
        f"success(rel={rel})@{k}",
        f"hit(rel={rel})@{k}",
        f"rr(rel={rel})@{k}",
        f"precision(rel={rel})@{k}",
    ]
    success, hit, rr, precision = score(rankings, queries, judged, chunks, names).values.T
    known = ~np.isnan(success)
    np.testing.assert_array_equal(success, hit)
    np.testing.assert_array_equal(success[known], rr[known] > 0)
    np.testing.assert_array_equal(success[known], precision[known] > 0)


@given(cases(), st.sampled_from([1, 2, 3, 20]), st.sampled_from(sorted(GAINS)))
def test_ndcg_restated(case, k, gain):
    """Plain loops: chunks stand for evidence, each is earned once, the ideal takes each at its best."""
    judged, chunks, rankings, queries = case
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    grades = project(spans, table)
    known = {
        (spans.query_ids[q], table.chunk_ids[c]): (int(g), int(e))
        for q, c, g, e in zip(grades.query, grades.chunk, grades.grade, grades.evidence, strict=True)
    }
    values = score(rankings, queries, judged, chunks, [f"ndcg_{gain}@{k}"]).values[:, 0]
    by_query = {r.query_id: r for r in rankings}
    for q, got in zip(queries, values, strict=True):
        if not any(j.query_id == q.query_id and j.grade >= 1 for j in judged):
            assert np.isnan(got)
            continue
        seen, found = set(), 0.0
        for i, chunk_id in enumerate(by_query[q.query_id].chunk_ids[:k] if q.query_id in by_query else ()):
            grade, evidence = known.get((q.query_id, chunk_id), (0, None))
            if grade and evidence not in seen:
                seen.add(evidence)
                found += GAINS[gain](grade) / log2(i + 2)
        best = {}
        for (name, _), (grade, evidence) in known.items():
            if name == q.query_id:
                best[evidence] = max(best.get(evidence, 0), grade)
        top = sorted(best.values(), reverse=True)[:k]
        ideal = sum(GAINS[gain](g) / log2(i + 2) for i, g in enumerate(top))
        assert got == pytest.approx(found / ideal if ideal else 0.0, abs=1e-12)


@given(judgments, chunk_lists)
def test_the_ideal_can_be_attained(judged, chunks):
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    grades = project(spans, table)
    assume((grades.grade > 0).any())
    first = int(np.flatnonzero(grades.grade > 0)[0])
    rows = np.flatnonzero(grades.query == grades.query[first])
    best = {}
    for row in sorted(rows, key=lambda r: -grades.grade[r]):
        best.setdefault(int(grades.evidence[row]), table.chunk_ids[grades.chunk[row]])
    name = spans.query_ids[grades.query[first]]
    assert value("ndcg_exp@20", list(best.values()), judged, chunks, name) == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.randoms(), st.integers(1, 8))
def test_one_span_a_chunk_gives_the_textbook_value(by_chunk, random, k):
    assume(any(by_chunk))
    chunks = grid("d", 10, len(by_chunk))
    judged = [span("q", "d", c.start, c.end, g) for c, g in zip(chunks, by_chunk, strict=True)]
    order = list(range(len(chunks)))
    random.shuffle(order)

    def dcg(grades):
        return sum((2**g - 1) / log2(i + 2) for i, g in enumerate(grades[:k]))

    expected = dcg([by_chunk[i] for i in order]) / dcg(sorted(by_chunk, reverse=True))
    assert value(f"ndcg_exp@{k}", [chunks[i] for i in order], judged, chunks) == pytest.approx(
        expected, abs=1e-12
    )


@given(
    st.lists(st.sampled_from([None, 0, 1, 2, 3, 4]), min_size=1, max_size=4),
    st.lists(st.integers(1, 4), max_size=3),
)
@pytest.mark.parametrize("gain", sorted(GAINS))
def test_the_upper_bound_is_the_best_of_all_completions(gain, ranked_grades, elsewhere):
    """Every way to fill the holes (5 ** holes of them) is tried; the best one is the bound."""
    grades = [*ranked_grades, *elsewhere]
    assume(any(grades))
    chunks = grid("d", 10, len(grades))

    def judged(filled):
        return [
            span("q", "d", c.start, c.end, g) for c, g in zip(chunks, filled, strict=True) if g is not None
        ]

    ranked, k = chunks[: len(ranked_grades)], len(ranked_grades)
    bound_value = value(f"ndcg_{gain}_upper@{k}", ranked, judged(grades), chunks, unanswerable="zero")
    holes = [i for i, g in enumerate(grades) if g is None]
    best = 0.0
    for fill in product(range(5), repeat=len(holes)):
        filled = list(grades)
        for i, g in zip(holes, fill, strict=True):
            filled[i] = g
        best = max(best, value(f"ndcg_{gain}@{k}", ranked, judged(filled), chunks))
    assert bound_value == pytest.approx(best, abs=1e-9)


def test_filling_every_hole_with_the_highest_grade_is_not_always_best():
    # ideal first, hole at rank 2: left at 0 the ranking is perfect, at grade 4 it is not
    chunks = grid("d", 10, 2)
    judged = [span("q", "d", 0, 10, 1)]
    assert value("ndcg_exp_upper@2", chunks, judged, chunks) == 1.0
    highest = [*judged, span("q", "d", 10, 20, 4)]
    assert value("ndcg_exp@2", chunks, highest, chunks) < 1.0


def test_the_upper_bound_where_nothing_is_judged_relevant():
    # were the hole at rank 2 the only relevant item, it would earn 1 / log2(3) of its gain
    chunks = grid("d", 10, 2)
    judged = [span("q", "d", 0, 10, 0)]
    upper = value("ndcg_exp_upper@2", chunks, judged, chunks, unanswerable="zero")
    assert upper == pytest.approx(1 / log2(3), abs=1e-12)
    assert np.isnan(value("ndcg_exp_upper@2", chunks, judged, chunks))


@given(cases())
def test_the_upper_bound_is_computed_alike_in_small_blocks(case):
    judged, chunks, rankings, queries = case
    whole = score(rankings, queries, judged, chunks, ["ndcg_exp_upper@3"]).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unjudged, "_BLOCK_CELLS", 1)
        parts = score(rankings, queries, judged, chunks, ["ndcg_exp_upper@3"]).values
    np.testing.assert_allclose(whole, parts, rtol=1e-12)


@given(cases())
def test_queries_do_not_touch_each_other(case):
    judged, chunks, rankings, queries = case
    together = score(rankings, queries, judged, chunks, MEASURES).values
    for row, q in enumerate(queries):
        own = [r for r in rankings if r.query_id == q.query_id]
        alone = score(own, [q], [j for j in judged if j.query_id == q.query_id], chunks, MEASURES).values
        np.testing.assert_allclose(together[row], alone[0], atol=1e-15)


def test_recall_restated_on_every_order_of_overlapping_chunks():
    chunks = [chunk("d", 0, 12), chunk("d", 8, 20), chunk("d", 18, 30)]
    judged = [
        span("q", "d", 0, 4, 1),
        span("q", "d", 9, 11, 2, "f"),
        span("q", "d", 25, 29, 1, "f"),
        span("q", "d", 15, 19, 3),
    ]
    # chunk 0 covers 0..4 and f; chunk 1 covers f and 15..19; chunk 2 the second copy of f
    covers = [{0, "f"}, {"f", 15}, {"f"}]
    for order in permutations(range(3)):
        for k in (1, 2, 3):
            expected = len(set().union(*(covers[i] for i in order[:k]))) / 3
            assert value(f"recall@{k}", [chunks[i] for i in order], judged, chunks) == pytest.approx(expected)
