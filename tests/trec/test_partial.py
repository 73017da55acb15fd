"""No run, part of a run, no judgments, part of them: every convention, both ways to compute it."""

import numpy as np
import pandas as pd
import pytest

from harness.measures.conventions import CONVENTIONS
from harness.trec import (
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
        ({"q1": {}}, {"q1": {"a": 1}}, None, 0.0, 0.0),
    ],
)
def test_the_matrix_of_what_may_be_missing(convention, run, qrels, drop, zero, harness):
    missing = CONVENTIONS[convention].missing
    expected = harness if convention == "harness" else drop if missing == "drop" else zero
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


def test_scores_that_are_infinite_are_ordered_and_nan_is_refused():
    run = {"q": {"a": -np.inf, "b": np.inf, "c": 0.0}}
    for scores in (
        evaluate(run_from_dict(run), qrels_from_dict({"q": {"c": 1}}), ["rr"]),
        evaluate_dicts(run, {"q": {"c": 1}}, ["rr"]),
    ):
        assert scores.means() == {"rr": 0.5}
    with pytest.raises(TrecError, match="query q, document a: the score is not a number"):
        run_from_dict({"q": {"a": np.nan}})
    for depth in ("rr", "rr@1"):
        with pytest.raises(TrecError, match="query q has a score that is not a number"):
            evaluate_dicts({"q": {"a": np.nan}}, {"q": {str(i): 1 for i in range(9)}}, [depth])
