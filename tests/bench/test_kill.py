"""SIGKILL at any moment, started again: the results are those of an undisturbed run."""

import os
import sqlite3
import time

import pytest

from harness.report import outcome_of
from tests.bench.conftest import DENSE
from tests.warmed import start

pytestmark = pytest.mark.slow


# They tell how long things took.
TIMED = ("record.json", "report.html")


def bench(path, corpus):
    """A benchmark that runs as a process of its own."""
    return start(["-m", "harness", "bench", path, "--quiet"], corpus, os.environ)


def bench_whole(path, corpus):
    done = bench(path, corpus).finish()
    assert done.returncode == 0, done.stderr


def content(corpus):
    folder = corpus / "results" / "tiny"
    files = (p for p in folder.rglob("*") if p.is_file() and p.name not in TIMED)
    return {str(p.relative_to(folder)): outcome_of(p) for p in files}


def from_here(path):
    """The configuration with relative paths: results name their folder, which is another one in each test."""
    path.write_text(path.read_text(encoding="utf-8").replace(f"{path.parent}/", ""), encoding="utf-8")
    return path


def rows_in(folder):
    total = 0
    for path in folder.glob("*.sqlite"):
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0.1) as db:
                total += db.execute("SELECT COUNT(*) FROM item").fetchone()[0]
        except sqlite3.Error:
            continue
    return total


MOMENTS = {
    "documents are parsed": lambda cache, _: any(cache.glob("harness-v2/artifacts/document/*")),
    "a batch is embedded": lambda cache, _: rows_in(cache / "harness-v2" / "vectors") >= 1,
    "half of it is embedded": lambda cache, _: rows_in(cache / "harness-v2" / "vectors") >= 12,
    "a collection is being filled": lambda cache, _: any(
        cache.glob("harness-v2/chroma/.partial-*/collection")
    ),
    "a collection is done": lambda cache, _: any(cache.glob("harness-v2/chroma/*/seal")),
    "pairs are being scored": lambda cache, _: rows_in(cache / "harness-v2" / "scores") >= 1,
    "results are being written": lambda _, results: any(results.glob(".partial-*")),
    "results are there": lambda _, results: (results / "tiny").exists(),
}


@pytest.fixture
def kill_at(corpus, write_config):
    """Run until a moment has come, kill, run to the end; returns what is in the results."""

    def kill_at(reached):
        path = from_here(write_config(cache="cache", retrieve=DENSE % "chroma"))
        run = bench(path, corpus)
        deadline = time.monotonic() + 900
        while not run.ended() and not reached(corpus / "cache", corpus / "results"):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        run.kill()
        run.finish()
        results = corpus / "results" / "tiny"
        assert not results.exists() or (results / "record.json").stat().st_size > 0
        bench_whole(path, corpus)
        return content(corpus)

    return kill_at


@pytest.fixture(scope="module")
def undisturbed():
    """The results of a run that nobody disturbed, made by the first test that asks."""
    return {}


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_started_again(moment, kill_at, undisturbed, corpus, write_config):
    got = kill_at(MOMENTS[moment])
    if not undisturbed:
        path = from_here(write_config(cache="another", retrieve=DENSE % "chroma"))
        bench_whole(path, corpus)
        undisturbed.update(content(corpus))
    assert got.keys() == undisturbed.keys()
    assert [name for name in got if got[name] != undisturbed[name]] == []
