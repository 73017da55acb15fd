"""Files of two runs in one folder are refused by the name of the file that does not belong."""

import pytest

from tests.command import refused
from tests.report.page_results import write_folder


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "result")


@pytest.mark.parametrize("command", [["show"], ["show", "--worst", "2"], ["report"]])
def test_losses_of_other_settings_are_refused(command, folder, capsys):
    rename_settings(folder / "waterfall.csv")
    words = [command[0], str(folder), *command[1:]]
    assert "waterfall.csv is damaged" in refused(capsys, *words)


@pytest.mark.parametrize("command", ["report", "compare"])
def test_scores_of_other_settings_are_refused(command, folder, capsys):
    rename_settings(folder / "per_query.csv")
    assert "per_query.csv is damaged" in refused(capsys, command, str(folder))


def rename_settings(path):
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *(f"other {row}" for row in rows)]) + "\n", encoding="utf-8")
