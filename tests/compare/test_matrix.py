from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.comparison import ScoredOn, ScoreMatrix, from_rows, join, measure_to_take
from harness.comparison.matrix import differences, matrix_differences
from harness.report import ScoreRow
from harness.values import ConfigError, HarnessError

from .build import matrix

SPLITS = {"q1": "train", "q2": "validation"}
ROWS = [
    ScoreRow(setting=setting, stage=stage, query_id=query, split=SPLITS[query], measure=measure, value=value)
    for setting, stage, query, measure, value in (
        ("a", "retrieve", "q1", "m", 0.1),
        ("a", "retrieve", "q2", "m", None),
        ("a", "rerank", "q1", "m", 0.3),
        ("a", "rerank", "q2", "m", None),
        ("b", "retrieve", "q2", "m", None),
        ("b", "retrieve", "q1", "m", 0.2),
        ("b", "retrieve", "q1", "other", 0.9),
    )
]


def test_the_final_stage_is_the_last_of_each_setting():
    scores = from_rows(ROWS, "m")
    assert (scores.settings, scores.query_ids) == (("a", "b"), ("q1", "q2"))
    assert scores.splits == ("train", "validation")
    np.testing.assert_array_equal(scores.values, [[0.3, np.nan], [0.2, np.nan]])
    np.testing.assert_array_equal(scores.means, [0.3, 0.2])
    assert from_rows(ROWS, "m", stage="rerank").settings == ("a",)


def test_rows_that_contradict_each_other_are_refused():
    for rows, options, message in (
        (ROWS, {"stage": "fusion"}, "no scores for m for the stage fusion"),
        ([*ROWS, ROWS[0]], {}, "q1 occurs twice"),
        (
            [row for row in ROWS if (row.setting, row.query_id) != ("b", "q2")],
            {},
            "a and b were not scored on the same queries: q2",
        ),
    ):
        with pytest.raises(HarnessError, match=message):
            from_rows(rows, "m", **options)


@pytest.mark.parametrize(
    ("values", "settings", "queries", "message"),
    [
        (np.zeros((2, 2)), ("a", "a"), ("x", "y"), "setting is named twice"),
        (np.zeros((2, 2)), ("a", "b"), ("x", "x"), "query is named twice"),
        (np.zeros((2, 3)), ("a", "b"), ("x", "y"), "shape"),
        (np.full((2, 2), np.inf), ("a", "b"), ("x", "y"), "infinite"),
    ],
)
def test_an_inconsistent_matrix_is_refused(values, settings, queries, message):
    with pytest.raises(ValueError, match=message):
        ScoreMatrix("m", settings, queries, values, ("train",) * len(queries))
    # undefined queries must be the same for all settings
    assert from_rows(ROWS, "m").defined().query_ids == ("q1",)
    with pytest.raises(HarnessError, match="a value for q1 under some settings"):
        matrix({"a": [0.1, np.nan], "b": [0.1, 0.2]}).defined()


RECORD = {
    "config": {
        "queries": "c/queries.csv",
        "relevance": {"rule": "any_overlap"},
        "anchor": {"threshold": 90.0},
    },
    "hashes": {"c/queries.csv": "11", "c/labels.csv": "22"},
    "counts": {"conventions": ["gain"]},
}
TEXTS = {"report": "33"}


def scored_on(record=RECORD, texts=TEXTS, judged="44"):
    return ScoredOn.of(record, texts, judged)


def changed(*path, value):
    def copy(node, keys):
        return {**node, keys[0]: copy(node[keys[0]], keys[1:]) if keys[1:] else value}

    return copy(RECORD, path)


def test_every_difference_is_a_reason():
    moved = {
        **changed("config", "queries", value="d/queries.csv"),
        "hashes": {"d/queries.csv": "11", "c/labels.csv": "22"},
    }
    assert differences(scored_on(), scored_on(moved)) == []
    for path, value, reason in (
        (("hashes", "c/queries.csv"), "99", "the files of queries differ"),
        (("config", "relevance", "rule"), "full_cover", "the rules of relevance differ"),
        (("config", "anchor", "threshold"), 50.0, "the anchoring of quotes differ"),
        (("counts", "conventions"), [], "the conventions differ"),
    ):
        (found,) = differences(scored_on(), scored_on(changed(*path, value=value)))
        assert found.startswith(reason)
    with pytest.raises(HarnessError, match="does not say 'relevance'"):
        scored_on({**RECORD, "config": {"queries": "c/queries.csv"}})


def test_of_rules_only_what_differs_is_shown():
    def relevance(judge, **keys):
        return scored_on(changed("config", "relevance", value={"judge": judge, **keys}))

    labels = relevance({"kind": "labels"}, rule="half")
    graph = {"kind": "graph", "model": "m", "pool": {"depth": 10, "unit": "chunk"}}
    assert differences(labels, relevance(graph, rule="half")) == [
        "the rules of relevance differ: judge.kind labels and graph"
    ]
    deeper = relevance({**graph, "pool": {"depth": 20, "unit": "chunk"}, "alpha": 0.5}, rule="full")
    assert differences(relevance(graph, rule="half"), deeper) == [
        "the rules of relevance differ: judge.pool.depth 10 and 20, judge.alpha (not set) and 0.5, "
        "rule half and full"
    ]


def test_other_texts_are_a_reason_whatever_the_label_file():
    other_labels = changed("hashes", "c/labels.csv", value="99")
    assert differences(scored_on(), scored_on(other_labels)) == []
    assert differences(scored_on(), scored_on(texts={**TEXTS, "second": "44"})) == [
        "only one result has the documents second"
    ]
    assert differences(scored_on(), scored_on(texts={"report": "99"})) == [
        "the text differs for the documents report"
    ]


def test_joined_settings_keep_their_own_scores_whatever_the_order_of_queries():
    one = matrix({"a": [0.1, 0.2], "b": [0.3, 0.4]}, splits=("train", "validation"))
    other = matrix({"b": [0.9, 0.8]}, ids=("q1", "q0"), splits=("validation", "train"))
    joined = join({"old": one, "new": other})
    assert joined.settings == ("a", "old: b", "new: b")
    np.testing.assert_array_equal(joined.values, [[0.1, 0.2], [0.3, 0.4], [0.8, 0.9]])


def test_a_join_refuses_with_all_the_reasons():
    one = matrix({"a": [0.1, 0.2]}, splits=("train", "train"))
    moved = matrix({"b": [0.1, np.nan]}, splits=("train", "validation"))
    fewer = matrix({"c": [0.1]})
    other = matrix({"d": [0.1, 0.2]}, measure="recall@10")
    with pytest.raises(HarnessError) as refused:
        join({"one": one, "moved": moved, "fewer": fewer, "other": other})
    message = str(refused.value)
    assert "one and moved: the split differs for q1" in message
    assert "one and moved: ndcg_exp@10 is defined in only one of them for q1" in message
    assert "one and fewer: the queries differ: only one result has q1" in message
    assert "one and other: the measures differ: ndcg_exp@10 and recall@10" in message
    assert matrix_differences(one, one) == []


def stored(*measures, cut="500"):
    """What is asked of a stored result to choose a measure."""
    scores = dict.fromkeys(measures or ("tokens@10",), ())
    return SimpleNamespace(measures=measures, chunkings={"a": cut}, scores=scores)


def test_the_measure_is_the_one_asked_for_or_the_headline_of_what_all_results_have():
    one = stored("recall@5", "ndcg_exp@10", "ndcg_evidence@5000")
    other = stored("ndcg_evidence@5000", "ndcg_exp@10")
    apart = stored("ndcg_evidence@5000", "ndcg_exp@10", cut="900")
    assert measure_to_take({Path("r"): one, Path("s"): other}, None) == "ndcg_exp@10"
    # of settings that cut documents differently chunks cannot be counted
    assert measure_to_take({Path("r"): one, Path("s"): apart}, None) == "ndcg_evidence@5000"
    assert measure_to_take({Path("r"): one}, "recall@5") == "recall@5"
    for results, asked, words in (
        ({"r": one, "s": other}, "recall@5", ["s was not scored by recall@5", "it has ndcg_evidence@5000"]),
        ({"r": one, "s": stored("map")}, None, ["no measure in common"]),
        ({"r": one, "s": stored()}, None, ["cost"]),
        ({"r": one}, "judged@10", ["judged@10", "ndcg_exp@10"]),
    ):
        with pytest.raises(ConfigError) as refused:
            measure_to_take({Path(name): found for name, found in results.items()}, asked)
        assert all(word in str(refused.value) for word in words)
