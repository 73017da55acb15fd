"""The guard finds what differs between two runs, and passes over hours and seconds."""

import json

import pytest

from harness.report.page.build import pack
from tools.guard.compare import differences

PAGE = '<script id="data">{}</script>'


def write(root, **changed):
    """One result, with some of its values changed."""
    values = {
        "mean": "0.5",
        "seconds": "1.0",
        "date": "2026-01-01T10:00:00+00:00",
        "printed": "0.5",
    } | changed
    root.mkdir()
    record = {"counts": {"queries": 3, "mean": values["mean"]}, "date": values["date"]}
    (root / "record.json").write_text(json.dumps(record), encoding="utf-8")
    (root / "summary.csv").write_text(f"setting,mean,seconds\na,{values['mean']},{values['seconds']}\n")
    (root / "report.html").write_text(PAGE.format(pack(record)), encoding="utf-8")
    (root / "printed.txt").write_text(f"{values['printed']} in {values['seconds']} s at {values['date']}\n")
    return root


def test_hours_and_seconds_are_no_difference(tmp_path):
    before = write(tmp_path / "before")
    after = write(tmp_path / "after", seconds="2.5", date="2027-02-03T04:05:06+00:00")
    assert list(differences(before, after)) == []


@pytest.mark.parametrize(
    ("changed", "files"),
    [({"mean": "0.6"}, ["record.json", "report.html", "summary.csv"]), ({"printed": "0.6"}, ["printed.txt"])],
)
def test_another_value_is_found_in_every_file_that_has_it(tmp_path, changed, files):
    found = dict(differences(write(tmp_path / "before"), write(tmp_path / "after", **changed)))
    assert sorted(found) == files
    assert all("0.5" in what and "0.6" in what for what in found.values())


def test_a_file_that_only_one_has_is_found(tmp_path):
    before, after = write(tmp_path / "before"), write(tmp_path / "after")
    (after / "more.csv").write_text("a\n1\n")
    assert list(differences(before, after)) == [("more.csv", "only after")]
