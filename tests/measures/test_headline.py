"""Which measure settings are compared by."""

import pytest

from harness.comparison import headline_of
from harness.measures import FAMILIES, across_chunkings, across_parsers, headline, trusted_for
from harness.measures.table import ACROSS_CHUNKINGS, SAME_CHUNKS

SCORED = ("recall@10", "ndcg_exp@5", "ndcg_exp@10", "ndcg_text_tokens@1250", "ndcg_text@5000", "judged@10")


@pytest.mark.parametrize(
    ("names", "different", "expected"),
    [
        (SCORED, True, "ndcg_text@5000"),
        (SCORED, False, "ndcg_exp@5"),
        (("recall@10", "ndcg_text_tokens@1250"), True, "ndcg_text_tokens@1250"),
        # none can be compared between chunkings: the rule of shared chunks, and the verdict says so
        (("recall@10", "ndcg_exp@10"), True, "ndcg_exp@10"),
        (("judged@10", "recall@10", "ap"), False, "recall@10"),
        (("judged@10",), False, "judged@10"),
        (("seed_ratio@5", "rr"), True, "rr"),
    ],
)
def test_the_headline_follows_from_what_differs(names, different, expected):
    assert headline(names, different) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((500,), "ndcg_exp@10"), ((500, 500), "ndcg_exp@10"), ((500, 900), "ndcg_text@5000")],
)
def test_the_headline_of_a_result_goes_by_whether_its_chunkings_differ(sizes, expected):
    settings = [{"name": f"s{at}", "chunk": {"size": size}} for at, size in enumerate(sizes)]
    assert headline_of({"config": {"settings": settings}}, ["ndcg_exp@10", "ndcg_text@5000"]) == expected


def test_the_order_of_preference_names_measures_that_fit():
    assert all(FAMILIES[name].across_chunkings for name in ACROSS_CHUNKINGS)
    assert all(FAMILIES[name].trusted_for for name in (*ACROSS_CHUNKINGS, *SAME_CHUNKS))
    assert {name for name, family in FAMILIES.items() if family.across_chunkings} == set(ACROSS_CHUNKINGS)


def test_even_a_perfect_ranking_may_have_far_less_than_1_where_what_is_read_is_divided_by():
    # one relevant document of k: precision is 1 / k; rbp sums (1 - p) p^i up to the last one; of text, what
    # is read or judged beside the evidence divides too
    divided = {"precision", "precision_condensed", "p", "rbp", "rbp_condensed"}
    divided |= {"text_precision", "text_iou", "precision_omega"}
    assert {name for name, family in FAMILIES.items() if family.below_one} == divided


def test_parameters_of_evidence_are_those_that_the_conventions_name():
    # docs/conventions.md: found with 200 characters or 50 tokens, L is 1,000 or 250; half of that is a label
    in_characters, in_tokens = {"enough": 200, "L": 1000}, {"enough": 50, "L": 250}
    assert FAMILIES["ndcg_evidence"].params == in_characters
    assert FAMILIES["ndcg_evidence_tokens"].params == in_tokens
    assert FAMILIES["ndcg_evidence_upper"].params == {**in_characters, "least": 100}
    assert FAMILIES["ndcg_evidence_tokens_upper"].params == {**in_tokens, "least": 25}


def test_non_quality_measures_are_trusted_for_nothing():
    for name in ("judged@10", "tokens@10", "ndcg_exp_upper@10", "seed_ratio@5", "nonsense"):
        assert trusted_for(name) == ""
        assert not across_chunkings(name)
    assert trusted_for("mrr") == trusted_for("rr@3") != ""
    fits = [across_parsers(name) for name in ("ndcg_evidence@500", "ndcg_text@500", "recall@10", "nonsense")]
    assert fits == [True, False, False, False]
