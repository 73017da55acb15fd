"""The time of a whole run compared with the plain script of a tutorial: equal chunks, models and questions.

python benchmarks/run_speed.py [--questions 30] [--backend openvino torch] [--pdf FILE]

Six chunkings of one document, a fresh cache for every run, a cross-encoder of the size of
ms-marco-MiniLM-L-6-v2 (random weights where the hub cannot be reached: they take as long), the first 20
reranked. The tools take turns; CPU seconds leave out what other work on the machine takes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
CHUNKINGS = [(300, 0), (500, 0), (700, 0), (1000, 0), (500, 100), (1000, 200)]
TOP_K = 20
BI_ENCODER = "embedded:all-MiniLM-L6-v2"
FILINGS = ROOT / "corpora" / "financebench"
MERIDIAN = ROOT / "corpora" / "meridian"


@dataclass(frozen=True)
class RunCost:
    """The cost of one run."""

    seconds: float
    cpu: float


def read_document(pdf: Path | None) -> tuple[str, str, Path]:
    """The text of one filing, or of the shipped manuals; their names; the file of questions."""
    from pypdf import PdfReader

    pdfs = [pdf] if pdf else sorted((FILINGS / "pdfs").glob("3M_2018*.pdf"))
    if not pdfs:
        pdfs = sorted((MERIDIAN / "documents").glob("*.pdf"))
    queries = (FILINGS if (FILINGS / "queries.csv").exists() else MERIDIAN) / "queries.csv"
    texts = ["\n".join(page.extract_text() for page in PdfReader(path).pages) for path in pdfs]
    return "\n\n".join(texts), ", ".join(path.name for path in pdfs), queries


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


def write_config(folder: Path, job: dict[str, object], backend: str) -> Path:
    """The same work as a configuration of the harness, with a cache of its own."""
    computing = {"backend": backend} if backend != "torch" else {}
    config = {
        "name": backend,
        "documents": job["document"],
        "queries": str(folder / "queries.csv"),
        "labels": str(folder / "labels.csv"),
        "chunk": [{"kind": "recursive", "chunk_size": s, "chunk_overlap": o} for s, o in CHUNKINGS],
        "retrieve": {"kind": "chroma", "model": BI_ENCODER, "top_k": TOP_K, **computing},
        "rerank": {
            "kind": "cross_encoder",
            "model": job["cross_encoder"],
            "top_n": TOP_K,
            **computing,
        },
        "cache": str(folder / f"cache-{backend}"),
        "results": str(folder / "results"),
    }
    path = folder / f"{backend}.yaml"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--backend", nargs="+", default=["openvino", "torch"], choices=["openvino", "torch"])
    parser.add_argument("--pdf", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, source, queries = read_document(args.pdf)
        (folder / "document.txt").write_text(text, encoding="utf-8")
        with queries.open(encoding="utf-8", newline="") as file:
            questions = [row["text"] for row in csv.DictReader(file)][: args.questions]
        with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(
                [("query_id", "text"), *((f"q{i:03}", q) for i, q in enumerate(questions))]
            )
        with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
            rows = [(f"q{i:03}", "document.txt", 1, 100 * i, 100 * i + 50) for i in range(len(questions))]
            csv.writer(file).writerows([("query_id", "document", "grade", "start", "end"), *rows])
        save_cross_encoder(folder / "cross_encoder")
        from harness.models import resolve

        job: dict[str, object] = {
            "document": str(folder / "document.txt"),
            "bi_encoder": str(resolve(BI_ENCODER).folder),
            "cross_encoder": str(folder / "cross_encoder"),
            "chunkings": CHUNKINGS,
            "questions": questions,
            "top_k": TOP_K,
            "ranked": str(folder / "ranked.json"),
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        print(
            f"{source}: {len(text):,} characters, {len(CHUNKINGS)} chunkings, {len(questions)} questions, "
            f"the first {TOP_K} reranked; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before\n"
        )
        plain = run(["-m", "benchmarks.plain_script", str(folder / "job.json")])
        ranked = json.loads((folder / "ranked.json").read_text(encoding="utf-8"))
        print(
            "| run | seconds | faster | CPU seconds | less | the same first ten |\n|---|--:|--:|--:|--:|--:|"
        )
        print(f"| plain script | {plain.seconds:.0f} | 1.0 | {plain.cpu:.0f} | 1.0 | |", flush=True)
        for backend in args.backend:
            ours = run(["-m", "harness", "bench", str(write_config(folder, job, backend))])
            same = equal_share(our_rankings(folder / "results", backend, text), ranked)
            print(
                f"| harness, {backend} | {ours.seconds:.0f} | {plain.seconds / ours.seconds:.1f} "
                f"| {ours.cpu:.0f} | {plain.cpu / ours.cpu:.1f} | {same:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
