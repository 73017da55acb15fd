"""ndcg_evidence: golden values, a plain restatement, and what makes it comparable between chunkings."""

from dataclasses import replace
from functools import cache
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.measures import SpanQrels, Text, relabelled
from tests.measures.build import characters, chunk, grid, query, ranking, score, span, value
from tests.measures.test_projection import chunk_lists
from tests.measures.test_text import EVIDENCE, cases

A, B, C = grid("d", 10, 3)
# ten characters are enough, and a stretch: with L = 10 stretch r is discounted as rank r is
TEN = "ndcg_evidence(enough=10,L=10)"


def rank(r):
    return 1 / log2(1 + r)


def ten(ranked, judged, budget=100, chunks=(A, B, C)):
    return value(f"{TEN}@{budget}", ranked, judged, list({*chunks, *ranked}))


def test_found_where_half_of_it_has_been_read():
    judged = [span("q", "d", 5, 15, 2)]
    # half of it are 5 characters: 10..15 are the first 5 of B
    assert ten([B], judged) == 1.0
    # A shows 5..10 as its characters 5..10: after C that is place 20, the end of the second stretch
    assert ten([C, A], judged) == pytest.approx(rank(2), abs=1e-12)
    # one character later it is the third
    assert ten([C, chunk("e", 0, 1), A], judged) == pytest.approx(rank(3), abs=1e-12)


def test_what_several_chunks_show_of_it_adds_up_and_counts_once():
    judged = [span("q", "d", 0, 10, 2)]
    three, same, two = chunk("d", 0, 3), chunk("d", 1, 3), chunk("d", 8, 10)
    assert ten([three], judged) == 0.0
    assert ten([three, same], judged) == 0.0
    # 3 + 2 characters, the last at place 3 + 2 + 2 = 7
    assert ten([three, same, two], judged) == 1.0
    assert ten([three, C, two], judged) == pytest.approx(rank(2), abs=1e-12)  # place 3 + 10 + 2


def test_enough_of_a_long_span_is_enough():
    judged = [span("q", "d", 0, 100, 4)]
    assert ten([chunk("d", 70, 79)], judged) == 0.0
    assert ten([chunk("d", 70, 80)], judged) == 1.0


def test_discount():
    # enough for 200 characters, L = 1000: at place 1,300 the seventh stretch begins at 1,200
    judged = [span("q", "d", 0, 40, 1)]
    late = [chunk("e", 0, 1280), chunk("d", 0, 20)]
    got = value("ndcg_evidence@5000", late, judged, late)
    assert got == pytest.approx(1 / log2(2 + 1200 / 1000), abs=1e-12)


def test_a_stretch_pays_for_one_evidence_the_greatest_first():
    # grade 1 is found at place 2, grade 3 at place 6: one stretch; the ideal has them in two
    judged = [span("q", "d", 0, 4, 1), span("q", "d", 4, 8, 3)]
    assert ten([A], judged) == 1.0
    # in the reverse order of the text as well
    judged = [span("q", "d", 0, 4, 3), span("q", "d", 4, 8, 1)]
    assert ten([A], judged) == 1.0
    # A is noise; B shows both in stretch 2, so that one waits for stretch 3
    judged = [span("q", "d", 10, 14, 1), span("q", "d", 14, 18, 3)]
    expected = (7 * rank(2) + rank(3)) / (7 + rank(2))
    assert ten([A, B], judged) == pytest.approx(expected, abs=1e-12)
    # what waits takes the next free stretch: 3 is taken by what C shows
    judged += [span("q", "d", 20, 24, 2)]
    expected = (7 * rank(2) + 3 * rank(3) + rank(4)) / (7 + 3 * rank(2) + rank(3))
    assert ten([A, B, C], judged) == pytest.approx(expected, abs=1e-12)


def test_copies_are_earned_once_and_a_better_copy_earns_the_difference():
    judged = [span("q", "d", 0, 10, 2, "f"), span("q", "d", 20, 30, 3, "f")]
    assert ten([C], judged) == 1.0
    assert ten([A], judged) == pytest.approx(3 / 7, abs=1e-12)
    assert ten([A, C], judged) == pytest.approx((3 + 4 * rank(2)) / 7, abs=1e-12)
    assert ten([C, A], judged) == 1.0


def test_budget():
    judged = [span("q", "d", 10, 14, 2), span("q", "d", 20, 24, 1)]
    # found at places 12 and 22; the ideal has stretches 1 and 2, and up to 10 characters the first alone
    best = 3 + rank(2)
    assert ten([A, B, C], judged, 22) == pytest.approx((3 * rank(2) + rank(3)) / best, abs=1e-12)
    assert ten([A, B, C], judged, 21) == pytest.approx(3 * rank(2) / best, abs=1e-12)
    assert ten([A, B, C], judged, 11) == 0.0
    assert ten([B, C], judged, 10) == 1.0


def test_is_ndcg_of_ranks_where_every_chunk_is_a_stretch_with_one_evidence():
    chunks = grid("d", 10, 6)
    judged = [span("q", "d", 10 * i, 10 * i + 10, g) for i, g in enumerate((1, 3, 0, 2, 4, 0))]
    order = [chunks[i] for i in (2, 0, 4, 5, 1, 3)]
    ranks = value("ndcg_exp@4", order, judged, chunks)
    assert value(f"{TEN}@40", order, judged, chunks) == pytest.approx(ranks, abs=1e-12)


def test_tokens_are_those_of_the_document():
    judged = [span("q", "d", 20, 30, 2)]
    # C is two tokens of 5 characters, A one: half of C is one token, found at place 2, in the second stretch
    edges = {"d": [0, 10, 20, 25, 30]}
    name = "ndcg_evidence_tokens(enough=1,L=1)@9"
    got = value(name, [A, C, B], judged, [A, B, C], token_boundaries=edges.__getitem__)
    assert got == pytest.approx(rank(2), abs=1e-12)


def test_one_token_a_character_is_the_same_as_characters():
    # as with Chinese text, which tokenizers of this kind cut into its characters
    judged = [span("q", "d", 5, 15, 2), span("q", "d", 3, 7, 1)]
    tokens = value(
        "ndcg_evidence_tokens(enough=4,L=7)@13",
        [B, A],
        judged,
        [A, B, C],
        token_boundaries=lambda _: range(31),
    )
    assert 0 < tokens < 1
    assert tokens == value("ndcg_evidence(enough=4,L=7)@13", [B, A], judged, [A, B, C])


def test_queries_do_not_wait_for_each_other():
    judged = [
        span("q", "d", 0, 4, 1),
        span("q", "d", 4, 8, 3),
        span("p", "d", 0, 4, 2),
        span("r", "d", 0, 4, 0),
    ]
    table = score([], [query(name) for name in "pqrs"], judged, [A, B, C], [f"{TEN}@100"]).values
    assert table[:2, 0].tolist() == [0.0, 0.0]
    assert np.isnan(table[2:, 0]).all()
    ranked = [ranking("p", B, A), ranking("q", A)]
    both = score(ranked, [query("q"), query("p")], judged, [A, B, C], [f"{TEN}@100"]).values[:, 0]
    assert both.tolist() == pytest.approx([1.0, rank(2)], abs=1e-12)


def best_schedule(jobs, last, enough, L):
    """The most that (gain, first stretch) can earn, one a stretch: all ways are tried."""

    @cache
    def most(stretch, done):
        if stretch >= last:
            return 0.0
        options = [most(stretch + 1, done)]
        for i, (gain, first) in enumerate(jobs):
            if i not in done and first <= stretch:
                paid = gain / log2(2 + stretch * enough / L)
                options.append(paid + most(stretch + 1, done | {i}))
        return max(options)

    return most(0, frozenset())


def test_two_copies_found_with_the_same_character_are_found_as_the_better_one():
    # of the copies 37-45 (grade 2) and 39-42 (grade 1) the chunk 19-41 shows 4 of 8 and 2 of 3 characters:
    # half of each with its 22nd character, so the fact earns 2^2 - 1 there, in the stretch from 20 on
    judged = [span("q", "b", 37, 45, 2, "x"), span("q", "b", 39, 42, 1, "x")]
    got = value("ndcg_evidence(enough=4,L=1)@22", [chunk("b", 19, 41)], judged, [chunk("b", 19, 41)])
    assert got == pytest.approx((1 / log2(2 + 5 * 4)) / (1 / log2(2)), abs=1e-12)


@given(cases(), st.integers(1, 60), st.integers(3, 15), st.integers(1, 30))
def test_restated_character_by_character(case, budget, enough, L):
    judged, chunks, ranked = case
    relevant = [j for j in judged if j.query_id == "q1" and j.grade]
    assume(relevant)
    shown, seen, place = [0] * len(relevant), set(), 0
    found = {}
    for c in ranked:
        for character in characters(c):
            place += 1
            for i, j in enumerate(relevant):
                if (
                    (c.doc_id, character) not in seen
                    and j.doc_id == c.doc_id
                    and j.start <= character < j.end
                ):
                    shown[i] += 1
                    if i not in found and shown[i] >= min((j.end - j.start) / 2, enough):
                        found[i] = place
            seen.add((c.doc_id, character))
    jobs, had, best = [], {}, {}
    for i, j in enumerate(relevant):
        best[j.evidence or i] = max(best.get(j.evidence or i, 0), j.grade)
    for i, where in sorted(found.items(), key=lambda item: (item[1], -relevant[item[0]].grade)):
        fact, grade = relevant[i].evidence or i, relevant[i].grade
        if where <= budget and grade > had.get(fact, 0):
            jobs.append((2**grade - 2 ** had.get(fact, 0), ceil(where / enough) - 1))
            had[fact] = grade
    last = ceil(budget / enough)
    ideal = best_schedule(tuple((2**g - 1, 0) for g in best.values()), last, enough, L)
    expected = best_schedule(tuple(jobs), last, enough, L) / ideal
    got = value(f"ndcg_evidence(enough={enough},L={L})@{budget}", ranked, judged, chunks, "q1")
    assert got == pytest.approx(expected, abs=1e-10)


@given(cases(), chunk_lists, st.sampled_from(EVIDENCE))
def test_reading_on_never_lowers_the_value(case, more, measure):
    judged, chunks, ranked = case
    longer = [*ranked, *(c for c in more if c not in ranked)]
    before = value(measure, ranked, judged, chunks, "q1")
    after = value(measure, longer, judged, list({*chunks, *more}), "q1")
    assert np.isnan(before) or after >= before - 1e-12


@given(cases(), st.integers(1, 40), st.sampled_from(EVIDENCE))
def test_irrelevant_text_before_evidence_never_raises_the_value(case, length, measure):
    judged, chunks, ranked = case
    noise = chunk("elsewhere", 0, length)
    before = value(measure, ranked, judged, chunks, "q1")
    after = value(measure, [noise, *ranked], judged, [*chunks, noise], "q1")
    assert np.isnan(before) or after <= before + 1e-12


def test_a_span_that_names_its_answer_is_found_where_that_has_been_read():
    judged = [replace(span("q", "d", 0, 30, 2), answer=(22, 26)), span("q", "d", 5, 9, 1)]
    best = 3 + rank(2)
    # A and B show two thirds of the span, and none of the answer; the second span is found in A
    assert ten([A, B], judged) == pytest.approx(1 / best, abs=1e-12)
    # half of the answer is not enough; all of it is, at place 4 + 2 of the second stretch
    assert ten([chunk("d", 20, 24)], judged) == 0.0
    assert ten([A, chunk("d", 20, 24), chunk("d", 24, 28)], judged) == pytest.approx(
        (1 + 3 * rank(2)) / best, abs=1e-12
    )
    # padding and trimming leave the answer where it is
    named = SpanQrels.from_judgments(judged[:1])
    late = [A, B, C]
    for drawn in relabelled(named, {"d": Text(1000, np.zeros((0, 2), dtype=np.int64))}).values():
        assert ten(late, drawn) == ten(late, named) == pytest.approx(rank(3), abs=1e-12)


@given(cases(), st.sampled_from(EVIDENCE))
def test_a_span_that_is_all_answer_is_a_span_that_must_be_read_whole(case, measure):
    judged, chunks, ranked = case
    named = [replace(j, answer=(j.start, j.end)) for j in judged]
    got = value(measure, ranked, named, chunks, "q1")
    assert np.isnan(got) or 0 <= got <= value(measure, ranked, judged, chunks, "q1") + 1e-12
    everything = [chunk(doc, 0, 200) for doc in "abc"]
    whole = value(measure, everything, named, everything, "q1")
    assert np.isnan(whole) or whole <= 1 + 1e-12


def test_an_answer_outside_its_span_is_refused():
    with pytest.raises(ValueError, match=r"d:5-15 does not hold its answer, 12-16"):
        SpanQrels.from_judgments([replace(span("q", "d", 5, 15, 2), answer=(12, 16))])
