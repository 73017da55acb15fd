"""Files of two runs in one folder are refused by the name of the file that does not belong."""

import pytest

from tests.command import refused
from tests.report.page_results import write_folder


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "result")


@pytest.mark.parametrize("command", [["show"], ["show", "--worst", "2"], ["report"]])
def test_losses_of_other_settings_are_refused(command, folder, capsys):
    path = folder / "waterfall.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *(f"other {row}" for row in rows)]) + "\n", encoding="utf-8")
    words = [command[0], str(folder), *command[1:]]
    assert "waterfall.csv is damaged" in refused(capsys, *words)
