"""Does a ranking measure predict answers: rows made from small scores by hand."""

import pytest

from harness.measures.answer.measure import Case
from harness.running.answering.prediction import prediction_rows
from harness.running.answering.scores import Measured
from harness.running.config.models import BenchConfig
from harness.steps.chunk.page import PageConfig
from harness.steps.search.retrieve.bm25 import Bm25Config
from harness.values.types import ANSWER, Query, QueryScore

QUERIES = [Query(f"q{i}", "?", "train") for i in range(12)]


def config(**fields):
    return BenchConfig.model_validate(
        {
            "name": "x",
            "documents": "d",
            "queries": "q",
            "labels": "l",
            "settings": [
                {
                    "name": "s",
                    "chunk": PageConfig(),
                    "retrieve": Bm25Config(),
                }
            ],
            "measures": ["ndcg_exp@10", "rr", "judged@10", "tokens@5"],
            "bootstrap": {"resamples": 200},
            **fields,
        }
    )


def rows(ranking, answers, measures=("ndcg_exp@10", "rr")):
    """``ranking`` and ``answers``: setting → query number → value."""
    scores = [
        QueryScore(setting, "retrieve", query.query_id, measure, own(i))
        for setting, own in ranking.items()
        for i, query in enumerate(QUERIES)
        for measure in measures
    ]
    measured = [
        Measured(
            setting,
            tuple(Case(query, (), "so") for query in QUERIES),
            {
                "token_f1": tuple(
                    QueryScore(setting, ANSWER, q.query_id, "token_f1", own(i)) for i, q in enumerate(QUERIES)
                )
            },
        )
        for setting, own in answers.items()
    ]
    found = list(prediction_rows(scores, measured, {}, config()))
    return {(row.ranking_measure, row.over, row.coefficient): row for row in found}


def test_all_quality_measures_are_correlated_in_every_way():
    found = rows({"a": lambda i: i / 12}, {"a": lambda i: i / 12})
    assert {measure for measure, _, _ in found} == {"ndcg_exp@10", "rr"}
    assert len(found) == 10


def test_perfect_agreement_is_one_and_reversal_is_minus_one():
    settings = {"a": 0.0, "b": 0.1, "c": 0.2}
    up = {name: lambda i, add=add: i / 24 + add for name, add in settings.items()}
    down = {name: lambda i, add=add: 1 - i / 24 - add for name, add in settings.items()}
    for answers, expected in ((up, 1), (down, -1)):
        found = rows(up, answers)
        for over, coefficient in (
            ("settings", "kendall"),
            ("settings", "spearman"),
            ("queries", "kendall"),
            ("queries", "spearman"),
            ("within queries", "kendall"),
        ):
            row = found["ndcg_exp@10", over, coefficient]
            assert row.value == pytest.approx(expected)
            assert (row.ci_low, row.ci_high) == pytest.approx((expected, expected))
            assert (row.n_settings, row.n_queries, row.reason) == (3, 12, "")


def test_correlations_over_and_within_queries_differ():
    # hard questions are hard for both; for any one question a better ranking has the worse answer
    ranking = {name: lambda i, add=add: i / 12 + add for name, add in (("a", 0), ("b", 0.01), ("c", 0.02))}
    answers = {name: lambda i, add=add: i / 12 - add for name, add in (("a", 0), ("b", 0.01), ("c", 0.02))}
    found = rows(ranking, answers)
    assert found["rr", "queries", "kendall"].value == pytest.approx(1)
    assert found["rr", "within queries", "kendall"].value == pytest.approx(-1)
    assert found["rr", "settings", "kendall"].value == pytest.approx(-1)


def test_a_question_without_both_values_is_left_out_everywhere():
    ranking = {name: lambda i: None if i == 0 else i / 12 for name in "abc"}
    answers = {name: lambda i, name=name: None if name == "b" and i == 1 else i / 12 for name in "abc"}
    row = rows(ranking, answers)["rr", "queries", "kendall"]
    assert (row.value, row.n_queries) == (pytest.approx(1), 10)


def test_an_undefined_correlation_has_no_value_and_a_reason():
    one = rows({"a": lambda i: i / 12}, {"a": lambda i: i / 12})
    assert one["rr", "settings", "kendall"].value is None
    assert one["rr", "settings", "kendall"].reason == "fewer than 3 settings"
    assert one["rr", "queries", "kendall"].value == pytest.approx(1)
    flat = {name: lambda i: 0.5 for name in "abc"}
    same = rows({name: lambda i: i / 12 for name in "abc"}, flat)["rr", "queries", "kendall"]
    assert (same.value, same.reason) == (None, "one of the two is the same everywhere")
    few = {name: lambda i: i / 12 if i < 5 else None for name in "abc"}
    assert rows(few, few)["rr", "queries", "spearman"].reason == "fewer than 10 queries"
    none = {name: lambda i: None for name in "abc"}
    assert rows(none, none)["rr", "settings", "spearman"].reason == "fewer than 10 queries"


def test_no_answers_no_rows():
    assert list(prediction_rows([], [], {}, config())) == []
