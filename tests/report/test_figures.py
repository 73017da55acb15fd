"""`harness plot`: every kind in every format, the same bytes each time, and errors that say what to do."""

import builtins
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from harness.cli import main
from harness.cli.commands import plot
from harness.report.figures import KINDS
from harness.report.figures.cost import front
from harness.report.figures.style import FORMATS
from harness.running.bench.page import write_figure
from harness.values.errors import ConfigError, HarnessError
from tests.report.page_results import fuse, rewrite, write_folder

matplotlib = pytest.importorskip("matplotlib", reason="needs the plots extra")
SLOW = [(), pytest.mark.slow]
STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("figures") / "r", settings=4, queries=12)


def test_the_command_names_the_kinds_and_formats_there_are():
    assert tuple(KINDS) == plot._KINDS
    assert plot._FORMATS == FORMATS


@pytest.mark.parametrize("form", [pytest.param(form, marks=SLOW[form != "svg"]) for form in FORMATS])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_and_gives_the_same_bytes_again(folder, tmp_path, kind, form):
    first = write_figure(folder, kind, form, tmp_path / "a").read_bytes()
    assert first.startswith(STARTS[form])
    assert len(first) > 3000
    assert write_figure(folder, kind, form, tmp_path / "b").read_bytes() == first
    # nothing of the day or of the machine
    assert not re.search(rb"<dc:date>|CreationDate|Software|/tmp/", first)


@pytest.mark.slow
def test_another_process_and_another_style_give_the_same_bytes(folder, tmp_path):
    here = write_figure(folder, "board", "svg", tmp_path / "a.svg").read_bytes()
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\n")
    script = (
        "from pathlib import Path; from harness.running.bench.page import write_figure;"
        f"write_figure(Path({str(folder)!r}), 'board', 'svg', Path({str(tmp_path / 'b.svg')!r}))"
    )
    environment = {"MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7", "PATH": ""}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert (tmp_path / "b.svg").read_bytes() == here


def test_the_board_has_a_dot_and_a_line_for_every_setting(folder, tmp_path):
    root = ET.fromstring(write_figure(folder, "board", "svg", tmp_path / "a.svg").read_bytes())
    drawn = [one.get("id") for one in root.iter() if (one.get("id") or "").startswith("line2d")]
    assert len(drawn) >= 2 * 4


def test_the_format_follows_the_ending_and_the_file_the_kind(folder, tmp_path, capsys):
    out = tmp_path / "board.pdf"
    with pytest.raises(SystemExit) as ended:
        main(["plot", str(folder), "--kind", "board", "--output", str(out)])
    assert ended.value.code == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert str(out) in capsys.readouterr().out.replace("\n", "")
    assert write_figure(folder, "cost") == folder / "cost.svg"


def test_a_measure_that_was_not_scored_is_refused(folder, tmp_path):
    with pytest.raises(ConfigError, match=r"was not scored by mrr; it has ndcg_exp@10, judged@10"):
        write_figure(folder, "board", "svg", tmp_path / "a.svg", "mrr")


def test_missing_data_is_reported(tmp_path):
    bare = write_folder(tmp_path / "r", settings=2, extras=False)
    rewrite(bare / "per_query.csv", lambda row: row | {"stage": f"{row['stage'][:3]}"})
    rewrite(bare / "summary.csv", lambda row: row | {"stage": f"{row['stage'][:3]}"})
    record = json.loads((bare / "record.json").read_text())
    for one in record["config"]["settings"]:
        one["chunk"]["chunk_size"] = 200
    (bare / "record.json").write_text(json.dumps(record))
    for kind, words in (
        ("curve", "differ in chunk size alone"),
        ("cost", "no prices"),
        ("losses", "no losses"),
        ("reranker", "no setting of these results has a reranker"),
        ("prediction", "have no answer_prediction.csv"),
    ):
        with pytest.raises(HarnessError, match=f"(?i){words}"):
            write_figure(bare, kind, "svg", tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()


def test_without_matplotlib_the_error_says_what_to_install(folder, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(HarnessError, match=r"pip install 'ndcg-harness\[plots\]'"):
        write_figure(folder, "board", "svg", tmp_path / "a.svg")


def test_hostile_names_are_no_formula_and_no_markup(tmp_path):
    hostile = write_folder(tmp_path / "r", settings=3, hostile=True)
    for kind in KINDS:
        path = write_figure(hostile, kind, "svg", tmp_path / "a.svg")
        assert b"<script" not in path.read_bytes()


def test_losses_that_are_won_back_leave_no_gap(tmp_path):
    folder = fuse(write_folder(tmp_path / "r", settings=2))
    assert write_figure(folder, "losses", "png", tmp_path / "a.png").stat().st_size > 3000


def test_a_measure_that_cannot_compare_chunkings_has_no_front(tmp_path):
    folder = write_folder(tmp_path / "r", settings=3, measures=("ndcg_exp@10", "ndcg_text@5000"))
    without, front_of = (
        write_figure(folder, "cost", "svg", tmp_path / "a.svg", measure).read_text()
        for measure in ("ndcg_exp@10", "ndcg_text@5000")
    )
    said = "No front: the measure compares only settings over the same chunks."
    assert f"<!-- {said} -->" in without
    assert said not in front_of
    for name in ("chunk=200/0", "chunk=200/1", "chunk=400/0"):
        assert f"<!-- {name} -->" in without


def test_the_front_has_what_nothing_beats():
    points = [(100.0, 0.5, 0), (200.0, 0.6, 1), (300.0, 0.55, 2), (200.0, 0.4, 3), (90.0, 0.2, 4)]
    assert [setting for _, _, setting in front(points)] == [4, 0, 1]
