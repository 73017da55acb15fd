"""No run, part of a run, no judgments, part of them: every convention, both ways to compute it."""

import numpy as np
import pandas as pd
import pytest

from harness.data import (
    TrecError,
    evaluate,
    evaluate_dicts,
    qrels_from_dict,
    qrels_from_frame,
    read_qrels,
    read_run,
    run_from_dict,
    run_from_frame,
)
from harness.measures import CONVENTIONS

RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("run", "qrels", "drop", "zero", "harness"),
    [
        ({}, {}, None, None, None),
        (RUN, {}, None, None, None),
        ({}, QRELS, None, 0.0, 0.0),
        ({"q1": RUN["q1"]}, QRELS, 1.0, 0.5, 0.5),
        (RUN, {"q1": QRELS["q1"]}, 1.0, 1.0, 1.0),
        (RUN, {"q1": {"a": 0}}, 0.0, 0.0, None),
        ({"q1": {}}, {"q1": {"a": 1}}, 0.0, 0.0, 0.0),
        (RUN, {"q1": {"a": 1}, "q2": {}}, 1.0, 0.5, 1.0),
    ],
)
def test_the_matrix_of_what_may_be_missing(convention, run, qrels, drop, zero, harness):
    missing = CONVENTIONS[convention].missing
    expected = harness if convention == "harness" else drop if missing == "drop" else zero
    if harness is None and CONVENTIONS[convention].unanswerable == "nan":
        expected = None
    for measure in ("ndcg_lin@10", "ndcg_lin"):
        for scores in (
            evaluate(run_from_dict(run), qrels_from_dict(qrels), [measure], convention),
            evaluate_dicts(run, qrels, [measure], convention),
        ):
            assert scores.means() == {measure: expected}


@pytest.mark.parametrize("dtype", ["str", "object", "category", "int64"])
def test_frames_and_parquet(tmp_path, dtype):
    run = pd.DataFrame({"query_id": [2, 1, 1], "doc_id": [7, 8, 7], "score": [1.0, 2.0, 1.0]})
    qrels = pd.DataFrame({"query_id": [1, 2], "doc_id": [7, 7], "relevance": [1, 1]})
    if dtype != "int64":
        for frame in (run, qrels):
            for name in ("query_id", "doc_id"):
                frame[name] = frame[name].astype(str).astype(dtype)
    run.to_parquet(tmp_path / "run.parquet")
    qrels.to_parquet(tmp_path / "qrels.parquet")
    for pair in (
        (run_from_frame(run), qrels_from_frame(qrels)),
        (read_run(tmp_path / "run.parquet"), read_qrels(tmp_path / "qrels.parquet")),
    ):
        scores = evaluate(*pair, ["rr"], "trec_eval")
        assert dict(zip(scores.query_ids, scores.values[:, 0].tolist(), strict=True)) == {"1": 0.5, "2": 1.0}


@pytest.mark.parametrize("bad", [np.nan, "1.5", None, 10**400])
def test_scores_in_dictionaries_that_are_no_numbers_are_refused(bad):
    run = {"p": {"a": 1.0}, "q": {"a": 1, "b": bad}}
    with pytest.raises(TrecError, match="query q, document b: the score is not a number"):
        run_from_dict(run)
    for depth in ("rr", "rr@1"):
        with pytest.raises(TrecError, match="query q, document b: the score is not a number"):
            evaluate_dicts(run, {q: {str(i): 1 for i in range(9)} for q in run}, [depth])


@pytest.mark.parametrize("bad", [1.5, np.nan, "1", None, 2**63])
def test_grades_in_dictionaries_that_are_no_whole_numbers_are_refused(bad):
    qrels = {"p": {"a": 1}, "q": {"a": 1, "b": bad}}
    for judge in (qrels_from_dict, lambda judged: evaluate_dicts({"q": {"a": 1.0}}, judged, ["rr"])):
        with pytest.raises(TrecError, match="query q, document b: the grade is not a whole number"):
            judge(qrels)


def test_whole_numbers_of_any_type_are_grades_and_infinite_scores_are_ordered():
    run = {"q": {"a": np.float32(3), "b": 2, "c": 1.0, "d": False}}
    qrels = {"q": {"a": 2.0, "b": np.int8(1), "c": True, "d": np.float64(-1)}}
    # (2 + 1 / log2(3) + 1 / 2) / the same: in the best order
    for measure in ("ndcg_lin@1", "ndcg_lin@2", "ndcg_lin"):
        assert both(run, qrels, measure, "harness") == {"q": 1.0}
    infinite = {"q": {"a": -np.inf, "b": np.inf, "c": 0.0}}
    assert both(infinite, {"q": {"c": 1}}, "rr", "harness") == {"q": 0.5}


def both(run, qrels, measure, convention):
    """The values of every query, the same from tables and from dictionaries."""
    table = evaluate(run_from_dict(run), qrels_from_dict(qrels), [measure], convention)
    np.testing.assert_array_equal(evaluate_dicts(run, qrels, [measure], convention).values, table.values)
    return dict(zip(table.query_ids, table.values[:, 0].tolist(), strict=True))


@pytest.mark.parametrize("scale", [-np.inf, np.inf, 1e300, -1e300])
def test_equal_infinities_are_ties_and_not_the_end_of_a_short_ranking(scale):
    # q1 is far shorter than q2, so that it is filled up in a common rectangle; 1e300 is infinite in 32 bits
    run = {
        "q1": {"a": scale, "b": scale},
        "q2": {str(i): float(i) for i in range(40)},
    }
    qrels = {"q1": {"a": 1}, "q2": {"39": 1}}
    many = {q: {**judged, **{f"x{i}": 0 for i in range(99)}} for q, judged in qrels.items()}
    for measure in ("rr", "rr@1", "rr@2"):
        for judged in (qrels, many):
            first = 0.0 if measure == "rr@1" else 0.5
            assert both(run, judged, measure, "trec_eval") == {"q1": first, "q2": 1.0}
            assert both(run, judged, measure, "ranx") == {"q1": 1.0, "q2": 1.0}


@pytest.mark.parametrize(
    "scores", [np.array([1, 0, 1], np.uint8), np.array([True, False, True]), [2**53, 0, 2**53 + 1]]
)
def test_equal_scores_of_any_type_are_ties(scores):
    # a and c tie, so a stays first; a float64 has no room for the last bit of 2^53 + 1
    run, qrels = {"q": dict(zip("abc", scores, strict=True))}, {"q": {"a": 1, "b": 0, "c": 0}}
    assert both(run, qrels, "rr", "harness") == {"q": 1.0}


def test_grades_too_high_to_count_with_are_refused():
    run, qrels = {"q": {"a": 1.0, "b": 0.0}}, {"q": {"a": 1001, "b": 1}}
    highest = {"q": {"a": 2**31 - 1}}
    assert evaluate(run_from_dict(run), qrels_from_dict(highest), ["ndcg_lin@10"]).values.tolist() == [[1.0]]
    # 1001 of 1001 and 1 at their best places; 2^1001 would soon be infinite, and inf / inf no value
    assert both(run, qrels, "ndcg_lin@10", "harness") == {"q": 1.0}
    for judged, measure, message in (
        (qrels, "ndcg_exp@10", "the grade 1001 is too large for exponential"),
        ({"q": {"a": 2**31}}, "ap", "the grade 2147483648 is too large"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate(run_from_dict(run), qrels_from_dict(judged), [measure])
        with pytest.raises(ValueError, match=message):
            evaluate_dicts(run, judged, [measure])


def test_ties_of_ids_that_differ_by_a_zero_byte():
    run, qrels = {"q": {"a": 1.0, "a\0": 1.0}}, {"q": {"a\0": 1, **{str(i): 0 for i in range(9)}}}
    for measure in ("rr", "rr@1"):
        assert both(run, qrels, measure, "trec_eval") == {"q": 1.0}


def test_a_part_of_a_categorical_frame_does_not_judge_the_queries_that_were_cut_off():
    qrels = pd.DataFrame({"query_id": ["1", "2"], "doc_id": ["a", "a"], "grade": [1, 1]})
    qrels["query_id"] = qrels["query_id"].astype("category")
    part = qrels_from_frame(qrels[qrels["query_id"] == "1"])
    assert part.query.names.to_pylist() == ["1"]
    assert evaluate(run_from_dict({"1": {"a": 1.0}}), part, ["rr"], "trec_eval_c").query_ids == ("1",)


def test_chunks_with_dictionaries_of_their_own(tmp_path):
    """A parquet file has a dictionary for every row group; one query has another number in each."""
    rows = [("x", "a", 1.0), ("y", "b", 1.0), ("y", "c", 2.0), ("z", "d", 1.0)]
    run = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    run.to_parquet(tmp_path / "run.parquet", row_group_size=2)
    read = read_run(tmp_path / "run.parquet")
    assert [(read.query.name(i), read.doc.name(i)) for i in range(4)] == [row[:2] for row in rows]
    assert len(read.query.names) == 3
