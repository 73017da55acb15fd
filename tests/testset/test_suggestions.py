"""What `harness testset` suggests and counts: sheets that can be written here, and singulars."""

import re
import sys
from pathlib import Path

import pytest

from tests.command import one_line, save_table, table
from tests.testset.helpers import step_printed, step_refused, testset


@pytest.fixture
def short_set(folder, capsys):
    """A set of one question about one passage, which takes less than a minute to grade."""
    config = folder / "set" / "testset.yaml"
    config.write_text(config.read_text().replace("passages: 5", "passages: 1"))
    Path("mine.csv").write_text("text\nWhat was total revenue?\n")
    assert "1 entry, 1 different question in" in step_printed(capsys, "propose", "--from", "mine.csv")
    assert testset("choose", "--auto") == 0
    return folder


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_the_sheet_that_is_suggested_can_be_written(ending, short_set, capsys, monkeypatch):
    if ending == "csv":
        monkeypatch.setitem(sys.modules, "openpyxl", None)
    gathered = step_printed(capsys, "gather")
    assert f"testset set grade --sheet sheet.{ending}" in gathered
    assert f"testset set grade --from sheet.{ending} --by NAME" in gathered
    assert f"let people do it: harness testset set grade --sheet sheet.{ending}" in step_refused(
        capsys, "grade"
    )
    (suggested,) = re.findall(r"testset set grade --sheet (\S+)", gathered)
    assert testset("grade", "--sheet", suggested) == 0
    assert Path(suggested).exists()


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_the_sheet_for_a_second_person_can_be_written_too(ending, short_set, capsys, monkeypatch):
    assert testset("gather") == 0
    assert testset("grade", "--sheet", "sheet.csv") == 0
    save_table("sheet.csv", [{**row, "grade": "4"} for row in table("sheet.csv")])
    assert testset("grade", "--from", "sheet.csv", "--by", "Ann") == 0
    assert testset("answer", "--by-hand") == 0
    if ending == "csv":
        monkeypatch.setitem(sys.modules, "openpyxl", None)
    (suggested,) = re.findall(r"testset set review --sheet (\S+)", step_printed(capsys, "status"))
    assert suggested == f"second.{ending}"
    assert testset("review", "--sheet", suggested) == 0


def test_what_there_is_once_is_counted_in_the_singular(short_set, capsys):
    gathered = step_printed(capsys, "gather")
    assert "about 1 minute of a person's time" in gathered
    assert "1 passage for 1 question" in gathered
    capsys.readouterr()
    assert testset("status") == 0
    status = one_line(capsys.readouterr().out)
    assert "1 passage for 1 of 1 question" in status
    assert not re.search(r"\b1 (questions|passages|minutes|hours|grades|answers)\b", gathered + status)
