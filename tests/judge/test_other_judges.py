"""Human labels to be judged too, and the threshold judges."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness.judge import (
    JUDGES,
    CosineConfig,
    LabelsConfig,
    RerankerJudgeConfig,
    cosine_judge,
    reranker_judge,
)
from harness.judge.records import JudgeTools
from harness.judge.threshold import same_model_warning
from harness.values.errors import ConfigError, JudgeError
from harness.values.progress import Silent
from tests.judge.helpers import pairs


def test_the_table_of_kinds():
    assert set(JUDGES) == {"llm", "labels", "panel", "cosine", "reranker"}
    with pytest.raises(ConfigError, match="cosine, labels, llm, panel, reranker"):
        JUDGES.find("oracle")


ENDPOINTS = [{"endpoint": {"model": name, "api_key_env": None}} for name in ("a", "b")]


@pytest.mark.parametrize(
    ("fields", "asked", "runs_here"),
    [
        ({"kind": "llm", **ENDPOINTS[0]}, ["a"], ""),
        ({"kind": "panel", "members": ENDPOINTS}, ["a", "b"], ""),
        ({"kind": "cosine", "model": "mini"}, [], "mini"),
        ({"kind": "reranker", "model": "ce"}, [], "ce"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_every_kind_that_grades_a_pool_builds_itself_and_knows_its_name(fields, asked, runs_here, ledger):
    config = JUDGES[fields["kind"]].config(**fields)
    judge = JUDGES.make(config, tools(1.0, ledger))
    assert judge.name == config.title
    assert [one.endpoint.model for one in config.asked] == asked
    assert config.runs_here == runs_here
    assert [name for name, _ in judge.estimates([])] == [one.title for one in config.asked]


def test_labels_are_not_a_judge_that_can_be_called():
    with pytest.raises(ConfigError, match="no judge to call"):
        JUDGES.make(LabelsConfig(), None)


def by_angle(model, texts):
    """Puts a text at the angle that its last number says, in degrees; a query at 0."""
    angles = [np.radians(float(text.split()[-1])) if "passage" in text else 0.0 for text in texts]
    return np.array([[3 * np.cos(angle), 3 * np.sin(angle)] for angle in angles])


def tools(score=1.0, ledger=None):
    return JudgeTools(ledger, tuple, by_angle, lambda model, texts: [score for _ in texts])


def run(judge, items):
    graded = []
    summary = judge.grade(items, graded.append, reporter=Silent())
    return [g.judgment.grade for g in graded], graded, summary


def test_cosine_is_cut_into_grades_and_says_what_it_is():
    judge = cosine_judge(CosineConfig(model="mini", thresholds=(0.1, 0.5, 0.9, 0.999999)), tools())
    grades, graded, summary = run(judge, pairs(100))
    # cos 0 = 1, cos 20 = 0.94, cos 45 = 0.71, cos 70 = 0.34, cos 90 = 0
    assert [grades[angle] for angle in (0, 20, 45, 70, 90)] == [4, 3, 2, 1, 0]
    assert (
        graded[0].judgment.judge
        == graded[0].judgment.source
        == "threshold judge: cosine mini"
        == summary.judge
    )
    assert (summary.pairs, summary.cost) == (100, 0)


@pytest.mark.parametrize(("score", "grade"), [(-9, 0), (-4, 1), (0.5, 2), (4, 3), (99, 4)])
def test_a_reranker_score_is_cut_into_grades(score, grade):
    assert run(reranker_judge(RerankerJudgeConfig(model="ce"), tools(score)), pairs(2))[0] == [
        grade,
        grade,
    ]


def test_a_score_that_is_no_number_is_no_grade():
    with pytest.raises(JudgeError, match="no finite score"):
        run(reranker_judge(RerankerJudgeConfig(model="ce"), tools(float("nan"))), pairs(1))


def test_thresholds_rise():
    with pytest.raises(ValidationError, match="thresholds rise"):
        CosineConfig(model="m", thresholds=(0.5, 0.4, 0.6, 0.7))


def test_a_judge_that_is_also_a_ranker_is_warned_about():
    rankers = ["sentence-transformers/all-MiniLM-L6-v2", "cross-encoder/x"]
    assert "measures nothing" in same_model_warning("all-minilm-l6-v2", rankers)
    assert "measures nothing" in same_model_warning("embedded:all-MiniLM-L6-v2", rankers)
    assert same_model_warning("gpt-4o", rankers) is None


def test_a_judge_with_the_weights_of_a_ranker_is_warned_about_by_whatever_name():
    weights = {"a": frozenset("12"), "b": frozenset("2"), "c": frozenset("3"), "d": frozenset()}
    assert "also ranks (b: the same weights)" in same_model_warning("a", ["b", "c"], weights)
    assert same_model_warning("a", ["c", "d"], weights) is None
    assert same_model_warning("d", ["unknown", "d2"], weights) is None
    assert "(a, b)" in same_model_warning("a", ["a", "b"], weights)
