"""Three chunk sizes by keyword search, compared by this harness and by chunklab: seconds and memory of each.

python -m benchmarks.chunklab_sizes --peer ENVIRONMENT/bin/python

The other Python has chunklab 0.5 (`pip install chunklab` in an environment of its own). Both read the same
text files, 14 documents of the included collection as this harness extracts them, and the same queries with
their graded passages; both cut recursively at 128, 256 and 512 tokens of cl100k_base without overlap, search
by BM25 for ten chunks, and write their tables and page: this harness by one command, chunklab by one for each
size, as it refuses several sizes in a run. It is given its `fake` embedding, so that it loads no model; BM25
uses none. The cache of each is empty. CPU seconds are those of the commands with their subprocesses, memory
is the peak of the largest; the fastest of so many repeats. Both need the vocabulary of tiktoken, which is
downloaded once, or in TIKTOKEN_CACHE_DIR.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.running.config.load import load_config
from harness.running.corpora import load_corpus
from harness.running.session import Session
from harness.values import Silent, available_cpus, processor_name

ROOT = Path(__file__).parent.parent
SIZES, DEPTH = [128, 256, 512], 10
PEER = "from chunklab.cli import app; app()"


@dataclass(frozen=True)
class Run:
    """One command: seconds elapsed, CPU seconds, and peak memory in millions of bytes."""

    elapsed: float
    cpu: float
    megabytes: float


def write_inputs(folder: Path, queries: int) -> None:
    """The files of both tools, of the first so many queries."""
    os.chdir(ROOT)
    config = load_config(Path("configs/quickstart.yaml"))
    corpus = load_corpus(config, Session.at(folder / "extracted", Silent()).document_reader)
    labelled = {label.query_id for label in corpus.labels if label.grade}
    answerable = [query for query in corpus.queries.queries if query.query_id in labelled][:queries]
    questions = {query.query_id: query.text for query in answerable}
    (folder / "texts").mkdir()
    for document in corpus.documents:
        (folder / "texts" / f"{document.doc_id}.txt").write_text(document.text, encoding="utf-8", newline="")
    texts = {document.doc_id: document.text for document in corpus.documents}
    passages = defaultdict(list)
    for label in corpus.labels:
        if label.grade and label.query_id in questions:
            passages[label.query_id].append(label)
    with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("query_id", "text"), *questions.items()])
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(("query_id", "document", "start", "end", "grade"))
        for labels in passages.values():
            out.writerows(
                (label.query_id, label.doc_id, label.start, label.end, label.grade) for label in labels
            )
    snippets = {
        query: [texts[row.doc_id][row.start : row.end] for row in passages[query]] for query in questions
    }
    save(
        folder / "questions.yaml",
        {
            "questions": [
                {"id": q, "query": text, "gold_snippets": snippets[q]} for q, text in questions.items()
            ]
        },
    )
    retrieval, fake = {"mode": "bm25", "top_k": DEPTH}, {"backend": "fake"}
    for size in SIZES:
        strategy = {"name": "recursive", "params": {"chunk_size": size, "overlap": 0}}
        settings = {"embedding": fake, "retrieval": retrieval, "strategies": [strategy]}
        save(folder / f"chunklab-{size}.yaml", settings)
    chunk = {"kind": "recursive", "unit": "cl100k_base", "chunk_size": SIZES}
    inputs = {"documents": "texts/*.txt", "queries": "queries.csv", "labels": "labels.csv"}
    bench = {"name": "sizes", **inputs, "chunk": chunk, "retrieve": {"kind": "bm25", "top_k": DEPTH}}
    save(folder / "harness.yaml", bench)


def save(path: Path, value: dict[str, Any]) -> None:
    """Write a value as YAML."""
    path.write_text(yaml.safe_dump(value, allow_unicode=True), encoding="utf-8")


def run(words: list[str], folder: Path, **more: str) -> Run:
    """Run a command in a folder and wait for it; raises RuntimeError where it fails."""
    start = time.perf_counter()
    with (folder / "said").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(words, cwd=folder, env={**os.environ, **more}, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError((folder / "said").read_text(encoding="utf-8"))
    # Linux counts in units of 1,024 bytes
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
    return Run(time.perf_counter() - start, cpu, peak)


def united(runs: list[Run]) -> Run:
    """Several commands, one after another, as one."""
    elapsed, cpu = sum(run.elapsed for run in runs), sum(run.cpu for run in runs)
    return Run(elapsed, cpu, max(run.megabytes for run in runs))


def measure(peer: str, queries: int, repeats: int) -> dict[str, Run]:
    """The fastest run of each tool, by CPU seconds."""
    fastest: dict[str, Run] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, queries)
        for turn in range(repeats):
            places = {"HARNESS_CACHE": str(folder / f"cache-{turn}"), "PYTHONPATH": str(ROOT)}
            bench = [sys.executable, "-m", "harness", "bench", "harness.yaml", "--quiet"]
            options = ("--docs", "texts", "--questions", "questions.yaml", "--skip-validation")
            # it compares chunk sizes in a run each, and says so
            runs = [
                [
                    peer,
                    "-c",
                    PEER,
                    "run",
                    *options,
                    "--config",
                    f"chunklab-{size}.yaml",
                    "--out",
                    f"report-{size}",
                ]
                for size in SIZES
            ]
            totals = {
                "this harness": run(bench, folder, **places),
                "chunklab": united([run(words, folder) for words in runs]),
            }
            for tool, total in totals.items():
                if tool not in fastest or total.cpu < fastest[tool].cpu:
                    fastest[tool] = total
    return fastest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", required=True, help="a Python that has chunklab")
    parser.add_argument("--queries", type=int, default=130, help="so many of the queries")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    load = os.getloadavg()[0]
    rows = measure(args.peer, args.queries, args.repeats)
    print(f"{processor_name()}, {available_cpus()} cores, load {load:.1f} before\n")
    print("| tool | CPU seconds | seconds | peak MB |\n|---|--:|--:|--:|")
    for tool, ran in rows.items():
        print(f"| {tool} | {ran.cpu:.1f} | {ran.elapsed:.1f} | {ran.megabytes:,.0f} |")


if __name__ == "__main__":
    main()
