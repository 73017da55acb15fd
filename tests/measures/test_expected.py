"""NDCG to expect where judgments are missing: against all ways to grade them, by their probability."""

import itertools

import numpy as np
import pytest

from harness.measures import Graded, gain_exp, gain_lin, parse_measure
from harness.measures.unjudged import _shares_below, ndcg_expected
from tests.measures.build import grid, query, ranking, score, span, value


def graded(rows, ideals):
    """``rows``: per query the earned grade of each item, None where it is unjudged."""
    earned = [grade for row in rows for grade in row]
    offsets = np.cumsum([0, *map(len, rows)])
    ideal = [grade for row in ideals for grade in sorted(row, reverse=True)]
    ideal_offsets = np.cumsum([0, *map(len, ideals)])
    judged = np.array([grade is not None for grade in earned], dtype=np.bool_)
    values = np.array([grade or 0 for grade in earned], dtype=np.int64)
    held = np.array(ideal, dtype=np.int64)
    best = held, ideal_offsets
    return Graded(offsets, judged, ~judged, values, best, best, best)


def exact(row, ideal, shares, gain):
    """The expectation by listing every grade of every unjudged item."""
    holes = [i for i, grade in enumerate(row) if grade is None]
    total = 0.0
    for guess in itertools.product(range(5), repeat=len(holes)):
        grades = [grade or 0 for grade in row]
        for i, grade in zip(holes, guess, strict=True):
            grades[i] = grade
        chance = np.prod([shares[i][grade] for i, grade in zip(holes, guess, strict=True)])
        best = sorted([*ideal, *guess], reverse=True)[: len(row)]
        discount = 1 / np.log2(np.arange(len(row)) + 2)
        found = (gain(np.array(grades)) * discount).sum()
        most = (gain(np.array(best)) * discount[: len(best)]).sum()
        total += chance * (found / most if most else 0.0)
    return total


@pytest.mark.parametrize("gain", [gain_lin, gain_exp])
def test_it_is_the_mean_over_all_grades_by_their_probability(gain):
    # 40 queries judged at both ranks: half earn 2 at rank 1, a quarter 4 at rank 2
    judged = [[2 if i % 2 else 0, 4 if i % 4 == 0 else 0] for i in range(40)]
    rows = [*judged, [None, 3], [1, None], [None, None]]
    ideals = [[4, 2]] * 40 + [[3], [1], [2]]
    # about rank 2 the 40 of that rank and the two judged in the queries with holes
    at_1, at_2 = np.zeros(5), np.zeros(5)
    at_1[[0, 1, 2]] = [20 / 41, 1 / 41, 20 / 41]
    at_2[[0, 3, 4]] = [30 / 41, 1 / 41, 10 / 41]
    got = ndcg_expected(graded(rows, ideals), 2, gain, draws=5_000)
    for i in (40, 41, 42):
        assert got[i] == pytest.approx(exact(rows[i], ideals[i], (at_1, at_2), gain), abs=0.02)
    np.testing.assert_allclose(got[:40], [exact(r, [4, 2], None, gain) for r in judged])


def test_a_rank_with_few_judgments_borrows_from_its_neighbours():
    earned = np.array([0] * 30 + [4] * 3)
    rank = np.array([0] * 30 + [1] * 3)
    shares = _shares_below(earned, rank, 2)
    np.testing.assert_allclose(shares[0], [1.0] * 4)
    np.testing.assert_allclose(shares[1], [30 / 33] * 4)


def test_with_everything_judged_it_is_the_headline_and_the_same_in_every_run():
    chunks = grid("d", 10, 3)
    spans = [span("q", "d", 0, 10, 0), span("q", "d", 10, 20, 3), span("q", "d", 20, 30, 1)]
    assert value("ndcg_exp_expected@3", chunks, spans, chunks) == pytest.approx(
        value("ndcg_exp@3", chunks, spans, chunks)
    )
    holes = spans[1:]
    first = value("ndcg_exp_expected@3", chunks, holes, chunks)
    assert first == value("ndcg_exp_expected@3", chunks, holes, chunks)
    assert value("ndcg_exp@3", chunks, holes, chunks) < first
    assert first < value("ndcg_exp_upper@3", chunks, holes, chunks)


def test_nothing_judged_at_all_gives_no_value():
    chunks = grid("d", 10, 4)
    measure = parse_measure("ndcg_exp_expected@2")
    # the only label is of text that no query ranks
    table = score([ranking("q", *chunks[:2])], [query("q")], [span("q", "d", 30, 40, 2)], chunks, [measure])
    assert np.isnan(table.values[0, 0])
