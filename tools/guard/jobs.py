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


_SMALL = (
    "documents: corpora/meridian/documents/*\n"
    "queries: few.csv\n"
    "labels: few_labels.csv\n"
    "measures: [ndcg_exp@10, ndcg_evidence@5000, recall@10, judged@10]\n"
)
_MODEL = '"embedded:all-MiniLM-L6-v2"'


def _few(job: Job) -> None:
    """The first questions of a shipped collection with their labels, and false answers to short ones."""
    queries, labels = (_rows_of(f"corpora/meridian/{name}.csv") for name in ("queries", "labels"))
    for number, row in enumerate(queries[:24]):
        short = row["answer"] and len(row["answer"]) < 30 and not row["answer"].startswith("[")
        row["false_answer"] = f"{number} barrels" if short else ""
    asked = {row["query_id"] for row in queries[:24]}
    few = {"few.csv": queries[:24], "few_labels.csv": [row for row in labels if row["query_id"] in asked]}
    for name, rows in few.items():
        with (job.folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def _rows_of(name: str) -> list[dict[str, str]]:
    with (ROOT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def altered(job: Job) -> None:
    """Answers from passages with noise and with false facts, as the abilities of a model are measured."""
    _few(job)
    text = (
        f"name: altered\n{_SMALL}"
        "chunk: {kind: recursive, chunk_size: 1000}\n"
        "retrieve: {kind: bm25, top_k: 20}\n"
        "read: [{kind: noise, ratio: [0, 0.4, 1.0]}, {kind: counterfactual, column: false_answer}]\n"
        f"answer: {{kind: llm, endpoint: {ENDPOINT}, prices: {PRICES}, prompt: abilities, top_n: 5}}\n"
        "answer_measures: [all_parts, refusal, error_detected]\n"
    )
    job.bench("altered", text)


def cheap_judges(job: Job) -> None:
    """Grades without a language model: by cosine, by a cross-encoder and by a graph of passages."""
    _few(job)
    judges = {
        "cosine": f"{{judge: cosine, model: {_MODEL}, pool: {{depth: 5}}}}",
        "cross_encoder": '{judge: cross_encoder, model: "embedded:maxsim", pool: {depth: 5}}',
        "graph": f"{{judge: graph, model: {_MODEL}, seeds: labels, pool: {{depth: 5}}}}",
    }
    for name, judge in judges.items():
        text = (
            f"name: {name}\n{_SMALL}"
            "chunk: {kind: recursive, chunk_size: [1000, 2000]}\n"
            "retrieve: {kind: bm25, top_k: 20}\n"
            f"relevance: {judge}\n"
        )
        job.bench(name, text)


def fields(job: Job) -> None:
    """Search by the names in texts: a route that has them as its field, and a second match by them."""
    _few(job)
    exact = f"kind: exact, model: {_MODEL}, top_k: 20"
    text = (
        f"name: fields\n{_SMALL}"
        "chunk: {kind: recursive, chunk_size: 1000}\n"
        "settings:\n"
        f"  - retrieve: {{{exact}, field: [null, entities]}}\n"
        f"  - retrieve: {{kind: rrf, top_k: 20, weights: [1, 0.2], routes: [{{{exact}}}, "
        f"{{{exact}, field: entities}}]}}\n"
        "  - retrieve: {kind: bm25, top_k: 20}\n"
        f"    rerank: {{kind: entities, model: {_MODEL}, top_n: 10}}\n"
        f"  - retrieve: {{{exact}, field: {{kind: llm_entities, endpoint: {ENDPOINT}, prices: {PRICES}}}}}\n"
    )
    job.bench("fields", text)


def searched(job: Job) -> None:
    """Every way to change a question, to narrow a search and to rank again, paid ones among them."""
    _few(job)
    llm = f"kind: llm, endpoint: {ENDPOINT}, prices: {PRICES}"
    several, parts = (llm.replace("llm", kind, 1) for kind in ("multi_query", "decomposition"))
    exact = f"kind: exact, model: {_MODEL}, top_k: 20"
    table = "file: configs/meridian_documents.csv, fields: [form], years: [period]"
    text = (
        f"name: searched\n{_SMALL}"
        "chunk: {kind: recursive, chunk_size: 1000}\n"
        "settings:\n"
        f"  - rewrite: [{{kind: statement}}, {{{llm}}}, {{{several}}}]\n"
        f"    retrieve: [{{{exact}}}, {{kind: bm25, top_k: 20}}]\n"
        f"  - retrieve: {{kind: minmax, top_k: 20, routes: [{{{exact}}}, {{kind: bm25, top_k: 20, "
        f"rewrite: {{{parts}}}}}]}}\n"
        "    rerank: [{kind: late_interaction, top_n: 10}, "
        f"[{{kind: late_interaction, top_n: 10}}, {{{llm}, by: listwise, top_n: 5}}]]\n"
        f"  - filter: [{{kind: rules, {table}, boost: [null, 2.0]}}, {{{llm}, {table}}}]\n"
        f"    retrieve: [{{{exact}}}, {{kind: bm25, top_k: 20}}]\n"
        f"  - retrieve: {{kind: bm25, top_k: 20}}\n"
        f"    rerank: [{{{llm}, top_n: 4}}, {{{llm}, by: setwise, top_n: 6, set_size: 3, first: 2}}]\n"
        f"  - retrieve: [{{kind: concatenated, model: {_MODEL}, top_k: 20}}, "
        '{kind: multi_vector, model: "embedded:maxsim", top_k: 20}, '
        f"{{kind: chroma, model: {_MODEL}, top_chars: 9000}}]\n"
        "    read: {kind: window, amount: 1}\n"
    )
    job.bench("searched", text)


def trend(job: Job) -> None:
    """The same benchmark twice with other labels between, in the order of time."""
    _few(job)
    for size in (500, 1000):
        text = f"name: size{size}\n{_SMALL}chunk: {{kind: recursive, chunk_size: {size}}}\n"
        (job.folder / "trend.yaml").write_text(f"{text}retrieve: {{kind: bm25, top_k: 20}}\n")
        job.harness("bench", "trend.yaml", "--quiet")
    job.harness("trend", "results", "--output", "trend.svg")


JOBS: dict[str, Callable[[Job], None]] = {
    job.__name__: job
    for job in (
        *(quickstart, lanchuan, financebench, judged, answered, scored, hits, testset),
        *(altered, cheap_judges, fields, searched, trend),
    )
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
