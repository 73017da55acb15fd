"""Measures beside people's values of the same answers."""

import json

import pytest

from harness.cli import main
from harness.running.answering.external import MeasureScores, compare_with_people, people_table
from harness.values.types import ANSWER, QueryScore


def scores(values):
    rows = tuple(
        QueryScore(
            "", ANSWER, f"q{n}", "m", value, "" if value is not None else "timeout", failed=value is None
        )
        for n, value in enumerate(values)
    )
    return MeasureScores("m", rows, None, False)


def test_agreement_and_corrected_mean():
    # the measure is 0.2 too kind on every answer; people have seen the first 20 of 40
    values = [0.2 + 0.1 * (n % 8) for n in range(40)]
    human = {f"q{n}": values[n] - 0.2 for n in range(20)}
    found = compare_with_people(scores(values), human)
    assert found.n == 20
    assert found.difference == pytest.approx(0.2)
    assert found.tau == pytest.approx(1)
    # the corrected mean is near the mean of all less 0.2: 0.55 - 0.2
    assert found.corrected.value == pytest.approx(0.35, abs=0.02)
    assert found.corrected.low <= 0.35 <= found.corrected.high
    assert people_table([found]).rows[0][:3] == ("m", "20", "+0.200")


def test_few_values_give_no_corrected_mean_and_failures_do_not_count():
    found = compare_with_people(scores([0.5, None, 1.0]), {"q0": 0.5, "q1": 0.0, "q2": 0.5})
    assert (found.n, found.difference, found.corrected) == (2, 0.25, None)
    assert compare_with_people(scores([None]), {"q0": 1.0}) is None


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rows = [
        {"user_input": f"Which is {n}?", "response": "right" if n % 2 == 0 else "wrong", "reference": "right"}
        for n in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    # people find the wrong answers of the first 20 half right: the measure is 0.25 too strict on average
    values = [f"q{n + 1},exact_match,{1 if n % 2 == 0 else 0.5}" for n in range(20)]
    (tmp_path / "h.csv").write_text("\n".join(["query_id,measure,value", *values]) + "\n")
    with pytest.raises(SystemExit) as done:
        main(["score-answers", "a.jsonl", "--measures", "exact_match", "--human", "h.csv", "--quiet"])
    assert done.value.code == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Agreement with people" in out
    # corrected: 0.5 of all, and 0.25 more
    assert "exact_match 20 -0.250 1.000 0.750" in out
