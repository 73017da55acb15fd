"""A run of ten million lines is read and scored, and a bad line at its end is named, within memory."""

import math
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

QUERIES, DEPTH = 100_000, 100
PEAK_GB = 2.0


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Query i ranks document d0 first, d1 next and so on; the one relevant is d(i mod 100)."""
    folder = tmp_path_factory.mktemp("large")
    lines = "".join(f"@ Q0 d{rank} {rank + 1} {DEPTH - rank} t\n" for rank in range(DEPTH))
    with (folder / "run.txt").open("w") as file:
        for query in range(QUERIES):
            file.write(lines.replace("@", f"q{query}"))
    with (folder / "qrels.txt").open("w") as file:
        file.writelines(f"q{query} 0 d{query % DEPTH} 1\n" for query in range(QUERIES))
    yield folder
    (folder / "run.txt").unlink()


# Starts a command, writes its peak memory in bytes into the file named first and passes on its exit code. It
# sits between because Linux carries a peak over exec: a child of pytest would have at least pytest's own.
LAUNCHER = """
import os, subprocess, sys

process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
with open(sys.argv[1], "w") as file:
    print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), file=file)
sys.exit(process.returncode)
"""


def launched(folder, *command):
    """(finished process, peak memory in GB) of a command, whatever the memory of this process."""
    launcher = [sys.executable, "-c", LAUNCHER, str(folder / "peak"), *command]
    done = subprocess.run(launcher, capture_output=True, text=True, check=False)
    return done, int((folder / "peak").read_text()) / 1e9


def scored(folder):
    """(finished process, peak memory in GB) of the scoring of the files."""
    command = [sys.executable, "-m", "harness", "score", "--measures", "ndcg_lin@10", "--format", "csv"]
    command += ["--run", str(folder / "run.txt"), "--qrels", str(folder / "qrels.txt")]
    return launched(folder, *command)


def test_ten_million_lines(files):
    done, peak = scored(files)
    assert done.returncode == 0, done.stderr
    # of a hundred queries ten have their document among the first ten: at ranks 1 to 10
    mean = sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / DEPTH
    assert float(done.stdout.split(",")[-1]) == pytest.approx(mean, abs=1e-12)
    assert peak < PEAK_GB


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 d100 101 high t", "line 10000001: the score must be a number, not 'high'"),
        ("q1 Q0 d7 101 0 t", "row 10000001: document d7 is ranked twice for query q1"),
    ],
)
def test_the_line_after_ten_million_is_named(files, line, message):
    end = (files / "run.txt").stat().st_size
    with (files / "run.txt").open("a") as file:
        file.write(line + "\n")
    try:
        done, peak = scored(files)
    finally:
        os.truncate(files / "run.txt", end)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert peak < PEAK_GB
