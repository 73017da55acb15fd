"""The jobs: benchmarks and commands that between them touch every part of the pipeline."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import public_data
from tools.guard.model import KEY, URL, serving

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("HARNESS_SHARED", ROOT.parent / "shared"))
ENDPOINT = f"{{model: guard-1, base_url: '{URL}', api_key_env: {KEY}, timeout: 120}}"
PRICES = "{guard-1: {input: 1.0, output: 2.0}}"


class Job:
    """One job in its own folder, in which all paths are relative; ``harness`` runs a command there."""

    def __init__(self, folder: Path, code: Path) -> None:
        self.folder, self.code = folder, code
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("corpora", "configs"):
            (folder / name).symlink_to(ROOT / name)

    def harness(self, *words: str, ends: int = 0) -> None:
        """Run a command, and keep what it prints to stdout; raises RuntimeError for another exit code."""
        more = {"PYTHONPATH": str(self.code), "HF_HUB_OFFLINE": "1", KEY: "none", "COLUMNS": "100"}
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words],
            cwd=self.folder,
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != ends:
            raise RuntimeError(
                f"harness {' '.join(words)} ends with {done.returncode}: {done.stderr[-3000:]}"
            )
        number = len(list(self.folder.glob("printed-*")))
        (self.folder / f"printed-{number:02}-{words[0]}.txt").write_text(done.stdout, encoding="utf-8")

    def bench(self, name: str, text: str) -> None:
        """Benchmark a configuration, show it, compare its settings and run it again unchanged."""
        path = self.folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        self.harness("validate", path.name)
        self.harness("bench", path.name, "--dry-run")
        self.harness("bench", path.name, "--quiet")
        self.harness("show", f"results/{name}")
        self.harness("compare", f"results/{name}", "--format", "markdown")
        self.harness("bench", path.name, "--quiet")


def quickstart(job: Job) -> None:
    """The shipped benchmark, without its timed part."""
    job.bench("quickstart", _shipped("quickstart"))


def lanchuan(job: Job) -> None:
    """Chinese, end to end."""
    job.bench("lanchuan", _shipped("lanchuan"))


def financebench(job: Job) -> None:
    """Real filings by words; needs the public data."""
    public_data.financebench(SHARED / "corpora" / "financebench", job.folder / "data")
    text = _shipped("financebench").replace("corpora/financebench", "data")
    text = re.sub(r"^retrieve:.*$", "retrieve: {kind: bm25, top_chars: 50000}", text, flags=re.MULTILINE)
    job.bench("financebench", re.sub(r"^rerank:.*$", "", text, flags=re.MULTILINE))


def judged(job: Job) -> None:
    """Grades and answers of a language model, from a local server that answers by hash."""
    text = (
        "name: judged\n"
        "documents: corpora/meridian/documents/*\n"
        "queries: corpora/meridian/queries.csv\n"
        "labels: corpora/meridian/judged.csv\n"
        "chunk: {kind: recursive, chunk_size: [500, 1000]}\n"
        "retrieve: {kind: bm25, top_k: 10}\n"
        f"answer: {{kind: llm, endpoint: {ENDPOINT}, prices: {PRICES}, top_n: 3}}\n"
        "answer_measures: [token_f1, citation_precision, citation_recall, refusal]\n"
        f"relevance: {{judge: llm, endpoint: {ENDPOINT}, prices: {PRICES}, pool: {{depth: 3}}}}\n"
        "measures: [ndcg_exp@10, ndcg_evidence@5000, recall@10, judged@10]\n"
    )
    job.bench("judged", text)


def answered(job: Job) -> None:
    """Extracted answers, without a model."""
    text = _shipped("answers").replace('{kind: exact, model: "embedded:all-MiniLM-L6-v2", top_k: 30}', "")
    text = re.sub(r"^  - \n", "", text, flags=re.MULTILINE)
    job.bench("answers", re.sub(r"^rerank:.*$", "", text, flags=re.MULTILINE))


def scored(job: Job) -> None:
    """TREC runs under every convention; the runs and qrels are those of the quickstart's smallest kin."""
    job.bench("words", _words("words"))
    run, qrels = "results/words/runs", "results/words/qrels"
    runs = sorted((job.folder / run).glob("*"))
    found = sorted((job.folder / qrels).glob("*.trec"))
    measures = "ndcg_lin@10,ndcg_exp@10,ap,rr,precision@10,recall@100,judged@10,ndcg_lin"
    pair = ("--run", str(runs[0].relative_to(job.folder)), "--qrels", str(found[0].relative_to(job.folder)))
    for convention in ("trec_eval", "trec_eval_c", "harness", "ir_measures", "beir", "ranx"):
        more = ("--convention", convention, "--per-query", "--format", "csv", "--measures", measures)
        job.harness("score", *pair, *more)


def hits(job: Job) -> None:
    """What another pipeline returned: here the passages of a run of our own, by offset."""
    job.bench("words", _words("words"))
    with (job.folder / "results/words/rankings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]["setting"]
    lines = []
    for row in rows:
        if row["setting"] == first:
            document, _, place = row["chunk_id"].rpartition(":")
            start, _, end = place.split("+")[0].partition("-")
            hit = {"query_id": row["query_id"], "rank": int(row["rank"]), "document": document}
            lines.append(json.dumps({**hit, "start": int(start), "end": int(end)}))
    (job.folder / "mine.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    meridian = "corpora/meridian"
    job.harness(
        "score", "--hits", "mine.jsonl", "--queries", f"{meridian}/queries.csv",
        "--labels", f"{meridian}/judged.csv", "--documents", f"{meridian}/documents/*", "--quiet",
    )  # fmt: skip


def testset(job: Job) -> None:
    """A test set without a model up to the sheet, and with one up to the export."""
    (job.folder / "set").mkdir()
    (job.folder / "set" / "testset.yaml").write_text(
        "documents: corpora/meridian/documents/*\nquestions: 20\nchosen: 10\npassages: 8\n"
        f"llm: {{endpoint: {ENDPOINT}, prices: {PRICES}}}\n",
        encoding="utf-8",
    )
    job.harness("testset", "set", "propose", "--from", "corpora/meridian/queries.csv")
    job.harness("testset", "set", "choose", "--auto")
    job.harness("testset", "set", "gather")
    job.harness("testset", "set", "grade")
    job.harness("testset", "set", "export")
    job.harness("testset", "set", "status")


JOBS: dict[str, Callable[[Job], None]] = {
    one.__name__: one for one in (quickstart, lanchuan, financebench, judged, answered, scored, hits, testset)
}


def run_jobs(code: Path, out: Path, cache_of: Path | None, names: tuple[str, ...]) -> int:
    """Run the named jobs by the code in ``code``; returns 1 if one fails."""
    failed = 0
    with serving():
        for name in names:
            folder = out / name
            shutil.rmtree(folder, ignore_errors=True)
            if name == "financebench" and not (SHARED / "corpora" / name).is_dir():
                print(f"{name}: left out, the public data is not here (HARNESS_SHARED)")
                continue
            job = Job(folder, code)
            if cache_of is not None and (cache_of / name / ".cache").is_dir():
                shutil.copytree(cache_of / name / ".cache", folder / ".cache")
            begun = time.monotonic()
            try:
                JOBS[name](job)
            except RuntimeError as error:
                failed += 1
                print(f"{name}: {error}")
            print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if failed else 0


def _shipped(name: str) -> str:
    """A shipped configuration without what is timed."""
    text = (ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8")
    return re.sub(r"^latency:.*\n", "", text, flags=re.MULTILINE)


def _words(name: str) -> str:
    """A benchmark of words alone, which takes seconds."""
    return (
        f"name: {name}\n"
        "documents: corpora/meridian/documents/*\n"
        "queries: corpora/meridian/queries.csv\n"
        "labels: corpora/meridian/judged.csv\n"
        "chunk: {kind: recursive, chunk_size: [500, 1000]}\n"
        "retrieve: {kind: bm25, top_k: 20}\n"
        "measures: [ndcg_exp@10, ndcg_evidence@5000, recall@10, mrr, judged@10]\n"
    )
