"""Run many benchmarks at once on one cache and one folder of results; none may fail or damage another's.

    .venv/bin/python tools/concurrent_sessions.py --sessions 200 --at-once 36

Every session is a process of its own that runs `harness bench`. Their names begin with the same letters
(`run`, `run-big`), so that one mistaken for another would show, and several have the same name. Some are
killed at a random moment. At the end every result must be whole and equal to that of a session which was
alone with a cache of its own, and nothing half written may be left. Exit code 1 if anything is not so.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.report import outcome_of

NAMES = ("run", "run-big", "run-big-2", "r")
_WORDS = "harbour engine yard vehicle seal pump crane ship paper council plant pension asphalt cold summer"
_DOCUMENTS, _QUERIES = 6, 8
# Files of timings.
_TIMED = ("record.json", "report.html")


@dataclass(slots=True)
class Outcome:
    """The outcome of the sessions; ``problems`` is empty if all is well."""

    ended: int = 0
    killed: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Run the sessions and print the outcome."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=200, metavar="N", help="default 200")
    parser.add_argument("--at-once", type=int, default=36, metavar="N", help="default 36")
    parser.add_argument(
        "--killed", type=float, default=0.1, metavar="SHARE", help="of the sessions; default 0.1"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the kills and of the order; default 1"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_sessions(Path(folder), args.sessions, args.at_once, args.killed, args.seed)
    for problem in outcome.problems:
        log(problem)
    ended = f"{outcome.ended} ended, {outcome.killed} killed, {len(outcome.problems)} problems"
    log(f"{args.sessions} sessions, {args.at_once} at once: {ended}")
    return 1 if outcome.problems else 0


def log(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def run_sessions(root: Path, sessions: int, at_once: int, killed: float, seed: int) -> Outcome:
    """Run ``sessions`` benchmarks below ``root``; ``killed`` is the share of them that is killed."""
    rnd = random.Random(seed)
    write_corpus(root)
    preload()
    expected = {}
    for name in NAMES:
        alone = root / "alone" / name
        pid = start(root, name, alone)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            return Outcome(problems=[f"{name} fails alone: {log_of(alone, pid)}"])
        expected[name] = contents(alone / "results" / name)
    outcome = Outcome()
    shared = root / "shared"
    queue = [NAMES[i % len(NAMES)] for i in range(sessions)]
    rnd.shuffle(queue)
    running: dict[int, tuple[str, float]] = {}
    while queue or running:
        while queue and len(running) < at_once:
            name = queue.pop()
            # a lone session takes some seconds, one of many a minute
            dies = time.monotonic() + rnd.uniform(0, 60) if rnd.random() < killed else float("inf")
            running[start(root, name, shared)] = (name, dies)
        reap(running, shared, outcome)
        time.sleep(0.02)
    # cleans up after the killed ones
    last = start(root, NAMES[0], shared)
    if os.waitstatus_to_exitcode(os.waitpid(last, 0)[1]):
        outcome.problems.append(f"the last session fails: {log_of(shared, last)}")
    check(shared / "results", expected, outcome)
    return outcome


def reap(running: dict[int, tuple[str, float]], shared: Path, outcome: Outcome) -> None:
    """Note the sessions that have ended, and kill those that are due."""
    for pid, (name, dies) in list(running.items()):
        if time.monotonic() > dies:
            os.kill(pid, signal.SIGKILL)
            running[pid] = (name, float("inf"))
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            continue
        del running[pid]
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:
            outcome.killed += 1
        elif code:
            outcome.problems.append(f"{name} ends with {code}: {log_of(shared, pid)}")
        else:
            outcome.ended += 1


def check(results: Path, expected: dict[str, dict[str, bytes]], outcome: Outcome) -> None:
    """Compare the remaining results with those of sessions that ran alone."""
    there = sorted(path.name for path in results.iterdir())
    if there != sorted(expected):
        outcome.problems.append(f"in the folder of results there is {', '.join(there)}")
    for name in sorted(set(expected) & set(there)):
        found = contents(results / name)
        differ = sorted(
            path
            for path in found.keys() | expected[name].keys()
            if found.get(path) != expected[name].get(path)
        )
        if differ:
            outcome.problems.append(f"{name}: missing or different: {', '.join(differ)}")


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a result, its own place in commands left out; of files with timings only their names."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    place = str(folder).encode()
    return {
        name: b"" if name in _TIMED else outcome_of(path).replace(place, b"RESULTS")
        for name, path in files.items()
    }


def start(root: Path, name: str, own: Path) -> int:
    """Begin a session in a process of its own, with cache and results below ``own``; returns its id."""
    own.mkdir(parents=True, exist_ok=True)
    config = own / f"{name}.yaml"
    if not config.exists():
        write_config(config, root, name, own)
    pid = os.fork()
    if pid:
        return pid
    _end_with(lambda: _session(config, own))
    raise AssertionError


def _session(config: Path, own: Path) -> int:
    from harness.cli import main as harness

    log = os.open(own / f"log-{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        harness(["bench", str(config), "--quiet"])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def _end_with(work: Callable[[], int]) -> None:
    """End this process with the code of ``work``, skipping the clean-up of the parent."""
    import traceback

    code = 70
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def log_of(own: Path, pid: int) -> str:
    """The last lines that a session has printed."""
    path = own / f"log-{pid}"
    return path.read_text(errors="replace")[-2000:] if path.exists() else "nothing was printed"


def preload() -> None:
    """Import the slow libraries once, for all forked sessions."""
    os.environ.update(TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1", ANONYMIZED_TELEMETRY="False")
    import chromadb  # noqa: F401
    import sentence_transformers  # noqa: F401
    import torch

    torch.set_num_threads(1)


def write_corpus(root: Path) -> None:
    """Documents, queries and labels made of a few words."""
    rnd = random.Random(7)
    (root / "documents").mkdir(parents=True)
    labels = ["query_id,document,quote,grade"]
    for i in range(_DOCUMENTS):
        sentences = [" ".join(rnd.sample(_WORDS.split(), 9)) + f" {i} {j}." for j in range(12)]
        (root / "documents" / f"d{i}.txt").write_text("\n\n".join(sentences), encoding="utf-8")
        labels += [f"q{q},d{i},{rnd.choice(sentences)},{rnd.randrange(1, 5)}" for q in range(_QUERIES)]
    queries = [f"q{q},where is the {rnd.choice(_WORDS.split())} {q}?" for q in range(_QUERIES)]
    (root / "queries.csv").write_text("\n".join(["query_id,text", *queries]) + "\n", encoding="utf-8")
    (root / "labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")


def write_config(path: Path, root: Path, name: str, own: Path) -> None:
    """A sweep of its own for every name; chunks, models and index are shared between some of them."""
    size = 90 + 30 * (NAMES.index(name) // 2)
    path.write_text(
        f"name: {name}\n"
        f"documents: {root}/documents/*.txt\n"
        f"queries: {root}/queries.csv\n"
        f"labels: {root}/labels.csv\n"
        f"cache: {own}/cache\n"
        f"results: {own}/results\n"
        f"chunk: {{kind: recursive, chunk_size: [{size}, {size + 60}]}}\n"
        'retrieve: {kind: chroma, model: "embedded:all-MiniLM-L6-v2", batch_tokens: 256, '
        f"top_k: {10 + NAMES.index(name) % 2}}}\n"
        "rerank: {kind: late_interaction, top_n: 5}\n"
        "bootstrap: {resamples: 200}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
