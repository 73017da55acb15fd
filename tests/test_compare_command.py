"""`harness compare` and `harness gate` over folders of results."""

import csv
import json
import shutil

import pytest

from harness.cli import main

QUERIES = 40


def write_results(folder, means, labels="l1", grade="4"):
    """Results of settings whose query values lie around their means, the same way for all."""
    folder.mkdir(parents=True)
    with (folder / "per_query.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["setting", "stage", "query_id", "split", "measure", "value"])
        for setting, mean in means.items():
            for query in range(QUERIES):
                split = "validation" if query % 3 == 0 else "train"
                wiggle = 0.1 * ((query * 7) % 11 - 5) / 5
                own = 0.02 * ((query * 5 + len(setting)) % 7 - 3) / 3
                rows.writerow([setting, "retrieve", f"q{query}", split, "ndcg_exp@10", mean + wiggle + own])
    (folder / "documents.csv").write_text("document,status,sha256\nd,read,abc\n")
    (folder / "judgments.csv").write_text(
        f"query_id,document,start,end,grade,scored_on\nq0,d,0,5,{grade},yes\n"
    )
    record = {
        "config": {"queries": "q.csv", "labels": "l.csv", "relevance": {}, "anchor": {}, "parser": {}},
        "hashes": {"q.csv": "q1", "l.csv": labels, "d.txt": "abc"},
        "counts": {"conventions": []},
    }
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def run(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    out = capsys.readouterr()
    return stopped.value.code, out.out, out.err


def test_a_clear_difference_is_called_real_and_the_better_setting_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    folder = write_results(tmp_path / "r", {"small": 0.4, "large": 0.6, "largest": 0.6})
    code, out, _ = run(capsys, "compare", folder, "--csv", tmp_path / "d.csv")
    assert code == 0
    with (tmp_path / "d.csv").open(newline="") as file:
        found = {(row["setting"], row["against"]): row for row in csv.DictReader(file)}
    assert len(found) == 3
    clear = next(row for pair, row in found.items() if set(pair) == {"small", "large"})
    assert abs(float(clear["difference"])) == pytest.approx(0.2, abs=0.02)
    assert float(clear["p_max"]) < 0.01
    assert "yes" in out
    assert "train" in out


def test_against_a_baseline_there_is_one_row_a_setting(tmp_path, capsys):
    folder = write_results(tmp_path / "r", {"small": 0.4, "large": 0.6, "largest": 0.6})
    run(capsys, "compare", folder, "--baseline", "small", "--csv", tmp_path / "d.csv")
    with (tmp_path / "d.csv").open(newline="") as file:
        assert {(row["setting"], row["against"]) for row in csv.DictReader(file)} == {
            ("large", "small"),
            ("largest", "small"),
        }


@pytest.mark.parametrize(
    ("change", "reason"), [({"grade": "3"}, "judged spans"), ({"means": {"b": 0.5}}, None)]
)
def test_results_scored_on_other_judgments_are_refused(tmp_path, capsys, change, reason):
    one = write_results(tmp_path / "one", {"a": 0.4})
    other = write_results(tmp_path / "other", change.get("means", {"b": 0.4}), grade=change.get("grade", "4"))
    code, out, err = run(capsys, "compare", one, other)
    if reason is None:
        assert code == 0
        assert "a" in out
    else:
        assert code == 1
        assert reason in err


def test_an_unknown_measure_stage_or_folder_is_named(tmp_path, capsys):
    folder = write_results(tmp_path / "r", {"a": 0.4, "b": 0.5})
    assert "ndcg_exp@10" in run(capsys, "compare", folder, "--measure", "map")[2]
    assert "retrieve" in run(capsys, "compare", folder, "--stage", "rerank")[2]
    assert "no results" in run(capsys, "compare", tmp_path / "none")[2]


def test_the_gate_fails_on_a_real_drop_alone(tmp_path, capsys):
    base = write_results(tmp_path / "base", {"a": 0.6})
    worse = write_results(tmp_path / "worse", {"a": 0.5})
    same = tmp_path / "same"
    shutil.copytree(base, same)
    words = ("--measure", "ndcg_exp@10", "--max-drop", "0.02")
    code, out, _ = run(capsys, "gate", worse, "--baseline", base, *words, "--junit", tmp_path / "j.xml")
    assert code == 1
    assert "FAILED" in out
    assert "<failure" in (tmp_path / "j.xml").read_text()
    code, out, _ = run(capsys, "gate", same, "--baseline", base, *words)
    assert code == 0
    assert "passed" in out
    code, _, _ = run(capsys, "gate", worse, "--baseline", base, "--max-drop", "0.15")
    assert code == 0
