"""Labels drawn longer and shorter: what moves, and what must not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import (
    AS_LABELLED,
    SpanQrels,
    Text,
    in_sentences,
    median_length,
    padded,
    relabelled,
    trimmed,
)
from tests.measures.build import chunk, query, ranking, score, span
from tests.measures.test_projection import judgments

NONE = np.zeros((0, 2), dtype=np.int64)


def places(spans):
    return list(zip(spans.start.tolist(), spans.end.tolist(), spans.grade.tolist(), strict=True))


def test_padding_ends_with_the_document():
    spans = SpanQrels.from_judgments([span("q", "d", 30, 40, 2), span("q", "e", 250, 260, 1)])
    texts = {"d": Text(1000, NONE), "e": Text(300, NONE)}
    assert places(padded(spans, 100, texts)) == [(0, 140, 2), (150, 300, 1)]
    with pytest.raises(KeyError, match="e"):
        padded(spans, 100, {"d": Text(1000, NONE)})


def test_trimming_leaves_the_middle_and_at_least_one_character():
    spans = SpanQrels.from_judgments([span("q", "d", 10, 50, 2), span("q", "d", 60, 61, 1)])
    assert places(trimmed(spans, 50)) == [(20, 40, 2), (60, 61, 1)]
    assert places(trimmed(spans, 25)) == [(25, 35, 2), (60, 61, 1)]


def test_sentences():
    # sentences 0..10, 12..20, 22..40; the blanks between them belong to none
    texts = {"d": Text(40, np.array([[0, 10], [12, 20], [22, 40]]))}
    spans = SpanQrels.from_judgments(
        [
            span("q", "d", 5, 14, 1),  # touches two
            span("q", "d", 10, 12, 2),  # lies between two: stays
            span("q", "d", 11, 15, 3),  # begins before its sentence: the start stays
            span("q", "d", 25, 30, 4),
        ]
    )
    by_grade = {g: (s, e) for s, e, g in places(in_sentences(spans, texts, 0))}
    assert by_grade == {1: (0, 20), 2: (10, 12), 3: (11, 20), 4: (22, 40)}
    by_grade = {g: (s, e) for s, e, g in places(in_sentences(spans, texts, 1))}
    assert by_grade == {1: (0, 40), 2: (10, 12), 3: (0, 40), 4: (12, 40)}


def test_labels_that_become_one_place_stay_two_evidences():
    # as judgments, one span with two grades would be refused
    texts = {"d": Text(100, np.array([[0, 50]]))}
    spans = SpanQrels.from_judgments([span("q", "d", 5, 10, 1), span("q", "d", 20, 30, 3)])
    drawn = in_sentences(spans, texts, 0)
    assert places(drawn) == [(0, 50, 1), (0, 50, 3)]
    assert len(set(drawn.evidence.tolist())) == 2
    ranked = [chunk("d", 0, 50)]
    value = score([ranking("q", *ranked)], [query("q")], drawn, ranked, ["ndcg_evidence@100"]).values[0, 0]
    assert value == 1.0


def test_ways_and_their_lengths():
    texts = {"d": Text(10_000, np.array([[0, 4000], [4000, 10_000]]))}
    spans = SpanQrels.from_judgments(
        [span("q", "d", 5000, 5040, 2), span("q", "d", 6000, 6060, 4), span("q", "d", 0, 3000, 0)]
    )
    ways = relabelled(spans, texts)
    assert {name: median_length(way) for name, way in ways.items()} == {
        AS_LABELLED: 50,  # of the relevant ones alone: 40 and 60
        "padded by 100": 250,
        "padded by 250": 550,
        "padded by 700": 1450,
        "trimmed to 50 %": 25,
        "trimmed to 25 %": 12.5,
        "whole sentences": 1450,  # 700 characters on either side at most
        "a sentence more": 1450,
    }
    assert list(relabelled(spans, {"d": Text(10_000, NONE)})) == list(ways)[:6]
    assert np.isnan(median_length(SpanQrels.from_judgments([])))


@given(judgments, st.integers(0, 30))
def test_grades_and_evidence_stay_and_spans_grow_or_shrink(judged, by):
    spans = SpanQrels.from_judgments(judged)
    texts = {doc: Text(200, np.array([[0, 25], [25, 90]])) for doc in "abc"}

    def described(drawn):
        return sorted(zip(drawn.query, drawn.doc, drawn.evidence, drawn.grade, strict=True))

    for drawn in [padded(spans, by, texts), trimmed(spans, 50), in_sentences(spans, texts, 1)]:
        assert described(drawn) == described(spans)
        assert (drawn.start >= 0).all()
        assert (drawn.start < drawn.end).all()
    assert sorted(places(padded(spans, 0, texts))) == sorted(places(spans))


def test_label_length_turns_ndcg_text_and_not_ndcg_evidence():
    """The fault in small: chunks of 100 characters against one of 1,000, one label of 40 characters."""
    small = [chunk("d", i, i + 100) for i in range(0, 4000, 100)]
    large = [chunk("d", i, i + 1000) for i in range(0, 4000, 1000)]
    spans = SpanQrels.from_judgments([span("q", "d", 1430, 1470, 3)])
    measures = ["ndcg_text@1000", "ndcg_evidence@1000"]
    # the small chunks find the label, then read on elsewhere; the large one holds it in its middle
    ranked = [small[14], *small[25:34]], [large[1]]

    def difference(drawn):
        one, other = (
            score([ranking("q", *order)], [query("q")], drawn, chunks, measures).values[0]
            for order, chunks in zip(ranked, (small, large), strict=True)
        )
        return (one - other).tolist()

    as_labelled, longer = difference(spans), difference(padded(spans, 700, {"d": Text(4000, NONE)}))
    assert as_labelled[0] > 0 > longer[0]
    assert as_labelled[1] > 0
