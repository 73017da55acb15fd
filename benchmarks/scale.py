"""Time and memory of each stage of a benchmark by the number of chunks, on made-up text and vectors.

python -m benchmarks.scale [--chunks 1000 10000 100000] [--queries 10000] [--folder DIR] [--stages bm25 …]
python -m benchmarks.scale … --write benchmarks/scale.json    # keep the constants, beside those it has
python -m benchmarks.scale --table                            # the tables of docs/scale.md, from them

Documents of random words, whose frequencies follow Zipf's law, are cut into chunks of about 300 characters.
Each query takes six words of a passage, which is its label. Vectors are random numbers that a text decides
(384 dimensions), so nothing is computed by a model. There are three settings: BM25, exact dense search, and
their fusion by reciprocal ranks. Each stage runs in a process of its own, which finds what earlier stages
have made in the cache; `run` is `harness bench` over all of it, with scores, tables and page. `chroma` and
`faiss` (HNSW) build and search an index of the same vectors, once, as in a deployment. `real` reads and
embeds a shipped collection instead: what a parser and a model take for a chunk of this size.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
CHUNK_SIZE, CHUNKS_A_DOCUMENT = 300, 100
WORDS, ZIPF = 100_000, 1.05
DIMENSIONS, TOP_K = 384, 20
MODEL = "embedded:all-MiniLM-L6-v2"
STAGES = ("chunk", "vectors", "bm25", "exact", "fusion", "run", "chroma", "faiss", "real")
# a setting of a configuration: what the stage searches by
SEARCHED = {"bm25": 0, "vectors": 1, "exact": 1, "fusion": 2, "chroma": 3, "faiss": 4}
REAL = ROOT / "corpora" / "meridian"


def words_of(rng: np.random.Generator) -> list[str]:
    """Words by falling frequency; the frequent ones are short, as in languages."""
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    sizes = np.clip(2 + np.log10(np.arange(1, WORDS + 1)) * 1.6 + rng.normal(0, 1, WORDS), 2, 14)
    drawn = rng.integers(0, len(letters), size=(WORDS, 14))
    return ["".join(letters[row[: int(size)]]) for row, size in zip(drawn, sizes, strict=True)]


def make_corpus(folder: Path, chunks: int, queries: int) -> None:
    """Write documents, queries and labels, and the configuration of the three settings."""
    rng = np.random.default_rng(chunks)
    words = words_of(rng)
    total = np.cumsum(1 / np.arange(1, WORDS + 1) ** ZIPF)
    documents = max(1, chunks // CHUNKS_A_DOCUMENT)
    size = CHUNK_SIZE * 1.05 * chunks / documents
    asked = np.sort(rng.integers(0, documents, size=queries))
    (folder / "documents").mkdir(parents=True)
    rows: list[tuple[str, str]] = []
    labels: list[tuple[str, str, int, int, int]] = []
    for document in range(documents):
        name = f"d{document:06}.txt"
        drawn = np.searchsorted(total, rng.random(int(size / 5)) * total[-1])
        text = ""
        sentences = []
        for begin in range(0, len(drawn), 14):
            own = [words[word] for word in drawn[begin : begin + 14]]
            sentences.append((len(text), own))
            text += " ".join(own).capitalize() + ". "
            if len(text) > size:
                break
        (folder / "documents" / name).write_text(text, encoding="utf-8")
        for _ in range(int((asked == document).sum())):
            start, own = sentences[int(rng.integers(len(sentences)))]
            query = f"q{len(rows):06}"
            rows.append((query, " ".join(rng.choice(own, size=6, replace=len(own) < 6))))
            labels.append((query, name, 2, start, start + len(" ".join(own)) + 1))
    write_table(folder / "queries.csv", ("query_id", "text"), rows)
    write_table(folder / "labels.csv", ("query_id", "document", "grade", "start", "end"), labels)
    words_only = {"kind": "bm25", "top_k": TOP_K}
    dense = {"kind": "exact", "model": MODEL, "top_k": TOP_K}
    settings = [
        {"retrieve": words_only},
        {"retrieve": dense},
        {"retrieve": {"kind": "rrf", "top_k": TOP_K, "routes": [words_only, dense]}},
    ]
    stores = [
        {"retrieve": {**dense, "kind": "chroma", "exact": False}},
        {"retrieve": {**dense, "kind": "faiss"}},
    ]
    config = {
        "name": "scale",
        "documents": str(folder / "documents" / "*.txt"),
        "queries": str(folder / "queries.csv"),
        "labels": str(folder / "labels.csv"),
        "chunk": {"kind": "recursive", "chunk_size": CHUNK_SIZE, "chunk_overlap": 0},
        "settings": settings,
        "cache": str(folder / "cache"),
        "results": str(folder / "results"),
    }
    (folder / "scale.yaml").write_text(json.dumps(config), encoding="utf-8")
    stored = {**config, "settings": [*settings, *stores]}
    (folder / "stores.yaml").write_text(json.dumps(stored), encoding="utf-8")


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """One CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def give_vectors() -> None:
    """Let the bi-encoder give random vectors that the text alone decides."""
    from harness.models.encoder import SentenceEncoder

    def encode(_: SentenceEncoder, texts: Sequence[str]) -> np.ndarray:
        seeds = [zlib.crc32(text.encode("utf-8")) for text in texts]
        rows = [np.random.Generator(np.random.SFC64(seed)).random(DIMENSIONS, np.float32) for seed in seeds]
        return np.stack(rows) - np.float32(0.5)

    SentenceEncoder.encode = encode  # type: ignore[method-assign]
    SentenceEncoder.try_out = lambda _: None  # type: ignore[method-assign]


def run_stage(folder: Path, stage: str) -> None:
    """Run one stage and print what it took as JSON."""
    from harness.running.bench.job import run_or_reuse
    from harness.running.bench.preparing import prepare
    from harness.running.config.load import load_config
    from harness.running.meeting import Running
    from harness.running.search import run_step, search_settings
    from harness.running.session import Session
    from harness.steps import Texts
    from harness.values import Silent, Together, ask

    give_vectors()
    config = load_config(folder / ("stores.yaml" if stage in ("chroma", "faiss") else "scale.yaml"))
    begun, used, chunks = time.perf_counter(), time.process_time(), 0
    if stage == "run":
        run_or_reuse(config, Silent(), again=True)
    else:
        with Session.at(config.cache, Silent()) as session:
            corpora, points = prepare(config, session)
            queries = corpora.united.queries.queries
            if stage != "chunk":
                begun, used = time.perf_counter(), time.process_time()
                point = points[SEARCHED[stage]]
                if stage == "vectors":
                    encoder, passages = point.setting.retrieve.embed, point.chunking.passages
                    texts = (passages.texts, "passages"), ([query.text for query in queries], "queries")
                    needs = [Texts(encoder, own, whose, "rows") for own, whose in texts]
                    run_step(ask(Together(needs)), Running(session))
                else:
                    search_settings([point], queries, session)
            chunks = len(points[0].chunking.chunks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([time.perf_counter() - begun, time.process_time() - used, peak, chunks]))


def run_real(folder: Path) -> None:
    """Read and embed a shipped PDF with an empty cache; print the CPU seconds of a chunk as JSON."""
    from benchmarks.cold_speed import watched

    clock = watched()
    import harness

    config = {
        **json.loads((folder / "scale.yaml").read_text(encoding="utf-8")),
        "documents": str(REAL / "documents" / "*"),
        "queries": str(REAL / "queries.csv"),
        "labels": str(REAL / "labels.csv"),
        "settings": [{"retrieve": {"kind": "exact", "model": MODEL, "top_k": TOP_K}}],
    }
    with tempfile.TemporaryDirectory() as fresh:
        done = harness.run({**config, "cache": f"{fresh}/cache", "results": f"{fresh}/results"}, again=True)
        (noted,) = done.record["counts"]["settings"].values()
    clock.end()
    took = {
        "parse": clock.taken["parser"],
        "embed": clock.taken["forward passes"] + clock.taken["tokenising"],
    }
    print(json.dumps({part: round(seconds / noted["chunks"], 5) for part, seconds in took.items()}))


def in_process(folder: Path, stage: str) -> Any:
    """What a stage prints, run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--stage", stage, "--folder", str(folder)]
    # threads that wait for each other beside other work would count as CPU seconds
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"{stage} in {folder} ended with {done.returncode}")
    return json.loads(done.stdout)


def disk(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured(folder: Path, chunks: int, queries: int, stages: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each stage, on a corpus that is made where there is none; ``disk`` is what the cache grew."""
    if not (folder / "scale.yaml").exists():
        make_corpus(folder, chunks, queries)
    for stage in stages:
        before = disk(folder / "cache")
        seconds, cpu, peak, found = in_process(folder, stage)
        grown = (disk(folder / "cache") - before) / 2**20
        yield {
            "stage": stage,
            "asked": chunks,
            "chunks": found,
            "seconds": round(seconds, 2),
            "cpu": round(cpu, 2),
            "peak": round(peak),
            "disk": round(grown, 2),
        }


def kept(path: Path, queries: int, rows: Sequence[dict[str, Any]], real: dict[str, float] | None) -> None:
    """Write the constants, in place of those of the same stages and corpora."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": [], "real": {}}
    found = {(row["stage"], row["asked"]): row for row in [*old["rows"], *rows]}
    ordered = sorted(found.values(), key=lambda row: (STAGES.index(row["stage"]), row["asked"]))
    sizes = {row["asked"]: row["chunks"] for row in ordered if row["chunks"]}
    ordered = [{**row, "chunks": row["chunks"] or sizes.get(row["asked"], 0)} for row in ordered]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}"
    constants = {"machine": machine, "queries": queries, "real": real or old["real"]}
    lines = ",\n  ".join(json.dumps(row) for row in ordered)
    text = json.dumps(constants, indent=1).removesuffix("\n}") + f',\n "rows": [\n  {lines}\n ]\n}}\n'
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, and print a row per stage; or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="keep corpora and caches here, and use those it has")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--write", type=Path, help="keep what was measured in this file of constants")
    parser.add_argument("--table", action="store_true", help="measure nothing; print the tables")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.table:
        from benchmarks.scale_table import tables

        print("\n\n".join(tables().values()))
    elif args.stage == "real":
        run_real(args.folder)
    elif args.stage:
        run_stage(args.folder, args.stage)
    else:
        measure(args)


def measure(args: argparse.Namespace) -> None:
    """Run all stages over all sizes, the constants written after each."""
    stages = [stage for stage in args.stages if stage != "real"]
    with tempfile.TemporaryDirectory() as temporary:
        print("| stage | chunks | seconds | CPU seconds | peak MB | disk MB |\n|---|--:|--:|--:|--:|--:|")
        for chunks in args.chunks:
            folder = (args.folder or Path(temporary)) / f"{chunks}-{args.queries}"
            for row in measured(folder, chunks, args.queries, stages):
                cells = [f"{row[name]:,.1f}" for name in ("seconds", "cpu", "peak", "disk")]
                print(f"| {row['stage']} | {chunks:,} | {' | '.join(cells)} |", flush=True)
                if args.write:
                    kept(args.write, args.queries, [row], None)
        if "real" in args.stages:
            real = in_process(folder, "real")
            print(f"a real chunk: {real['parse']:.4f} CPU seconds to read, {real['embed']:.4f} to embed")
            if args.write:
                kept(args.write, args.queries, [], real)


if __name__ == "__main__":
    main()
