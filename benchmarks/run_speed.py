"""The time of a whole run compared with the plain script of a tutorial: equal chunks, models and questions.

python benchmarks/run_speed.py [--questions 30] [--chunkings 6] [--repeats 1] [--pdf FILE] [--int8 1]

Several chunkings of one PDF, a fresh cache for every run, a cross-encoder of the size of
ms-marco-MiniLM-L-6-v2 with random weights, which take as long, the first 20 reranked. Two scripts, one that
parses the file in every setting and one that keeps the text, take turns with the harness, exact and fast; the
fastest of each counts. CPU seconds leave out what other work on the machine takes. What fast has to probe is
part of its time. `--int8 SHARE` adds a run of `fast` with `int8_changes: SHARE`; the scores of random weights
lie so close together that only 1 allows int8 here.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
CHUNKINGS = [(300, 0), (500, 0), (700, 0), (1000, 0), (500, 100), (1000, 200)]
TOP_K = 20
BI_ENCODER = "embedded:all-MiniLM-L6-v2"
MERIDIAN = ROOT / "corpora" / "meridian"
SCRIPTS = {"script that parses in every setting": False, "script that keeps the text": True}
PRECISIONS, INT8 = ("exact", "fast"), "fast-int8"


@dataclass(frozen=True)
class RunCost:
    """The cost of one run."""

    seconds: float
    cpu: float


def save_cross_encoder(folder: Path) -> None:
    """A cross-encoder of the usual size with random weights; its scores mean nothing and cost the same."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification
    from transformers.utils import logging

    from harness.models import resolve

    tokenizer = AutoTokenizer.from_pretrained(resolve(BI_ENCODER).folder, model_max_length=512)
    logging.disable_progress_bar()
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=1,
        initializer_range=0.1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def write_config(folder: Path, job: dict[str, Any], name: str, int8: float) -> Path:
    """The same work as a configuration of the harness, with a fresh cache of its own."""
    cache = folder / f"cache-{name}"
    shutil.rmtree(cache, ignore_errors=True)
    config = {
        "name": name,
        "precision": "exact" if name == "exact" else "fast",
        "int8_changes": int8 if name == INT8 else 0,
        "documents": job["document"],
        "queries": str(folder / "queries.csv"),
        "labels": str(folder / "labels.csv"),
        "chunk": [{"kind": "recursive", "chunk_size": s, "chunk_overlap": o} for s, o in job["chunkings"]],
        "retrieve": {"kind": "chroma", "model": BI_ENCODER, "top_k": TOP_K},
        "rerank": {"kind": "cross_encoder", "model": job["cross_encoder"], "top_n": TOP_K},
        "cache": str(cache),
        "results": str(folder / "results"),
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def run(command: list[str]) -> RunCost:
    """Elapsed and CPU seconds of a process with its children."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return RunCost(time.perf_counter() - begun, cpu)


def our_rankings(results: Path, name: str, text: str) -> list[list[str]]:
    """The ranked texts of every setting and question, in the order of the plain script."""
    import harness

    rows = harness.read_results(results / name).table("rankings")
    rows = rows[rows["stage"] == "rerank"]
    ranked: dict[tuple[str, str], list[str]] = {}
    for setting, query, chunk_id in zip(rows["setting"], rows["query_id"], rows["chunk_id"], strict=True):
        start, end = chunk_id.rsplit(":", 1)[1].split("-")
        ranked.setdefault((setting, query), []).append(text[int(start) : int(end)])
    return list(ranked.values())


def equal_share(ours: list[list[str]], plain: list[list[str]], depth: int = 10) -> float:
    """The share of rankings whose first ten texts are the same, white space aside."""
    heads = [[[" ".join(t.split()) for t in r[:depth]] for r in side] for side in (ours, plain)]
    return sum(a == b for a, b in zip(*heads, strict=True)) / len(plain)


def write_job(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """The job, with its questions and labels in files."""
    from harness.models import resolve

    with (MERIDIAN / "queries.csv").open(encoding="utf-8", newline="") as file:
        questions = [row["text"] for row in csv.DictReader(file)][: args.questions]
    with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("query_id", "text"), *((f"q{i:03}", q) for i, q in enumerate(questions))]
        )
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(f"q{i:03}", args.pdf.name, 1, 100 * i, 100 * i + 50) for i in range(len(questions))]
        csv.writer(file).writerows([("query_id", "document", "grade", "start", "end"), *rows])
    save_cross_encoder(folder / "cross_encoder")
    return {
        "document": str(args.pdf.resolve()),
        "bi_encoder": str(resolve(BI_ENCODER).folder),
        "cross_encoder": str(folder / "cross_encoder"),
        "chunkings": CHUNKINGS[: args.chunkings],
        "questions": questions,
        "top_k": TOP_K,
        "ranked": str(folder / "ranked.json"),
    }


def main() -> None:
    """Measure, and print one row per run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--chunkings", type=int, default=len(CHUNKINGS))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--pdf", type=Path, default=MERIDIAN / "documents" / "meridian-10k-2025.pdf")
    parser.add_argument("--int8", type=float, default=0.0, metavar="SHARE")
    args = parser.parse_args()
    runs = (*PRECISIONS, *((INT8,) if args.int8 else ()))
    from benchmarks.plain_script import read

    text = read(str(args.pdf))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        job = write_job(folder, args)
        print(
            f"{args.pdf.name}: {len(text):,} characters, {len(job['chunkings'])} chunkings, "
            f"{len(job['questions'])} questions, the first {TOP_K} reranked; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before, fastest of {args.repeats}\n"
        )
        costs: dict[str, list[RunCost]] = {}
        for _ in range(args.repeats):
            for script, keeps_text in SCRIPTS.items():
                path = folder / "job.json"
                path.write_text(json.dumps({**job, "keeps_text": keeps_text}), encoding="utf-8")
                costs.setdefault(script, []).append(run(["-m", "benchmarks.plain_script", str(path)]))
            for name in runs:
                command = ["-m", "harness", "bench", str(write_config(folder, job, name, args.int8))]
                costs.setdefault(f"harness, {name}", []).append(run(command))
        ranked = json.loads((folder / "ranked.json").read_text(encoding="utf-8"))
        same = {
            f"harness, {name}": f"{equal_share(our_rankings(folder / 'results', name, text), ranked):.0%}"
            for name in runs
        }
        print_costs({name: fastest(found) for name, found in costs.items()}, same)


def fastest(found: list[RunCost]) -> RunCost:
    """The least time and the least CPU time of several runs."""
    return RunCost(min(one.seconds for one in found), min(one.cpu for one in found))


def print_costs(costs: dict[str, RunCost], same: dict[str, str]) -> None:
    """A row per run; how many times as long each script takes, in elapsed and in CPU seconds."""
    print("| run | seconds | CPU seconds | the first script takes | the second takes | same first ten |")
    print("|---|--:|--:|--:|--:|--:|")
    scripts = [costs[name] for name in SCRIPTS]
    for name, cost in costs.items():
        ratios = [f"{one.seconds / cost.seconds:.1f} × ({one.cpu / cost.cpu:.1f} × CPU)" for one in scripts]
        print(
            f"| {name} | {cost.seconds:.0f} | {cost.cpu:.0f} | {' | '.join(ratios)} | {same.get(name, '')} |"
        )


if __name__ == "__main__":
    main()
