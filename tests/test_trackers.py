"""Results in trackers of experiments: `--log-to`, and trackers and commands of other packages."""

import json
import os
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import harness
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
def package(tmp_path_factory, monkeypatch):
    """Another package that is installed: its metadata on the path, as pip writes them."""
    info = tmp_path_factory.mktemp("site") / "trackers_of_others-1.2.dist-info"
    entries = {
        "harness.trackers": {"mine": "log_here", "broken": "breaks", "absent": "no_such_name"},
        "harness.commands": {"greet": "add_greeting", "bad": "no_such_name"},
    }
    lines = []
    for group, functions in entries.items():
        lines += [f"[{group}]", *(f"{name} = {__name__}:{function}" for name, function in functions.items())]
    metadata = "Metadata-Version: 2.1\nName: trackers-of-others\nVersion: 1.2\n"
    write_files(info, {"METADATA": metadata, "entry_points.txt": "\n".join([*lines, ""])})
    monkeypatch.syspath_prepend(info.parent)


@pytest.fixture
def yard(package, tmp_path, monkeypatch):
    write_files(tmp_path, YARD)
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.usefixtures("package")
def test_a_package_adds_a_command(capsys):
    assert exit_code("greet", "Ada") == 3
    assert capsys.readouterr().out == "Hello Ada.\n"
    assert exit_code("--help") == 0
    assert "greet" in capsys.readouterr().out
    assert "Mend or remove the package" in refused(capsys, "bad")


def records_of(path):
    """The records of an offline run of Weights & Biases, as bytes: a log in the format of LevelDB.

    After a head of 7 bytes, blocks of 32 KiB hold pieces: a checksum, a length, and whether it is whole (1),
    the first (2), a middle (3) or the last one (4). A block's last bytes are empty where no head fits.
    """
    content = path.read_bytes()
    assert content[:4] == b":W&B"
    place, record = 7, b""
    while place + 7 <= len(content):
        left = 32768 - place % 32768
        if left < 7:
            place += left
            continue
        _, length, kind = struct.unpack("<IHB", content[place : place + 7])
        record += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            yield record
            record = b""


# prints what a file of records has: names of runs, configurations, summaries
READ = """
import json, pathlib, sys
from tests.test_trackers import records_of
from wandb.proto.wandb_internal_pb2 import Record

runs = {}
for path in pathlib.Path(sys.argv[1]).glob("wandb/offline-run-*/*.wandb"):
    config, summary, name = {}, {}, None
    for content in records_of(path):
        record = Record.FromString(content)
        name = record.run.display_name or name
        for items, into in ((record.run.config.update, config), (record.summary.update, summary)):
            into |= {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items}
    runs[name] = {"config": config, "summary": summary}
print(json.dumps(runs))
"""


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
    in_mlflow(tmp_path)
    in_trackio(tmp_path)
    shown = subprocess.run(
        [python, "-c", READ, tmp_path], env=environment, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    runs = json.loads(shown.stdout)
    assert set(runs) == {"base", "one: verdict"}
    parameters, means = runs["base"]["config"], runs["base"]["summary"]
    assert (parameters["chunk.chunk_size"], parameters["retrieve.kind"]) == (40, "bm25")
    assert means["ndcg_exp@10"] == 1.0
    assert runs["one: verdict"]["summary"]["verdict"] == verdict_of(tmp_path)


def verdict_of(folder):
    return str(harness.read_results(folder / "results" / "one"))


def in_mlflow(folder):
    """What lies in MLflow's folder: a run of the benchmark with files, and one of the setting."""
    runs = folder / "mlruns"
    (metric,) = runs.glob("*/*/metrics/ndcg_exp_at_10")
    assert float(metric.read_text().split()[1]) == 1.0
    (parameter,) = runs.glob("*/*/params/chunk.chunk_size")
    assert parameter.read_text() == "40"
    (artifacts,) = [path.parent for path in runs.glob("*/*/artifacts/verdict.txt")]
    assert (artifacts / "verdict.txt").read_text(encoding="utf-8") == verdict_of(folder)
    for name in ("report.html", "summary.csv", "record.json"):
        assert (artifacts / name).read_bytes() == (folder / "results" / "one" / name).read_bytes()


def in_trackio(folder):
    """What lies in Trackio's store, one file of SQLite a project."""
    with closing(sqlite3.connect(folder / "trackio" / "one.db")) as store:
        ((name, parameters),) = store.execute("SELECT run_name, config FROM configs").fetchall()
        ((means,),) = store.execute("SELECT metrics FROM metrics WHERE run_name = 'base'").fetchall()
    assert name == "base"
    parameters, means = json.loads(parameters), json.loads(means)
    assert (parameters["chunk.chunk_size"], parameters["retrieve.kind"]) == (40, "bm25")
    assert means["ndcg_exp@10"] == 1.0
