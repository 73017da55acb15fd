"""Tables and TREC files."""

import csv
import gzip
import io
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.report import (
    SeedRatioRow,
    SummaryRow,
    past_runs,
    read_as,
    read_summary,
    runs_table,
    spec_of,
    strictly_falling,
    to_csv,
    trec_run,
    write_results,
    write_table,
)
from harness.values import HarnessError, Ranking
from tests.command import table as cells


def test_a_table_above_a_size_is_packed_and_read_like_any_other(tmp_path, monkeypatch):
    spec = spec_of(SeedRatioRow)
    rows = [SeedRatioRow("s", "retrieve", f"q{i}", "train", 10, i / 7, "") for i in range(200)]
    for folder in ("plain", "packed", "again"):
        (tmp_path / folder).mkdir()
        write_table(tmp_path / folder, spec, rows)
        monkeypatch.setattr("harness.report.write.MOST_PLAIN", 1000)
    packed = tmp_path / "packed" / "seed_ratio.csv.gz"
    assert [path.name for path in packed.parent.iterdir()] == [packed.name]
    assert gzip.decompress(packed.read_bytes()) == (tmp_path / "plain" / "seed_ratio.csv").read_bytes()
    assert packed.read_bytes() == (tmp_path / "again" / packed.name).read_bytes()
    assert read_as(packed.parent, SeedRatioRow) == read_as(tmp_path / "plain", SeedRatioRow) == rows
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(HarnessError, match=r"seed_ratio\.csv\.gz is damaged"):
        read_as(packed.parent, SeedRatioRow)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", '=HYPERLINK("http://x","y")'])
def test_text_that_a_spreadsheet_would_run_is_made_harmless(text):
    _, (cell,) = csv.reader(io.StringIO(to_csv(["c"], [{"c": text}])))
    assert cell == "'" + text.replace("\r", "\n")


def test_numbers_stay_numbers():
    text = to_csv(["a", "b", "c", "d"], [{"a": -1.5, "b": None, "c": 3, "d": True}])
    assert text == "a,b,c,d\n-1.5,,3,yes\n"


def test_whatever_a_cell_holds_it_is_one_cell():
    kind = StrEnum("kind", {"ONE": "a,b"})
    cells = {"a": kind.ONE, "b": (1, 2), "c": Path("x,y"), "d": 'say "no"', "e": "two\nlines", "f": ""}
    (_, found) = csv.reader(io.StringIO(to_csv(list(cells), [cells])))
    assert found == ["a,b", "(1, 2)", "x,y", 'say "no"', "two\nlines", ""]
    # a row of one empty cell is no empty line
    assert to_csv(["a"], [{"a": ""}]) == 'a\n""\n'


@given(st.lists(st.floats(allow_nan=False), max_size=40))
@example([1.0, float("-inf"), float("-inf")])
def test_exported_scores_fall_strictly_in_single_precision(scores):
    scores = sorted(scores, reverse=True)
    out = np.array(strictly_falling(scores), dtype=np.float32)
    assert np.all(out[1:] < out[:-1])


def test_strictly_falling_changes_only_ties():
    assert strictly_falling([0.75, 0.5, 0.25]) == [0.75, 0.5, 0.25]
    tied = strictly_falling([0.5, 0.5, 0.5])
    assert tied[0] == 0.5
    assert 0.5 - tied[2] < 1e-6


def test_trec_run_keeps_the_rank_order():
    text = trec_run([Ranking("q1", ("d:0-5", "d:5-9"), (1.0, 1.0))], "tag")
    assert [line.split()[2:4] for line in text.splitlines()] == [["d:0-5", "1"], ["d:5-9", "2"]]
    assert all(line.split()[:2] == ["q1", "Q0"] and line.split()[-1] == "tag" for line in text.splitlines())


def test_everything_is_written_and_read_back(tmp_path, results):
    write_results(tmp_path, results, lambda name: name.replace("/", "-").replace(" ", "_"))
    rows, record = read_summary(tmp_path)
    assert rows == results.summary
    assert record["config"]["name"] == "demo"
    assert (
        tmp_path / "runs" / "a-b_=x.retrieve.trec"
    ).read_text() == "q1 Q0 d:0-3 1 0.8999999761581421 retrieve\n"
    assert (tmp_path / "qrels" / "a-b_=x.trec").read_text() == "q1 0 d:0-3 4\n"
    assert "repeats in 0 of 1 queries" in (tmp_path / "qrels" / "README.txt").read_text()
    assert cells(tmp_path / "rankings.csv")[0]["snippet"] == "'=2+2 abc"
    # what has no value is empty, not 0
    assert [row["value"] for row in cells(tmp_path / "per_query.csv")] == ["0.5", ""]


def test_the_best_setting_is_reported_by_its_last_stage(tmp_path, results):
    def row(setting, stage, mean):
        return SummaryRow(setting, stage, "all", "map", mean, None, None, 9, 0, 0)

    # a is best before reranking, b after it
    rows = [
        row("a", "retrieve", 0.9),
        row("a", "rerank", 0.2),
        row("b", "retrieve", 0.1),
        row("b", "rerank", 0.3),
    ]
    rows = [replace(row, split=split) for row in rows for split in ("train", "validation", "all")]
    write_results(tmp_path / "demo", replace(results, summary=rows), lambda name: "x")
    (run,) = past_runs(tmp_path, lambda record, measures: measures[0])
    assert (run.best, run.mean, run.settings) == ("b", 0.3, 2)
    table = runs_table(tmp_path, [run])
    assert table.title.endswith("1 result, newest first")
