"""The design card: its folders, its command, its sweep and its CSV reports."""

import csv
import math
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from tests.command import table
from tests.judge.fake_server import Answer, FakeServer, grade
from tests.mission.helpers import FIVE, flow, run_in, values

ROOT = Path(__file__).parent.parent.parent
PASSAGES = {f"d{at}": f"{word} yard holds {at} vehicles" for at, word in enumerate(FIVE, 1)}
GRADES = {"q1": [0, 4, 1, 0, 2], "q2": [3, 0, 0, 4, 0]}
SPLITS = {"q1": "train", "q2": "validation"}


def test_card_1_top_level_folders_and_a_makefile():
    """card-1: top-level folders and Makefile."""

    for name in ("harness", "corpora", "configs", "results", "tests"):
        assert (ROOT / name).is_dir()
    assert (ROOT / "pyproject.toml").is_file()
    shown = subprocess.run(
        ["make", "-n", "bench", "CONFIG=configs/mine.yaml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"harness bench configs/mine\.yaml", shown.stdout)


def swept(folder):
    """A sweep of chunks, with and without a reranker, on people's labels."""
    scores = {text: {word: at for at, word in enumerate(FIVE)} for text in ("vehicles", "yard")}
    reranker = {"kind": "python", "call": "tests.mission.steps:by_table", "version": "1"}
    queries = [
        {"query_id": query, "text": text, "split": SPLITS[query]}
        for query, text in zip(GRADES, ("vehicles", "yard"), strict=True)
    ]
    labels = [
        (query, name, grade)
        for query, grades in GRADES.items()
        for name, grade in zip(PASSAGES, grades, strict=True)
    ]
    return run_in(
        folder,
        PASSAGES,
        queries,
        labels,
        chunk="{kind: recursive, chunk_size: [1000, 2000]}",
        rerank=flow([None, {**reranker, "arguments": {"table": scores}}]),
        measures="[ndcg_exp@5]",
    )


def test_card_2_a_sweep_of_chunks_by_a_reranker_writes_csv_reports(tmp_path):
    """card-2: make bench on a 10-K: chunk sweep × cross-encoder × labels × CSV reports."""

    results = swept(tmp_path)
    ranked = {}
    for row in table(results / "rankings.csv"):
        ranked.setdefault((row["setting"], row["stage"], row["query_id"]), []).append(row["document"])
    settings = {setting for setting, *_ in ranked}
    assert len(settings) == 4
    # the reranker puts last what was first
    stages = Counter(stage for _, stage, _ in ranked)
    assert stages == {"retrieve": 8, "rerank": 4}
    for (_, stage, _), documents in ranked.items():
        assert documents == (list(PASSAGES) if stage == "retrieve" else list(PASSAGES)[::-1])
    means = {(row["setting"], row["stage"]) for row in table(results / "summary.csv")}
    assert means == {(setting, stage) for setting, stage, _ in ranked}
    assert (results / "per_query.csv").is_file()


def test_card_3_ndcg_of_each_query_follows_from_the_csv_files(tmp_path):
    """card-3: NDCG@k per query from the CSV files by one's own formula."""

    results = swept(tmp_path)
    with (results / "rankings.csv").open(encoding="utf-8-sig", newline="") as file:
        ranked = list(csv.DictReader(file))
    checked = 0
    for row in table(results / "per_query.csv"):
        hits = [
            hit
            for hit in ranked
            if all(hit[key] == row[key] for key in ("setting", "stage", "query_id")) and int(hit["rank"]) <= 5
        ]
        judged = dict(zip(PASSAGES, GRADES[row["query_id"]], strict=True))
        assert all(int(hit["grade"]) == judged[hit["document"]] for hit in hits)
        dcg = sum((2 ** int(hit["grade"]) - 1) / math.log2(int(hit["rank"]) + 1) for hit in hits)
        best = sorted(GRADES[row["query_id"]], reverse=True)
        ideal = sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
        assert math.isclose(float(row["value"]), dcg / ideal, abs_tol=1e-9)
        checked += 1
    # two queries under two chunkings, as retrieved and, where there is a reranker, reranked
    assert checked == 2 * 2 * 3


def served(request, number):
    """A grade for a prompt; for texts vectors that all differ."""
    if request["path"] == "/v1/chat/completions":
        return grade(3)
    texts = request["body"]["input"]
    rows = [
        {"index": at, "embedding": [1.0, len(text), sum(map(ord, text))]} for at, text in enumerate(texts)
    ]
    return Answer(body={"data": rows, "model": "fake-1", "usage": {"prompt_tokens": 9, "total_tokens": 9}})


def test_card_4_the_package_openai_is_the_client_of_judge_and_embeddings(tmp_path, monkeypatch):
    """card-4: package openai is the client of the judge."""

    def bench(url, depth):
        endpoint = {"model": "fake-1", "base_url": url, "api_key_env": None}
        judge = {"judge": "llm", "endpoint": endpoint, "pool": {"unit": "chunk", "depth": depth}}
        return run_in(
            tmp_path,
            PASSAGES,
            ["Which yard?"],
            retrieve=flow({"kind": "exact", "endpoint": endpoint, "top_k": depth}),
            relevance=flow(judge),
            measures="[ndcg_exp@3]",
        )

    with FakeServer(served) as server:
        first = values(bench(server.url, 5), "ndcg_exp@3", "retrieve")
        assert first == {"q1": 1.0}
    agents = {(request["path"], request["headers"]["user-agent"]) for request in server.requests}
    client = f"AsyncOpenAI/Python {version('openai')}"
    assert agents == {("/v1/chat/completions", client), ("/v1/embeddings", client)}
    # what is in the ledger and in the store of vectors needs neither the endpoint nor the package
    monkeypatch.setitem(sys.modules, "openai", None)
    assert values(bench("http://127.0.0.1:9/v1", 4), "ndcg_exp@3", "retrieve") == first


def test_ndcg_7_train_and_validation_have_averages_of_their_own(tmp_path):
    """ndcg-7: train and validation averages."""

    results = swept(tmp_path)
    each = values(results, "ndcg_exp@5", "retrieve")
    means = {
        row["split"]: float(row["mean"])
        for row in table(results / "summary.csv")
        if row["measure"] == "ndcg_exp@5" and row["stage"] == "retrieve"
    }
    assert math.isclose(means["train"], each["q1"], abs_tol=1e-9)
    assert math.isclose(means["validation"], each["q2"], abs_tol=1e-9)
    assert math.isclose(means["all"], (each["q1"] + each["q2"]) / 2, abs_tol=1e-9)
