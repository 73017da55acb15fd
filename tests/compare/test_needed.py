"""How many queries, on how many documents, would show a difference: by hand, and in words."""

import re
from dataclasses import replace

import numpy as np
import pytest

from harness.comparison import Options, ScoreMatrix, sentences_of, steps_of
from harness.comparison.needed import needed_for
from harness.comparison.stats import units_of
from tests.compare.build import conclude, noisy

QUICK = Options(resamples=500)
# what 80 % of studies exceed, in standard errors: 1.96 + 0.8416
REACH = 2.8016


def documents(count, queries, between, within, seed=0):
    """Differences of queries, and the names of their documents, with just these standard deviations.

    The means of documents differ by what documents are and by their queries.
    """
    rng = np.random.default_rng(seed)

    def scaled(rows):
        centred = rows - rows.mean(axis=-1, keepdims=True)
        return centred / centred.std(axis=-1, ddof=1, keepdims=True)

    own = within * scaled(rng.standard_normal((count, queries)))
    means = np.sqrt(between**2 + within**2 / queries) * scaled(rng.standard_normal(count))
    row = (means[:, None] + own).ravel()
    return row, [f"d{at // queries}" for at in range(len(row))]


def test_many_queries_by_hand():
    # half of them +0.2, half -0.2: an error of 0.2 / √5000. (2.8016 · 0.2 / 0.01)² = 3139.6
    row = np.tile([0.2, -0.2], 2500)
    error = 0.2 / np.sqrt(5000)
    needed = needed_for(0.01, row, error, 1.96, units_of((), 5000))
    assert needed.queries == pytest.approx(3139.6, rel=0.005)
    # a variance with 4,999 degrees of freedom is known to 4 %: 2 · √(2 / 4999)
    assert (needed.low, needed.high) == pytest.approx((3139.6 * 0.961, 3139.6 * 1.040), rel=0.005)
    assert (needed.clusters, needed.same) == (0, None)
    assert needed_for(0.01, row, 0.0, 1.96, units_of((), 5000)) is None
    assert needed_for(1e-6, row, error, 1.96, units_of((), 5000)) is None


def test_few_queries_need_more_than_the_estimate_says_as_it_may_be_too_small():
    row = np.tile([0.2, -0.2], 10)
    error = 0.2 / np.sqrt(20)
    needed = needed_for(0.1, row, error, 2.093, units_of((), 20))
    assert needed.queries > (REACH * 0.2 / 0.1) ** 2


def test_documents_and_queries_on_them_by_hand():
    # 400 documents of 5 queries: a variance of 0.1² / 400 + 0.2² / 2000 = 4.5e-5
    row, names = documents(400, 5, 0.1, 0.2)
    units, error = units_of(names, 2000), np.sqrt(0.1**2 / 400 + 0.2**2 / 2000)
    # 0.015 is seen with (0.015 / 2.8016)² = 2.867e-5: 2000 · 4.5 / 2.867 = 3139 queries, on 628 documents
    needed = needed_for(0.015, row, error, 1.96, units)
    assert (needed.queries, needed.clusters) == pytest.approx((3139, 628), rel=0.02)
    # 399 degrees of freedom: the variance may be 4.5e-5 · 399 / 363.5 = 4.94e-5 (chi-square exceeds 363.5
    # with a chance of 0.9). 0.2² / 2000 = 2e-5 of it are of queries, so documents may leave 2.94e-5, which is
    # more than 0.015 is seen with: no number of queries on these is sure to have it
    assert needed.same is None
    # 0.018 is seen with (0.018 / 2.8016)² = 4.128e-5, which leaves 0.2² / 1.19e-5 = 3,360 queries
    assert needed_for(0.018, row, error, 1.96, units).same == pytest.approx(3_360, rel=0.1)


def test_documents_that_agree_by_chance_do_not_raise_the_number_twice():
    # documents alike to the letter: what is left is the variance of queries, 0.2² / 120
    rng = np.random.default_rng(1)
    row = 0.2 * np.tile(np.tile([1.0, -1.0], 5), 12) + 1e-6 * rng.standard_normal(120)
    units = units_of([f"d{at // 10}" for at in range(120)], 120)
    error = row.std() / np.sqrt(119)
    assert units.kind == "clusters"
    needed = needed_for(0.04, row, error, 2.2010, units)
    # t(11) = 2.201 and 0.84 · √(1 + 2.2² / 22) = 0.93 make 3.13 errors: (3.13 · 0.2 / 0.04)² = 245, and fewer
    # by what t falls with more documents
    assert 200 <= needed.queries <= 245
    assert needed.queries == needed.low == needed.high
    assert needed.same is not None


def clustered(count, queries, between=0.0, seed=0):
    """Two equal settings on documents."""
    row, names = documents(count, queries, between, 0.2, seed)
    ids = tuple(f"q{at}" for at in range(len(row)))
    values = np.stack([0.5 + row / 2, 0.5 - row / 2])
    return ScoreMatrix("ndcg_exp@10", ("a", "b"), ids, values, ("train",) * len(ids), tuple(names))


def sure(verdict):
    """The step that makes the choice surer."""
    return next(step.text for step in steps_of(verdict) if "would show" in step.text)


def test_the_step_names_queries_and_documents_and_what_the_present_ones_give():
    found = conclude(clustered(60, 3), options=replace(QUICK, tolerance=0.028))
    assert (found.decision, found.population.kind) == ("open", "clusters")
    text = sure(found)
    needed = found.needed
    assert (
        f"queries on {needed.clusters} documents would show a true difference of 0.028 with a chance" in text
    )
    assert "There are 180 on 60. Estimates range from" in text
    assert "On these 60 documents alone it takes about" in text
    # where documents differ, more queries on them are of no use
    text = sure(conclude(clustered(14, 9, between=0.2), options=QUICK))
    assert "More queries on these 14 documents alone may not show it, however many." in text


def test_estimates_have_two_digits():
    found = conclude(clustered(60, 3), options=replace(QUICK, tolerance=0.028))
    # 180 are asked: fewer are not said
    for queries, words in ((2384, "2,400"), (197, "200")):
        text = sure(replace(found, needed=replace(found.needed, queries=queries)))
        assert re.search(r"[Aa]bout ([\d,]+) queries", text)[1] == words


def test_the_step_says_how_many_also_where_queries_are_too_few_or_documents_are():
    few = conclude(clustered(8, 3), options=QUICK)
    text = steps_of(few)[0].text
    assert text.startswith("Add at least 6 more queries. About ")
    assert f"queries on {few.needed.clusters} documents would show a true difference of 0.02" in text
    here = conclude(clustered(3, 20), options=QUICK)
    text = sure(here)
    assert text.startswith("Add queries on other documents, 6 or more with about as many queries each.")
    assert "queries on these 3 documents would show a true difference of 0.02 with a chance of 80%." in text
    # nobody is told to ask hundreds of queries on one document: it is said from how many on they would do
    one = replace(noisy(50, (0.5, 0.5), seed=3), clusters=("d",) * 50)
    first = conclude(one, options=QUICK)
    text = next(step.text for step in steps_of(first) if "with a chance of" in step.text)
    said = "On this one document alone a true difference of 0.02 shows, with a chance of 80%, only from about"
    assert said in text
    assert "These are worth no more than one such document, so" in " ".join(sentences_of(first))
    alone = noisy(50, (0.5, 0.5), seed=3)
    assert "queries would show" in sure(conclude(alone, options=QUICK))
    apart = replace(alone, clusters=tuple(f"d{at}" for at in range(50)))
    assert "queries, no two on one document, would show" in sure(conclude(apart, options=QUICK))
