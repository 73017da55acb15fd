"""`harness score` as trec_eval is used: files in, values out."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import one_line, refused, run, table

# q1: judged a 3, b 0, c 1. The run ranks b, a: DCG 0 + 3/log2(3) = 1.892789, ideal 3 + 1/log2(3) = 3.630930.
# q2: judged d 1. The run ranks d first: 1. q3 is judged and not in the run; q4 is in the run and not judged.
QRELS = "q1 0 a 3\nq1 0 b 0\nq1 0 c 1\nq2 0 d 1\nq3 0 e 2\n"
RUN = "q1 Q0 b 1 9.5 x\nq1\tQ0  a 2 9.0 x\nq2 Q0 d 1 1.0 x\nq4 Q0 a 1 1 x\n"
Q1 = 1.8927892607143721 / 3.6309297535714578


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return ["--run", str(tmp_path / "run.txt"), "--qrels", str(tmp_path / "qrels.txt")]


def score(capsys, *words):
    return run(capsys, "score", *words)


def values_of(text):
    return {
        (row["query_id"], row["measure"]): float(row["value"]) if row["value"] else None
        for row in csv.DictReader(io.StringIO(text))
    }


def test_csv_per_query_and_means(files, capsys):
    code, out, err = score(capsys, *files, "--measures", "ndcg_lin@10,rr", "--per-query", "--format", "csv")
    assert code == 0
    expected = {
        ("q1", "ndcg_lin@10"): Q1,
        ("q1", "rr"): 0.5,
        ("q2", "ndcg_lin@10"): 1.0,
        ("q2", "rr"): 1.0,
        ("all", "ndcg_lin@10"): (Q1 + 1) / 2,
        ("all", "rr"): 0.75,
    }
    assert values_of(out) == pytest.approx(expected, abs=1e-12)
    assert list(values_of(out)) == list(expected)
    assert "1 judged query has no ranking, such as q3" in err
    assert "Left out: 1 ranked query without a judgment" in err
    assert "The convention trec_eval leaves such queries out;" in one_line(err)
    _, _, err = score(capsys, *files, "--measures", "rr", "--convention", "ranx")
    assert "The convention ranx counts such queries as 0." in one_line(err)
    # a measure that is named twice is printed once
    _, out, _ = score(capsys, *files, "--measures", "rr,ap,rr", "--per-query", "--format", "csv")
    assert [line.split(",")[1] for line in out.splitlines()] == ["measure", *("rr", "ap") * 3]


def test_queries_with_nothing_relevant_are_counted_and_do_not_count_as_0(tmp_path, capsys):
    for name, text in (("run", "q1 Q0 a 1 1.0 t\n"), ("qrels", "q1 0 a 1\nq2 0 b 0\n"), ("nothing", "")):
        (tmp_path / name).write_text(text)
    words = ("--qrels", tmp_path / "qrels", "--measures", "ndcg_lin@10", "--convention")
    _, out, err = score(capsys, "--run", tmp_path / "run", *words, "harness")
    assert out.split()[-1] == "1.0000"
    assert "1 judged query has nothing relevant, such as q2. The convention harness leaves" in one_line(err)
    assert "no ranking" not in err
    _, out, err = score(capsys, "--run", tmp_path / "run", *words, "ranx")
    assert (out.split()[-1], "nothing relevant" in err) == ("0.5000", False)
    assert "has no ranking, such as q2. The convention ranx counts such queries as 0." in one_line(err)
    # an empty run ranks nothing
    _, out, err = score(capsys, "--run", tmp_path / "nothing", *words, "harness")
    assert out.split()[-1] == "0.0000"
    assert "1 judged query has no ranking, such as q1. The convention harness counts" in one_line(err)


def test_text_is_laid_out_as_trec_eval_does_and_json_says_its_convention(files, capsys):
    _, out, _ = score(capsys, *files, "--measures", "ndcg_lin@10")
    assert out.split() == ["ndcg_lin@10", "all", f"{(Q1 + 1) / 2:.4f}"]
    _, out, _ = score(capsys, *files, "--measures", "recall(rel=2)@5,ap", "--per-query", "--format", "json")
    content = json.loads(out)
    assert content["convention"] == "trec_eval"
    assert set(content["means"]) == {"recall(rel=2)@5", "ap"}
    assert set(content["queries"]) == {"q1", "q2"}


def test_every_run_is_scored_however_it_is_named(files, capsys, tmp_path):
    run, other = files[1], str(tmp_path / "other.txt")
    Path(other).write_text("q1 Q0 a 1 1 x\nq2 Q0 d 1 1 x\n")
    words = (*files, "--run", other, "--measures", "rr")
    both = f"run,query_id,measure,value\n{run},all,rr,0.75\n{other},all,rr,1.0\n"
    assert score(capsys, *words, "--format", "csv")[1] == both
    at_once = ("--run", run, other, "--qrels", files[3], "--measures", "rr", "--format", "csv")
    _, out, err = score(capsys, *at_once)
    assert out == both
    assert "1 judged query has no ranking, such as q3" in one_line(err)
    assert run in "".join(err.split())
    values = score(capsys, *words)[1].partition("\n\n")[0]
    lines = [line.split() for line in values.splitlines()]
    assert lines == [[run, "rr", "all", "0.7500"], [other, "rr", "all", "1.0000"]]
    content = json.loads(score(capsys, *words, "--format", "json")[1])
    means = {name: each["means"] for name, each in content["runs"].items()}
    assert means == {run: {"rr": 0.75}, other: {"rr": 1.0}}
    assert f"--run names {run} twice." in refused(capsys, "score", *files, "--run", run)


def test_ids_that_begin_with_a_number_sign_are_scored_and_reported(capsys, tmp_path):
    (tmp_path / "q.txt").write_text("#1 0 a 1\n#2 0 a 1\n")
    (tmp_path / "r.txt").write_text("#1 Q0 a 1 1 t\n#2 Q0 a 1 1 t\n")
    words = ("--run", str(tmp_path / "r.txt"), "--qrels", str(tmp_path / "q.txt"), "--measures", "ap")
    code, out, err = score(capsys, *words)
    assert (code, out.split()) == (0, ["ap", "all", "1.0000"])
    assert "2 query ids begin with #, such as #1." in " ".join(err.split())


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--measures", "ndcg@10", "ndcg_lin"),
        ("--measures", "ndcg_cut.10", "Here it is called ndcg_lin@k"),
        ("--measures", "nDCG@10", "Here it is called ndcg_lin@k"),
        ("--measures", "recip_rank", "Here it is called rr"),
        ("--measures", "ndcg_lin@99999999999999999999", "below 2^31"),
        ("--measures", ",", "is empty"),
        ("--convention", "trec", "trec_eval"),
    ],
)
def test_an_unknown_measure_or_convention_is_explained(files, capsys, option, value, hint):
    assert hint in refused(capsys, "score", *files, option, value)


def test_an_output_that_lacks_a_letter_is_an_error_in_words(files, tmp_path):
    (tmp_path / "run.txt").write_text("q\u00e9 Q0 a 1 1 t\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q\u00e9 0 a 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "score", *files, "--per-query"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Set PYTHONIOENCODING=utf-8" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_official_outputs_of_dl19_are_reproduced(shared_corpora, capsys):
    folder = shared_corpora / "trec" / "dl19"
    expected = table(folder / "expected_ndcg10.csv")
    qrels = folder / "qrels.dl19-passage.txt"
    words = ("--measures", "ndcg_lin@10,ndcg_exp@10", "--per-query", "--format", "csv")
    for name in ("bm25-default", "ICT-BERT2", "ICT-CKNRM_B", "ICT-CKNRM_B50"):
        _, out, _ = score(capsys, "--run", folder / "runs" / f"{name}.txt", "--qrels", qrels, *words)
        values = values_of(out)
        rows = [row for row in expected if row["run"] == name]
        assert len(rows) == 44
        for row in rows:
            linear, exponential = (values[row["topic"], f"ndcg_{gain}@10"] for gain in ("lin", "exp"))
            assert linear == pytest.approx(float(row["ndcg10_linear_trec_eval"]), abs=6e-7)
            assert exponential == pytest.approx(float(row["ndcg10_exponential"]), abs=6e-6)
