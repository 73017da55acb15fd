"""Chunks of several spans, as a row of a table below its heading: every measure against single characters."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.measures import ChunkTable, Scorer, SpanQrels, parse_measure, project
from harness.measures.ragged import mean_within
from harness.measures.text_ndcg import ideal_gain
from harness.running.evaluate.oracle import greedy_order
from harness.running.evaluate.segments import EvidenceSegments, Paying
from harness.values import Query
from tests.measures.build import characters, chunk, span, value
from tests.measures.test_projection import chunk_lists, judgments, rules
from tests.measures.test_text import cases

HEAD = (0, 10)
ROWS = [chunk("d", at, at + 20, HEAD) for at in (10, 30, 50)]


def test_a_heading_that_every_row_repeats_earns_once_and_is_read_every_time():
    judged = [span("q", "d", 0, 10, 2), span("q", "d", 50, 70, 3)]
    assert value("ndcg_exp@3", ROWS, judged, ROWS) == pytest.approx((3 + 7 / 2) / (7 + 3 / np.log2(3)))
    assert value("recall@1", ROWS, judged, ROWS) == 0.5
    assert value("text_recall@2", ROWS, judged, ROWS) == 10 / 30
    # 30 characters a row, of which 10 are wanted and new in the first, none in the second, 20 in the third
    assert value("text_precision@3", ROWS, judged, ROWS) == 30 / 90
    # the heading is read first, then the row: place 0..9, and 70..89 for the third row
    from tests.measures.test_text import paid

    best = 7 / 20 * paid(0, 20) + 3 / 10 * paid(20, 30)
    earned = 3 / 10 * paid(0, 10) + 7 / 20 * paid(70, 90)
    assert value("ndcg_text@500", ROWS, judged, ROWS) == pytest.approx(earned / best, abs=1e-12)


def test_a_span_across_parts_is_covered_by_what_they_show_of_it_together():
    # 4 characters of the heading and 4 of the row: 8 of 10, though neither part shows half of it
    judged = [span("q", "d", 4, 14, 2)]
    both, row = chunk("d", 10, 14, (2, 8)), chunk("d", 10, 14)
    assert value("recall@1", [both], judged, [both]) == 1.0
    assert value("text_recall@1", [both], judged, [both]) == 0.8
    assert value("text_recall@1", [row], judged, [row]) == 0.4


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (chunk("d", 5, 20, (0, 10)), "shows 0-10 before 5-20; its parts must be in text order"),
        (chunk("d", 0, 5, (10, 20)), "shows 10-20 before 0-5"),
        (chunk("d", 10, 20, (3, 3)), "has no extent"),
    ],
)
def test_parts_are_in_the_order_of_the_text_and_share_nothing(wrong, says):
    with pytest.raises(ValueError, match=says):
        ChunkTable.of([wrong])


@given(judgments, chunk_lists, rules)
def test_grades_are_those_of_counting_characters(judged, chunks, rule):
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    found = project(spans, table, rule)
    got = {
        (spans.query_ids[q], table.chunk_ids[c]): g
        for q, c, g in zip(found.query, found.chunk, found.grade.tolist(), strict=True)
    }
    expected = {}
    for j in judged:
        for c in chunks:
            shown, wanted = characters(c), range(j.start, j.end)
            shared = len({*wanted} & {*shown}) if j.doc_id == c.doc_id else 0
            covered = {
                "any_overlap": shared > 0,
                "full_cover": shared == len(wanted),
                "half_of_span_or_chunk": shared / len(wanted) >= 0.5 or shared / len(shown) >= 0.5,
            }[rule.rule]
            if covered:
                key = j.query_id, c.chunk_id
                expected[key] = max(expected.get(key, 0), j.grade)
    assert got == expected


@given(cases(), st.integers(1, 5))
def test_text_overlap_is_that_of_counting_characters(case, k):
    judged, chunks, ranked = case
    copies = defaultdict(list)
    # of two copies alike the first in the documents counts, whatever the order of the labels
    in_order = sorted(judged, key=lambda j: (j.doc_id, j.start, j.end))
    for number, j in enumerate(in_order):
        if j.query_id == "q1" and j.grade:
            copies[j.evidence or number].append({(j.doc_id, at) for at in range(j.start, j.end)})
    assume(copies)

    def wanted(seen):
        """The best covered copy of every fact, of two alike the shorter one, then the first."""
        best = [max(its, key=lambda c: (len(c & seen) / len(c), -len(c))) for its in copies.values()]
        return set().union(*best)

    read = [(c.doc_id, at) for c in ranked[:k] for at in characters(c)]
    sought = wanted(set(read))
    found = len(sought & set(read))
    got = {
        name: value(f"text_{name}@{k}", ranked, judged, chunks, "q1")
        for name in ("recall", "precision", "iou")
    }
    assert got["recall"] == pytest.approx(found / len(sought))
    assert got["precision"] == pytest.approx(found / len(read) if read else 0)
    assert got["iou"] == pytest.approx(found / (len(read) + len(sought) - found))
    shortest = wanted(set())
    holding = [c for c in chunks if any((c.doc_id, at) in shortest for at in characters(c))]
    shown = {(c.doc_id, at) for c in holding for at in characters(c)}
    total = sum(len(characters(c)) for c in holding)
    assert value("precision_omega", ranked, judged, chunks, "q1") == pytest.approx(
        len(shown & shortest) / total if total else 0
    )


@given(cases(), st.sampled_from(["ndcg_text@30", "ndcg_text(L=2)@45", "ndcg_evidence(enough=5,L=5)@40"]))
def test_a_chunk_is_read_as_its_parts_one_after_the_other(case, measure):
    judged, chunks, ranked = case
    pieces = [
        replace(chunk(c.doc_id, *part), chunk_id=f"{c.chunk_id}#{i}")
        for c in ranked
        for i, part in enumerate(c.spans)
    ]
    whole = value(measure, ranked, judged, chunks, "q1")
    apart = value(measure, pieces, judged, pieces, "q1")
    np.testing.assert_allclose(whole, apart, atol=1e-12)


@given(judgments, chunk_lists, st.sampled_from([5, 30, 1000]))
def test_the_best_order_knows_what_each_chunk_earns_alone(judged, chunks, budget):
    spans, table = SpanQrels.from_judgments(judged), ChunkTable.of(chunks)
    rows = np.flatnonzero((spans.grade > 0) & (spans.query == 0))
    assume(len(rows) and len(chunks))
    scorer = Scorer([Query(q, "?", "train") for q in spans.query_ids], spans, table)
    measure = parse_measure(f"ndcg_text(L=10)@{budget}")
    paying = Paying.of(measure)
    evidence = EvidenceSegments.of(scorer, rows, np.arange(len(chunks)), scorer.unit_of(measure), paying)
    ideal = ideal_gain(scorer.unread(measure), budget, 10)[0]
    for at, c in enumerate(chunks):
        earned = evidence.earned(evidence.at[[at]])[0]
        measured = value(measure.name, [c], judged, chunks, spans.query_ids[0])
        assert earned == pytest.approx(measured * ideal)
    assert evidence.size.tolist() == [len(characters(c)) for c in chunks]
    for per_unit in (True, False):
        order = greedy_order(evidence, range(len(chunks)), per_unit=per_unit)
        assert len(set(order)) == len(order)


def test_tied_values_share_their_mean():
    assert mean_within(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1])).tolist() == [2, 2, 5]
    assert mean_within(np.zeros(0), np.zeros(0, dtype=np.int64)).tolist() == []
