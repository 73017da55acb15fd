"""text-NDCG and text overlap: golden values, what makes them comparable, a plain restatement."""

from itertools import combinations, pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.measures import SpanQrels, text_ndcg
from harness.measures.trail import Tokens
from tests.measures.build import characters, chunk, grid, query, ranking, score, span, value
from tests.measures.test_projection import chunk_lists, judgments


def paid(start, end, L=1000, budget=10**9):
    return sum(1 / log2(2 + p / L) for p in range(start, min(end, budget)))


A, B, C = grid("d", 10, 3)


def test_golden_one_span():
    judged = [span("q", "d", 5, 15, 2)]
    # ideal: 10 characters at places 0..9; trail B, A: characters 10..14 at places 0..4, 5..9 at 15..19
    expected = (paid(0, 5) + paid(15, 20)) / paid(0, 10)
    assert value("ndcg_text@100", [B, A], judged, [A, B, C]) == pytest.approx(expected, abs=1e-12)
    expected = (paid(0, 5, 2) + paid(15, 20, 2)) / paid(0, 10, 2)
    assert value("ndcg_text(L=2)@100", [B, A], judged, [A, B, C]) == pytest.approx(expected, abs=1e-12)
    # the budget ends within the second chunk, after two of the five characters; the ideal fits
    expected = (paid(0, 5) + paid(15, 17)) / paid(0, 10)
    assert value("ndcg_text@17", [B, A], judged, [A, B, C]) == pytest.approx(expected, abs=1e-12)
    # a budget below the span's length cuts the ideal too
    assert value("ndcg_text@4", [B, A], judged, [A, B, C]) == pytest.approx(1.0, abs=1e-12)


def test_golden_two_grades():
    judged = [span("q", "d", 0, 10, 1), span("q", "d", 20, 24, 3)]
    ideal = 7 / 4 * paid(0, 4) + 1 / 10 * paid(4, 14)
    expected = (1 / 10 * paid(0, 10) + 7 / 4 * paid(10, 14)) / ideal
    assert value("ndcg_text@50", [A, C], judged, [A, B, C]) == pytest.approx(expected, abs=1e-12)


def test_golden_copies():
    # the same fact in 10 and in 4 characters: the ideal reads the short one; either earns, both no more
    judged = [span("q", "d", 0, 10, 2, "f"), span("q", "d", 20, 24, 2, "f")]
    ideal = 3 / 4 * paid(0, 4)
    assert value("ndcg_text@50", [C], judged, [A, B, C]) == pytest.approx(1.0, abs=1e-12)
    assert value("ndcg_text@50", [A], judged, [A, B, C]) == pytest.approx(
        3 / 10 * paid(0, 10) / ideal, abs=1e-12
    )
    both = max(3 / 10 * paid(0, 10), 3 / 4 * paid(10, 14)) / ideal
    assert value("ndcg_text@50", [A, C], judged, [A, B, C]) == pytest.approx(both, abs=1e-12)


def test_golden_spans_within_spans():
    # 4..8 lies within 0..10: its characters carry both densities, and are read first by the ideal
    judged = [span("q", "d", 0, 10, 1), span("q", "d", 4, 8, 2)]
    ideal = (1 / 10 + 3 / 4) * paid(0, 4) + 1 / 10 * paid(4, 10)
    found = 1 / 10 * paid(0, 10) + 3 / 4 * paid(4, 8)
    assert value("ndcg_text@50", [A], judged, [A, B, C]) == pytest.approx(found / ideal, abs=1e-12)


def test_golden_overlap():
    judged = [span("q", "d", 5, 15, 1), span("q", "d", 12, 18, 2)]  # wanted: 5..18, 13 characters
    ranked = [chunk("d", 0, 10), chunk("d", 8, 14)]  # read: 16 characters; found: 5..14, 9 characters
    assert value("text_recall@2", ranked, judged, ranked) == pytest.approx(9 / 13)
    assert value("text_precision@2", ranked, judged, ranked) == pytest.approx(9 / 16)
    assert value("text_iou@2", ranked, judged, ranked) == pytest.approx(9 / (16 + 13 - 9))
    assert value("text_recall@1", ranked, judged, ranked) == pytest.approx(5 / 13)
    # every chunk that holds wanted text: both of these, and 17..30 for one character
    chunks = [*ranked, chunk("d", 17, 30), chunk("d", 18, 30)]
    assert value("precision_omega", [], judged, chunks) == pytest.approx((9 + 1) / (16 + 13))


def test_overlap_takes_the_best_covered_copy():
    judged = [span("q", "d", 0, 10, 1, "f"), span("q", "d", 20, 24, 1, "f")]
    # 8 of 10 characters of the first copy, 3 of 4 of the second: 0.8 is more
    ranked = [chunk("d", 2, 10), chunk("d", 21, 24)]
    assert value("text_recall", ranked, judged, ranked) == pytest.approx(8 / 10)
    assert value("text_precision", ranked, judged, ranked) == pytest.approx(8 / 11)
    # at k = 1 of the reverse order it is the second copy
    assert value("text_recall@1", ranked[::-1], judged, ranked) == pytest.approx(3 / 4)


def test_tokens_are_those_of_the_document():
    judged = [span("q", "d", 10, 20, 2)]
    # tokens of 5 characters in the first 20, then one of 10: the span is 2 tokens, A is 2, C is 1
    edges = {"d": [0, 5, 10, 15, 20, 30]}
    expected = paid(3, 5, 250) / paid(0, 2, 250)
    got = value("ndcg_text_tokens@100", [A, C, B], judged, [A, B, C], token_boundaries=edges.__getitem__)
    assert got == pytest.approx(expected, abs=1e-12)


def test_a_character_of_several_tokens_is_as_long_as_these():
    # a character of 2 tokens, one of 1, one of 3: they end after 2, 3 and 6 tokens
    unit = Tokens(lambda _: [0, 0, 1, 2, 2, 2, 3])
    assert unit.positions(["d"], np.zeros(4, np.int64), np.arange(4)).tolist() == [0, 2, 3, 6]


class Boundaries:
    """Where tokens begin, by an object that has no hash."""

    __hash__ = None

    def __init__(self, step):
        self.step = step

    def __call__(self, doc_id):
        return range(0, 31, self.step)


def test_one_set_of_judgments_is_scored_by_several_tokenizers():
    judged = [span("q", "d", 5, 15, 2), span("q", "d", 20, 22, 3)]
    given, chunks = ([ranking("q", B, A)], [query("q")]), [A, B, C]

    def value_by(spans, step):
        found = score(*given, spans, chunks, ["ndcg_text_tokens@9"], token_boundaries=Boundaries(step))
        return found.values[0, 0]

    shared = SpanQrels.from_judgments(judged)
    alone = [value_by(judged, step) for step in (1, 5)]
    assert [value_by(shared, step) for step in (1, 5)] == alone
    assert alone[0] != alone[1]


def test_one_token_a_character_is_the_same_as_characters():
    judged = [span("q", "d", 5, 15, 2), span("q", "d", 3, 7, 1)]
    tokens = value(
        "ndcg_text_tokens(L=7)@13", [B, A], judged, [A, B, C], token_boundaries=lambda _: range(31)
    )
    assert tokens == pytest.approx(value("ndcg_text(L=7)@13", [B, A], judged, [A, B, C]), abs=1e-12)


def test_tokens_that_cannot_be_counted_are_errors():
    judged = [span("q", "d", 5, 15, 2)]
    with pytest.raises(ValueError, match=r"ndcg_text_tokens@9 counts tokens, and no tokenizer is given"):
        value("ndcg_text_tokens@9", [A], judged, [A, B])
    with pytest.raises(ValueError, match=r"d:5-15 holds no token"):
        value("ndcg_text_tokens@9", [A], judged, [A, B], token_boundaries=lambda _: [0, 5])
    with pytest.raises(ValueError, match=r"d: token boundaries must be sorted"):
        value("ndcg_text_tokens@9", [A], judged, [A, B], token_boundaries=lambda _: [0, 5, 3])


TEXT = [
    "ndcg_text@20",
    "ndcg_text(L=3)@7",
    "text_recall@2",
    "text_precision@2",
    "text_iou@2",
    "precision_omega",
]
EVIDENCE = ["ndcg_evidence(enough=5,L=3)@20", "ndcg_evidence(enough=3)@60", "ndcg_evidence(enough=8,L=8)@33"]


def test_nothing_to_read():
    judged = [span("q", "d", 5, 15, 2)]
    for measure in (*TEXT[:5], "ndcg_evidence@20"):
        assert value(measure, None, judged, [A, B]) == 0.0
        assert value(measure, [], judged, []) == 0.0
        assert np.isnan(value(measure, [A], [span("q", "d", 5, 15, 0)], [A, B]))
        assert np.isnan(value(measure, [A], [], [A, B]))
    assert value("precision_omega", None, judged, []) == 0.0
    assert score([], [], judged, [A, B], TEXT[:5]).values.shape == (0, 5)


@st.composite
def cases(draw):
    judged, chunks = draw(judgments), draw(chunk_lists)
    ranked = draw(st.permutations(chunks))[: draw(st.integers(0, 12))]
    return judged, chunks, ranked


@pytest.mark.parametrize("measure", [*TEXT, *EVIDENCE])
@given(cases())
def test_values_are_between_0_and_1(measure, case):
    judged, chunks, ranked = case
    got = value(measure, ranked, judged, chunks, "q1")
    assert np.isnan(got) or 0 <= got <= 1 + 1e-12


@given(cases(), st.integers(1, 60), st.integers(1, 30))
def test_ndcg_text_restated_character_by_character(case, budget, L):
    judged, chunks, ranked = case
    relevant = [j for j in judged if j.query_id == "q1" and j.grade]
    assume(relevant)
    earned, read, place = dict.fromkeys(range(len(relevant)), 0.0), set(), 0
    for c in ranked:
        for character in characters(c):
            if (c.doc_id, character) not in read and place < budget:
                for i, j in enumerate(relevant):
                    if j.doc_id == c.doc_id and j.start <= character < j.end:
                        earned[i] += (2**j.grade - 1) / (j.end - j.start) / log2(2 + place / L)
            read.add((c.doc_id, character))
            place += 1
    facts = {}
    for i, j in enumerate(relevant):
        facts.setdefault(j.evidence or i, []).append(i)
    found = sum(max(earned[i] for i in members) for members in facts.values())

    def ideal(choice):
        density = {}
        for i in choice:
            j = relevant[i]
            for character in range(j.start, j.end):
                key = (j.doc_id, character)
                density[key] = density.get(key, 0) + (2**j.grade - 1) / (j.end - j.start)
        ordered = sorted(density.values(), reverse=True)[:budget]
        return sum(d / log2(2 + p / L) for p, d in enumerate(ordered))

    best = max(
        ideal(choice)
        for choice in combinations(range(len(relevant)), len(facts))
        if len({next(f for f, m in facts.items() if i in m) for i in choice}) == len(facts)
    )
    got = value(f"ndcg_text(L={L})@{budget}", ranked, judged, chunks, "q1")
    assert got == pytest.approx(found / best, abs=1e-10)


@given(cases(), st.integers(1, 60))
def test_with_too_many_combinations_the_ideal_is_only_higher(case, budget):
    judged, chunks, ranked = case
    exact = value(f"ndcg_text@{budget}", ranked, judged, chunks, "q1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_ndcg, "MOST_COMBINATIONS", 1)
        bounded = value(f"ndcg_text@{budget}", ranked, judged, chunks, "q1")
    assert np.isnan(exact) or 0 <= bounded <= exact + 1e-12


@pytest.mark.parametrize("measure", ["ndcg_text@50", EVIDENCE[0]])
@given(judgments, chunk_lists, chunk_lists)
def test_the_ideal_is_the_same_for_every_chunking(measure, judged, chunks, others):
    """Read exactly the best text, chunked as it comes: other chunks in the chunking change nothing."""
    relevant = [j for j in judged if j.query_id == "q1" and j.grade]
    assume(relevant)
    exact = chunk(relevant[0].doc_id, relevant[0].start, relevant[0].end)
    first = value(measure, [exact], judged, list({*chunks, exact}), "q1")
    assert first == value(measure, [exact], judged, list({*others, exact}), "q1")


@given(judgments, st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5)), unique=True), st.data())
def test_rechunking_in_the_same_reading_order_changes_nothing(judged, blocks, data):
    """Blocks of ten characters in some order, each cut into pieces that are read in their order."""
    whole = [chunk(d, 10 * i, 10 * i + 10) for d, i in blocks]
    pieces = []
    for c in whole:
        cuts = sorted(data.draw(st.sets(st.integers(c.start + 1, c.end - 1), max_size=3)))
        edges = [c.start, *cuts, c.end]
        pieces += [chunk(c.doc_id, s, e) for s, e in pairwise(edges)]
    for measure in ("ndcg_text@30", "ndcg_text(L=2)@45", *EVIDENCE):
        one, other = (value(measure, ranked, judged, ranked, "q1") for ranked in (whole, pieces))
        np.testing.assert_allclose(one, other, atol=1e-12)


@given(cases(), st.integers(0, 12), st.sampled_from(["ndcg_text@20", "ndcg_text(L=2)@60"]))
def test_text_read_before_never_raises_the_value(case, place, measure):
    """A chunk whose text was all read already is put in anywhere after it."""
    judged, chunks, ranked = case
    assume(ranked)
    copied = chunk(ranked[0].doc_id, ranked[0].start, ranked[0].end - (ranked[0].end - ranked[0].start) // 2)
    assume(copied not in ranked)
    at = 1 + place % len(ranked)
    longer = [*ranked[:at], copied, *ranked[at:]]
    before = value(measure, ranked, judged, chunks, "q1")
    after = value(measure, longer, judged, list({*chunks, copied}), "q1")
    assert np.isnan(before) or after <= before + 1e-12


@given(cases(), st.integers(1, 40))
def test_irrelevant_text_before_evidence_lowers_the_value(case, length):
    judged, chunks, ranked = case
    noise = chunk("elsewhere", 0, length)
    before = value("ndcg_text@2000", ranked, judged, chunks, "q1")
    after = value("ndcg_text@2000", [noise, *ranked], judged, [*chunks, noise], "q1")
    assert np.isnan(before) or after < before or before == after == 0


def test_perfect_reading_is_1_in_any_chunking_of_it():
    judged = [span("q", "d", 0, 4, 1), span("q", "d", 10, 12, 3), span("q", "e", 5, 9, 2)]
    best = [chunk("d", 10, 12), chunk("e", 5, 9), chunk("d", 0, 4)]
    assert value("ndcg_text@100", best, judged, best) == pytest.approx(1.0, abs=1e-12)
    others = [value("ndcg_text@100", list(order), judged, best) for order in permutations(best)]
    assert sum(v > 1 - 1e-12 for v in others) == 1


@given(st.lists(cases(), min_size=2, max_size=2))
def test_queries_do_not_touch_each_other(pair):
    (judged, chunks, ranked), (_, more, others) = pair
    every = list({*chunks, *more})
    table = score(
        [ranking("q1", *ranked), ranking("q2", *others)], [query("q2"), query("q1")], judged, every, TEXT
    )
    for row, (name, own) in enumerate([("q2", others), ("q1", ranked)]):
        for column, measure in enumerate(TEXT):
            np.testing.assert_allclose(
                table.values[row, column], value(measure, own, judged, every, name), atol=1e-12
            )
