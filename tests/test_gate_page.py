"""docs/gate.md: its workflow is valid, its commands are commands, and the files it copies are enough."""

import re
import shlex
import shutil
from pathlib import Path

from harness.cli.commands.usage import parser
from harness.report.scoring_inputs import SCORED_FROM
from tests.command import printed, run
from tests.test_compare_command import add_prices, write_results

PAGE = (Path(__file__).parent.parent / "docs" / "gate.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_is_one():
    commands = re.findall(r"^\s*(?:\.venv/bin/)?harness (.+)$", PAGE, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        parser().parse_args(shlex.split(command))


def test_the_files_it_copies_are_a_baseline(tmp_path, capsys):
    whole = write_results(tmp_path / "whole", {"a": 0.5})
    add_prices(whole, {"a": 900})
    (tmp_path / "base").mkdir()
    names = re.search(r"\{(per_query[^}]+)\}", PAGE)[1].split(",")
    for name in names:
        shutil.copy(whole / name, tmp_path / "base" / name)
    code, out, _ = run(capsys, "gate", whole, "--baseline", tmp_path / "base")
    assert (code, "passed" in out) == (0, True)
    assert "Costs are left out" not in printed(capsys, "compare", whole, tmp_path / "base")


def test_the_files_for_a_model_that_judges_are_those_it_is_scored_from():
    assert set(re.search(r"\{(queries[^}]+)\}", PAGE)[1].split(",")) == set(SCORED_FROM)
