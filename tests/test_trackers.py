"""Results in trackers of experiments: `--log-to`, and trackers and commands of other packages."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness.cli import trackers
from harness.cli.commands import usage
from tests.command import YARD, exit_code, printed, refused, write_files
from tests.external.libraries import python_with

ROOT = Path(__file__).parent.parent


def log_here(tracked):
    """A tracker of another package."""
    (tracked.folder / "tracked.txt").write_text(repr((tracked.name, tracked.settings, tracked.means)))
    return f"mine: {tracked.name}"


def breaks(tracked):
    raise ConnectionError("no route to the tracker")


@pytest.fixture
def yard(tmp_path, monkeypatch):
    write_files(tmp_path, YARD)
    monkeypatch.chdir(tmp_path)
    entries = [
        EntryPoint("mine", "tests.test_trackers:log_here", trackers.GROUP),
        EntryPoint("broken", "tests.test_trackers:breaks", trackers.GROUP),
        EntryPoint("absent", "tests.test_trackers:no_such_name", trackers.GROUP),
    ]
    monkeypatch.setattr(trackers, "entry_points", lambda group: entries)
    return tmp_path


def test_a_tracker_of_another_package_gets_parameters_and_means(yard, capsys):
    assert printed(capsys, "bench", "c.yaml", "--quiet", "--log-to", "mine").endswith("mine: one")
    name, settings, means = eval((yard / "results/one/tracked.txt").read_text())
    assert name == "one"
    # as c.yaml has them
    assert settings["base"]["chunk.chunk_size"] == 40
    assert settings["base"]["retrieve.kind"] == "bm25"
    # the only label is in the only document, and found first
    assert means["base"]["ndcg_exp@10"] == 1.0


def test_finished_results_are_logged_too(yard, capsys):
    assert exit_code("bench", "c.yaml", "--quiet") == 0
    assert printed(capsys, "show", "results/one", "--log-to", "mine") == "mine: one"


def test_what_is_wrong_with_a_tracker_is_told_and_before_the_run_where_it_can_be(yard, capsys):
    for name, words in {
        "mlfow": "no tracker 'mlfow' (did you mean 'mlflow'?)",
        "absent": "cannot be loaded",
    }.items():
        assert words in refused(capsys, "bench", "c.yaml", "--quiet", "--log-to", name)
        assert not (yard / "results").exists()
    error = refused(capsys, "bench", "c.yaml", "--quiet", "--log-to", "broken")
    assert "no route to the tracker" in error
    assert "harness show results/one --log-to broken" in error
    # the results are kept
    assert (yard / "results/one/summary.csv").exists()


def test_a_package_that_is_missing_is_named(yard, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert "pip install wandb" in refused(capsys, "bench", "c.yaml", "--quiet", "--log-to", "wandb")


def add_greeting(parser):
    """A command of another package."""
    parser.add_argument("name")
    parser.set_defaults(run=lambda args: print(f"Hello {args.name}.") or 3)


def test_a_package_adds_a_command(monkeypatch, capsys):
    entries = {
        name: EntryPoint(name, f"tests.test_trackers:{function}", "harness.commands")
        for name, function in (("greet", "add_greeting"), ("bad", "no_such_name"))
    }
    monkeypatch.setattr(usage, "commands_of_packages", lambda: entries)
    assert exit_code("greet", "Ada") == 3
    assert capsys.readouterr().out == "Hello Ada.\n"
    assert exit_code("--help") == 0
    assert "greet" in capsys.readouterr().out
    assert "Mend or remove the package" in refused(capsys, "bad")


@pytest.mark.slow
def test_the_trackers_themselves(tmp_path):
    write_files(tmp_path, YARD)
    python = python_with(tmp_path / "libraries", "mlflow-skinny", "wandb", "trackio")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MLFLOW_TRACKING_URI": str(tmp_path / "mlruns"),
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "TRACKIO_DIR": str(tmp_path / "trackio"),
    }
    words = ["-m", "harness", "bench", "c.yaml", "--quiet", "--log-to", "mlflow", "wandb", "trackio"]
    done = subprocess.run(
        [python, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (metric,) = (tmp_path / "mlruns").glob("*/*/metrics/ndcg_exp_at_10")
    assert float(metric.read_text().split()[1]) == 1.0
    (parameter,) = (tmp_path / "mlruns").glob("*/*/params/chunk.chunk_size")
    assert parameter.read_text() == "40"
    assert list((tmp_path / "mlruns").glob("*/*/artifacts/summary.csv"))
    assert list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
