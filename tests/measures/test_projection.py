import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import ChunkTable, Projection, SpanQrels, project, projection
from tests.measures.build import characters, chunk, grid, span


def grades(judgments, chunks, rule=None):
    """{(query, chunk id): grade} of every judged pair."""
    spans, table = SpanQrels.from_judgments(judgments), ChunkTable.of(chunks)
    found = project(spans, table, rule)
    return {
        (spans.query_ids[q], table.chunk_ids[c]): int(g)
        for q, c, g in zip(found.query, found.chunk, found.grade, strict=True)
    }


def stands_for(judgments, chunks, rule=None):
    spans, table = SpanQrels.from_judgments(judgments), ChunkTable.of(chunks)
    found = project(spans, table, rule)
    return dict(zip([table.chunk_ids[c] for c in found.chunk], found.evidence.tolist(), strict=True))


def test_half_of_the_span_or_half_of_the_chunk_is_enough():
    chunks = grid("d", 10, 4)
    # 8..12: two characters in chunk 0, two in chunk 1: half of the span each
    assert grades([span("q", "d", 8, 12, 3)], chunks) == {("q", "d:0-10"): 3, ("q", "d:10-20"): 3}
    # 7..12: three of five in chunk 0; two of five (and two of ten) in chunk 1
    assert grades([span("q", "d", 7, 12, 3)], chunks) == {("q", "d:0-10"): 3}
    # 5..30: half of chunk 0, all of 1 and 2
    assert set(grades([span("q", "d", 5, 30, 1)], chunks)) == {
        ("q", c) for c in ("d:0-10", "d:10-20", "d:20-30")
    }


def test_touching_is_not_overlapping():
    assert grades([span("q", "d", 10, 20, 4)], [chunk("d", 0, 10), chunk("d", 20, 30)]) == {}
    rule = Projection("any_overlap")
    assert grades([span("q", "d", 10, 20, 4)], [chunk("d", 0, 10), chunk("d", 20, 30)], rule) == {}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Projection("any_overlap"), {"d:0-10", "d:10-20"}),
        (Projection("full_cover"), set()),
        (Projection(span_share=0.6), {"d:0-10"}),
        (Projection(span_share=1.0, chunk_share=1.0), set()),
        (Projection(span_share=1.0, chunk_share=0.1), {"d:0-10", "d:10-20"}),
        (Projection(span_share=1.0, chunk_share=0.2), {"d:0-10"}),
    ],
)
def test_rules(rule, expected):
    # 3 of the span's 4 characters are in the first chunk (0.3 of it), 1 in the second (0.1 of it)
    judged = [span("q", "d", 7, 11, 2)]
    assert {c for _, c in grades(judged, grid("d", 10, 2), rule)} == expected


def test_a_share_met_exactly_is_met():
    # 0.55 * 20 is 11.000000000000002 in floating point
    rule = Projection(span_share=0.55, chunk_share=1.0)
    assert grades([span("q", "d", 0, 20, 1)], [chunk("d", 9, 30)], rule) == {("q", "d:9-30"): 1}
    assert grades([span("q", "d", 0, 20, 1)], [chunk("d", 10, 30)], rule) == {}


def test_the_highest_grade_covered_wins_and_grade_0_is_judged():
    judged = [span("q", "d", 0, 5, 1), span("q", "d", 5, 10, 3), span("q", "d", 10, 20, 0)]
    assert grades(judged, grid("d", 10, 3)) == {("q", "d:0-10"): 3, ("q", "d:10-20"): 0}


def test_not_scored_is_unjudged():
    assert grades([span("q", "d", 0, 10, None)], grid("d", 10, 1)) == {}
    assert SpanQrels.from_judgments([span("q", "d", 0, 10, None)]).unscored.start.tolist() == [0]


def test_chunks_of_other_documents_and_other_queries_stay_apart():
    judged = [span("q1", "a", 0, 10, 1), span("q2", "b", 0, 10, 2)]
    chunks = [*grid("b", 10, 2), *grid("c", 10, 2), *grid("a", 10, 2)]
    assert grades(judged, chunks) == {("q1", "a:0-10"): 1, ("q2", "b:0-10"): 2}


def test_a_chunk_stands_for_its_best_span():
    # equal grades: evidence 0 (0..8) is covered for 6 of 8, evidence 1 (8..12) wholly: the larger share wins
    assert stands_for([span("q", "d", 0, 8, 2), span("q", "d", 8, 12, 2)], [chunk("d", 2, 12)]) == {
        "d:2-12": 1
    }
    # equal shares: the larger overlap
    assert stands_for([span("q", "d", 0, 4, 2), span("q", "d", 4, 10, 2)], [chunk("d", 0, 10)]) == {
        "d:0-10": 1
    }
    # equal in all: the first in the text
    assert stands_for([span("q", "d", 5, 10, 2), span("q", "d", 0, 5, 2)], [chunk("d", 0, 10)]) == {
        "d:0-10": 0
    }
    # the grade comes before all of these
    assert stands_for([span("q", "d", 0, 8, 3), span("q", "d", 8, 12, 2)], [chunk("d", 2, 12)]) == {
        "d:2-12": 0
    }


def test_impossible_spans_and_chunks_are_refused():
    with pytest.raises(ValueError, match="d:5-5 has no extent"):
        SpanQrels.from_judgments([span("q", "d", 5, 5, 1)])
    with pytest.raises(ValueError, match="grade -1; use 0 for not relevant"):
        SpanQrels.from_judgments([span("q", "d", 5, 6, -1)])
    with pytest.raises(ValueError, match="two grades, 1 and 2"):
        SpanQrels.from_judgments([span("q", "d", 0, 5, 1), span("q", "d", 0, 5, 2)])
    with pytest.raises(ValueError, match=r"d:7-7 .* has no extent"):
        ChunkTable.of([chunk("d", 7, 7)])
    with pytest.raises(ValueError, match="d:0-5 occurs more than once"):
        ChunkTable.of([chunk("d", 0, 5), chunk("d", 0, 5)])


def test_the_same_judgment_twice_is_one_evidence():
    assert SpanQrels.from_judgments([span("q", "d", 0, 5, 1)] * 2).n_evidence == 1
    named = [span("q", "d", 0, 5, 1, "a"), span("q", "d", 0, 5, 2, "b")]
    assert SpanQrels.from_judgments(named).n_evidence == 2


def test_nothing_to_project():
    assert grades([], grid("d", 10, 2)) == {}
    assert grades([span("q", "d", 0, 5, 1)], []) == {}


intervals = st.tuples(st.integers(0, 40), st.integers(1, 25)).map(lambda p: (p[0], p[0] + p[1]))
judgments = st.lists(
    st.builds(
        lambda q, d, place, grade, name: span(q, d, *place, grade, name),
        st.sampled_from(["q1", "q2"]),
        st.sampled_from("ab"),
        intervals,
        st.integers(0, 4),
        st.sampled_from(["", "", "x", "y"]),
    ),
    max_size=12,
    unique_by=lambda j: (j.query_id, j.doc_id, j.start, j.end, j.evidence),
)
# now and then what is shown before it, such as the heading row of a table
parts = st.one_of(
    intervals.map(lambda place: [place]),
    st.sets(st.integers(0, 60), min_size=2, max_size=6).map(
        lambda cuts: list(zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False))
    ),
)
chunk_lists = st.lists(
    st.builds(lambda d, its: chunk(d, *its[-1], *its[:-1]), st.sampled_from("abc"), parts),
    max_size=12,
    unique=True,
)
rules = st.builds(
    Projection,
    st.sampled_from(["half_of_span_or_chunk", "any_overlap", "full_cover"]),
    st.just(0.5),
    st.just(0.5),
)


@given(judgments, chunk_lists)
def test_overlaps_are_those_of_comparing_every_pair(judged, chunks):
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    found = set(zip(*(column.tolist() for column in projection.overlapping(spans, table)), strict=True))
    expected = set()
    for s in range(len(spans)):
        for c in range(len(table)):
            shared = len({*range(spans.start[s], spans.end[s])} & {*characters(chunks[c])})
            if spans.doc_ids[spans.doc[s]] == table.doc_ids[table.doc[c]] and shared > 0:
                expected.add((s, c, shared))
    assert found == expected


@given(judgments, chunk_lists)
def test_small_blocks_find_the_same_overlaps(judged, chunks):
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    whole = projection.overlapping(spans, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "_BLOCK_PAIRS", 3)
        parts = projection.overlapping(spans, table)
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


@given(judgments, chunk_lists, rules, st.randoms())
def test_order_does_not_matter(judged, chunks, rule, random):
    expected = grades(judged, chunks, rule)
    random.shuffle(judged)
    random.shuffle(chunks)
    assert grades(judged, chunks, rule) == expected


@given(judgments, st.lists(st.integers(1, 64), max_size=8, unique=True), st.integers(1, 64), rules)
def test_splitting_a_chunk_never_creates_relevance(judged, cuts, another, rule):
    def chunked(cuts):
        ends = sorted({*cuts, 65})
        return [chunk("a", s, e) for s, e in zip([0, *ends[:-1]], ends, strict=True)]

    # a piece may lie half inside a span that fills little of its parent, so the default rule is held against
    # the weaker one: the parent must at least overlap what the piece covers
    weaker = Projection("any_overlap") if rule.rule == "half_of_span_or_chunk" else rule
    before, after = grades(judged, chunked(cuts), weaker), grades(judged, chunked([*cuts, another]), rule)
    for (query_id, chunk_id), grade in after.items():
        start, end = map(int, chunk_id.removeprefix("a:").split("-"))
        parents = [
            g
            for (q, c), g in before.items()
            if q == query_id
            and int(c.removeprefix("a:").split("-")[0]) <= start
            and end <= int(c.removeprefix("a:").split("-")[1])
        ]
        assert max(parents, default=-1) >= grade
