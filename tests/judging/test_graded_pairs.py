"""Graded pairs from elsewhere: read from a table, and the figures of public ones."""

import os
from pathlib import Path

import pytest

from harness.judge import agreement_csv, measure_agreement
from harness.running import read_pairs

SHARED = Path(os.environ.get("HARNESS_SHARED", Path(__file__).parents[2] / ".." / "shared"))
PUBLIC = SHARED / "corpora" / "judge-agreement"
CSV = [
    "query_id,human_grade,llm_grade,model\n",
    "a,0,0,x\n",
    "a,3,2,x\n",
    "b,1,5,x\n",
    "b,2,,x\n",
    "a,1,1,y\n",
]


@pytest.fixture
def pairs_file(tmp_path):
    def write(*lines):
        (tmp_path / "f.csv").write_text("".join(lines))
        return tmp_path / "f.csv"

    return write


def test_out_of_scale_grades_are_counted_and_rejected_or_clamped(pairs_file):
    rejected, odd = read_pairs(pairs_file(*CSV), 3)
    assert [pair.judge_grade for pair in rejected["x"]] == [0, 2, None, None]
    assert odd == {"x": 1, "y": 0}
    clamped, odd = read_pairs(pairs_file(*CSV), 3, "clamp")
    assert [pair.judge_grade for pair in clamped["x"]] == [0, 2, 3, None]
    assert odd["x"] == 1


def test_a_table(pairs_file):
    pairs, odd = read_pairs(pairs_file(*CSV), 3)
    found = [measure_agreement(name, pairs[name], 3, out_of_scale=odd[name]) for name in pairs]
    header, first, second = agreement_csv(found).splitlines()
    row = dict(zip(header.split(","), first.split(","), strict=True))
    assert (row["judge"], row["pairs"], row["unscored"], row["out_of_scale"]) == ("x", "2", "2", "1")
    assert (row["human_3_judge_2"], row["bias_at_human_3"], row["bias_at_human_1"]) == ("1", "-1.000000", "")
    assert second.startswith("y,1,1,0,0,,"), "kappa of one pair is undefined, so empty"


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the shared corpora are not here (HARNESS_SHARED)")
def test_the_public_pairs():
    """Figures checked with scikit-learn's cohen_kappa_score on the same rows."""
    expected = {
        ("llmjudge_dl23.csv", 3): {
            "h2oloo-fewself": (0.354, 0.601, 0),
            "willia-umbrela1": (0.346, 0.604, 0),
            "RMITIR-llama70B": (0.277, 0.498, 2),
            "TREMA-4prompts": (0.163, 0.341, 0),
        },
        ("rag25_umbrela.csv", 4): {"umbrela2": (0.231, 0.496, 0)},
    }
    for (name, max_grade), judges in expected.items():
        pairs, odd = read_pairs(PUBLIC / name, max_grade)
        for judge, (kappa, quadratic, out) in judges.items():
            found = measure_agreement(judge, pairs[judge], max_grade, out_of_scale=odd[judge])
            assert found.kappa.value == pytest.approx(kappa, abs=5e-4)
            assert found.kappa_quadratic.value == pytest.approx(quadratic, abs=5e-4)
            assert found.out_of_scale == out == found.unscored
