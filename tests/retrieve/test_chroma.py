"""Chroma as a retriever: as a full scan ranks, ties ordered by us, half-built collections unused."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.retrieve import ChromaConfig, ChromaRetriever, exact_share
from harness.store import CollectionFolders
from harness.types import Query, Ranking

RNG = np.random.default_rng(5)
CHUNKS = RNG.normal(size=(300, 16)).astype(np.float32)
ASKED = RNG.normal(size=(7, 16)).astype(np.float32)
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
IDS = [f"d:{i}-{i + 1}" for i in range(len(CHUNKS))]


def similarity(distance):
    if distance == "cosine":
        unit = CHUNKS / np.linalg.norm(CHUNKS, axis=1, keepdims=True)
        return (ASKED / np.linalg.norm(ASKED, axis=1, keepdims=True)) @ unit.T
    if distance == "ip":
        return ASKED @ CHUNKS.T
    return -((ASKED[:, None, :] - CHUNKS[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
def test_it_returns_what_a_full_scan_returns(tmp_path, distance):
    retriever = ChromaRetriever(ChromaConfig(distance=distance, top_k=10))
    rankings = retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot)
    scores = similarity(distance)
    for row, ranking in enumerate(rankings):
        best = np.argsort(-scores[row], kind="stable")[:10]
        assert ranking.chunk_ids == tuple(IDS[i] for i in best)
        np.testing.assert_allclose(ranking.scores, scores[row][best], atol=1e-4)
    assert exact_share(rankings, ASKED, CHUNKS, distance) == 1.0


def test_exact_share_sees_what_is_missing():
    scores = similarity("cosine")
    worst = [
        Ranking.by_score(q.query_id, [IDS[i] for i in np.argsort(s)[:4]], np.sort(s)[:4].tolist())
        for q, s in zip(QUERIES, scores, strict=True)
    ]
    assert exact_share(worst, ASKED, CHUNKS, "cosine") == 0.0
    assert exact_share([], ASKED[:0], CHUNKS, "cosine") is None


def test_equal_scores_stand_in_the_order_of_the_chunks(tmp_path):
    same = np.repeat(CHUNKS[:1], 40, axis=0)
    ranking = ChromaRetriever(ChromaConfig(top_k=30)).retrieve(
        QUERIES[:1], ASKED[:1], IDS[:40], same, "key", CollectionFolders(tmp_path).slot
    )[0]
    assert ranking.chunk_ids == tuple(IDS[:30])


def test_fewer_chunks_than_asked_for_and_none_at_all(tmp_path):
    retriever = ChromaRetriever(ChromaConfig(top_k=20))
    three = retriever.retrieve(QUERIES, ASKED, IDS[:3], CHUNKS[:3], "three", CollectionFolders(tmp_path).slot)
    assert [len(r.chunk_ids) for r in three] == [3] * len(QUERIES)
    none = retriever.retrieve(QUERIES, ASKED, [], CHUNKS[:0], "none", CollectionFolders(tmp_path).slot)
    assert [r.chunk_ids for r in none] == [()] * len(QUERIES)
    assert retriever.retrieve([], ASKED[:0], IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot) == []


def test_a_collection_is_built_once_and_a_half_built_one_is_not_used(tmp_path):
    retriever = ChromaRetriever(ChromaConfig(top_k=10))
    first = retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot)
    built = {p.name for p in tmp_path.iterdir()}
    assert retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot) == first
    assert {p.name for p in tmp_path.iterdir()} == built
    # killed while filling: a folder without a pointer to it
    (tmp_path / "key.json").unlink()
    assert retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot) == first
    assert CollectionFolders(tmp_path).remove_unfinished() == 1
    # the folder was deleted by hand: built anew, in the same process
    for path in tmp_path.glob("key-*"):
        shutil.rmtree(path)
    assert retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot) == first


def test_a_server_that_is_not_there_is_named(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    retriever = ChromaRetriever(ChromaConfig(client="http", host="127.0.0.1", port=port))
    with pytest.raises(HarnessError, match=f"127.0.0.1:{port}"):
        retriever.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot)


@pytest.mark.slow
def test_a_chroma_server_gives_the_same_rankings(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chroma = Path(sys.executable).parent / "chroma"
    server = subprocess.Popen(
        [chroma, "run", "--path", tmp_path / "server", "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 240
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < deadline
            time.sleep(0.1)
        local = ChromaRetriever(ChromaConfig(top_k=10))
        remote = ChromaRetriever(ChromaConfig(top_k=10, client="http", host="127.0.0.1", port=port))
        expected = local.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot)
        for _ in range(2):
            got = remote.retrieve(QUERIES, ASKED, IDS, CHUNKS, "key", CollectionFolders(tmp_path).slot)
            assert [r.chunk_ids for r in got] == [r.chunk_ids for r in expected]
            np.testing.assert_allclose([r.scores for r in got], [r.scores for r in expected], atol=2e-6)
    finally:
        server.terminate()
        server.wait()
