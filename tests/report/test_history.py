"""Earlier results are kept under the time when they began; the same result again replaces itself."""

import json
import os

import pytest

from harness.comparison import headline_of
from harness.report import name_of_earlier, past_runs, same_result
from harness.running import load_config, run_bench
from harness.values import Silent
from tests.command import YARD, write_files

FILES = {
    "summary.csv": "setting,mean\na,0.5\n",
    "runs/a.trec": "q1 Q0 d 1 1.0 t\n",
    "prices.csv": "setting,tokens_at_k\na,100\n",
}
RECORD = {
    "config": {"name": "x"},
    "config_sha256": "c",
    "hashes": {"q.csv": "h"},
    "date": "2026-03-01T10:20:30+00:00",
}


@pytest.fixture
def write(tmp_path):
    def write(name, files=(), **record):
        write_files(tmp_path / name, FILES | dict(files))
        (tmp_path / name / "record.json").write_text(json.dumps({**RECORD, **record}))
        return tmp_path / name

    return write


def test_times_and_dates_make_no_other_result(write):
    slower = {"report.html": "<html>"}
    assert same_result(write("one"), write("two", slower, date="2027-01-01T00:00:00+00:00", timings={"a": 1}))


@pytest.mark.parametrize(
    ("files", "record"),
    [
        ({"summary.csv": "setting,mean\na,0.6\n"}, {}),
        ({"prices.csv": FILES["prices.csv"].replace("100", "101")}, {}),
        ({"runs/b.trec": ""}, {}),
        ({}, {"config_sha256": "d"}),
        ({}, {"config": {"name": "y"}}),
        ({}, {"hashes": {"q.csv": "i"}}),
    ],
)
def test_another_figure_file_configuration_or_input_does(write, files, record):
    assert not same_result(write("one"), write("two", files, **record))


def test_an_unreadable_record_is_never_the_same(write):
    folder = write("one")
    (folder / "record.json").write_text("{")
    assert not same_result(folder, folder)


def test_an_earlier_result_is_named_after_its_beginning(write):
    folder = write("one")
    assert name_of_earlier(folder, "one") == "one@20260301-102030"
    old = write("two", date="")  # written by an older version
    os.utime(old, (0, 86_400))
    assert name_of_earlier(old, "two") == "two@19700102-000000"


def test_a_run_with_another_outcome_keeps_the_one_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, YARD)

    def run():
        results, folder = run_bench(load_config(tmp_path / "c.yaml"), Silent())
        return results.record, sorted(path.name for path in folder.parent.iterdir())

    first, folders = run()
    assert folders == ["one"]
    again, folders = run()
    assert folders == ["one"]
    assert again.config_sha256 == first.config_sha256
    (tmp_path / "c.yaml").write_text(YARD["c.yaml"].replace("40", "80"))
    other, folders = run()
    kept = f"one@{again.date[:19].replace('-', '').replace(':', '').replace('T', '-')}"
    assert folders == ["one", kept]
    assert other.config_sha256 != first.config_sha256
    older = json.loads((tmp_path / "results" / kept / "record.json").read_text())
    assert older["config_sha256"] == first.config_sha256
    # the newest first, whatever their names
    older["date"] = "2020-01-01T00:00:00+00:00"
    (tmp_path / "results" / kept / "record.json").write_text(json.dumps(older))
    assert [past.folder.name for past in past_runs(tmp_path / "results", headline_of)] == ["one", kept]
