"""Chroma as a retriever: as a full scan ranks, ties ordered by us, half-built collections unused."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from harness.steps.search.depth import SearchDepth
from harness.steps.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.steps.search.retrieve.scan import exact_share, scan
from harness.values.errors import HarnessError
from harness.values.types import Query, Ranking

from .conftest import index_tools, nearest
from .helpers import passages_of

RNG = np.random.default_rng(5)
CHUNKS = RNG.normal(size=(300, 16)).astype(np.float32)
ASKED = RNG.normal(size=(7, 16)).astype(np.float32)
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
PASSAGES = passages_of([""] * len(CHUNKS), [1] * len(CHUNKS))
IDS = PASSAGES.ids


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
    found = nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
    scores = similarity(distance)
    for row, ranking in enumerate(found.rankings):
        best = np.argsort(-scores[row], kind="stable")[:10]
        assert ranking.chunk_ids == tuple(IDS[i] for i in best)
        np.testing.assert_allclose(ranking.scores, scores[row][best], atol=1e-4)
    assert found.exact_share == 1.0


def test_exact_share_sees_what_is_missing():
    scores = similarity("cosine")
    worst = [
        Ranking.by_score(q.query_id, [IDS[i] for i in np.argsort(s)[:4]], np.sort(s)[:4].tolist())
        for q, s in zip(QUERIES, scores, strict=True)
    ]
    depth = SearchDepth(4, None, np.ones(len(CHUNKS), dtype=np.int64))
    assert exact_share(worst, scan(ASKED, CHUNKS, "cosine", depth)) == 0.0
    assert exact_share([], []) is None


# A graph that is hard to search: random points in many dimensions, few edges, little effort.
HARD = RNG.normal(size=(1200, 64)).astype(np.float32)
HARD_ASKED = RNG.normal(size=(30, 64)).astype(np.float32)
HARD_QUERIES = [Query(f"q{i}", "", "train") for i in range(len(HARD_ASKED))]
HARD_PASSAGES = passages_of([""] * len(HARD), [1] * len(HARD))


def search_hard(folder, key="key", **config):
    config = {"ef_construction": 20, "ef_search": 10, "max_neighbors": 8, "top_k": 10, **config}
    retriever = ChromaRetriever(ChromaConfig(**config))
    return nearest(retriever, HARD_QUERIES, HARD_ASKED, HARD_PASSAGES, HARD, index_tools(folder, key))


def test_the_index_is_searched_harder_until_the_answer_is_exact(tmp_path):
    assert search_hard(tmp_path, exact=False).exact_share < 0.9
    first = search_hard(tmp_path)
    assert first.exact_share == 1.0
    unit = HARD / np.linalg.norm(HARD, axis=1, keepdims=True)
    scores = HARD_ASKED @ unit.T
    for row, ranking in enumerate(first.rankings):
        assert ranking.chunk_ids == tuple(HARD_PASSAGES.ids[i] for i in np.argsort(-scores[row])[:10])
    # fresh builds, whose graphs differ, and a reopened one: the same bits
    assert search_hard(tmp_path) == first
    assert search_hard(tmp_path / "fresh") == first
    assert search_hard(tmp_path / "other", max_neighbors=16) == first


def test_ef_search_is_obeyed_by_a_collection_that_was_built_with_another(tmp_path):
    little = search_hard(tmp_path, exact=False)
    much = search_hard(tmp_path, exact=False, ef_search=2500)
    assert [p.parent.name for p in tmp_path.glob("*/seal")] == ["key"]
    assert much.exact_share > little.exact_share + 0.1
    assert search_hard(tmp_path, exact=False).exact_share < much.exact_share - 0.1


def test_copies_do_not_hide_what_else_is_near(tmp_path):
    vectors = CHUNKS.copy()
    vectors[50:250] = CHUNKS[50]
    asked = np.stack([CHUNKS[50], CHUNKS[299]])
    found = nearest(
        ChromaRetriever(ChromaConfig(top_k=220)), QUERIES[:2], asked, PASSAGES, vectors, index_tools(tmp_path)
    )
    assert found.exact_share == 1.0
    # the copies stand first, in the order of the chunks, though Chroma holds their vector once
    assert found.rankings[0].chunk_ids[:200] == tuple(IDS[50:250])
    assert found.rankings[1].chunk_ids[0] == IDS[299]
    assert len(found.rankings[1].chunk_ids) == 220


def test_an_index_that_does_not_reach_all_chunks_is_an_error(tmp_path, monkeypatch):
    ask = ChromaRetriever.hits

    def blind(self, collection, asked, wanted):
        for rows, scores in ask(self, collection, asked, wanted):
            yield rows[1:], scores[1:]  # the nearest is never found

    monkeypatch.setattr(ChromaRetriever, "hits", blind)
    with pytest.raises(HarnessError, match=r"7 of 7 queries.*max_neighbors to 64.*exact to false"):
        nearest(ChromaRetriever(ChromaConfig()), QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
    once = ChromaRetriever(ChromaConfig(exact=False))
    found = nearest(once, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
    assert found.exact_share == pytest.approx(19 / 20)


def test_a_collection_is_built_once_and_a_half_built_one_is_not_used(tmp_path):
    retriever = ChromaRetriever(ChromaConfig(top_k=10))
    first = nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
    built = {p.name for p in tmp_path.iterdir()}
    assert nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path)) == first
    assert {p.name for p in tmp_path.iterdir()} == built
    # not whole: built anew
    (tmp_path / "key" / "seal").unlink()
    assert nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path)) == first
    # the folder was deleted by hand: built anew, in the same process
    shutil.rmtree(tmp_path / "key")
    assert nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path)) == first


def test_a_server_that_is_not_there_is_named(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    retriever = ChromaRetriever(ChromaConfig(client="http", host="127.0.0.1", port=port))
    with pytest.raises(HarnessError, match=f"127.0.0.1:{port}"):
        nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))


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
        expected = nearest(local, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
        for _ in range(2):
            got = nearest(remote, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
            assert [r.chunk_ids for r in got.rankings] == [r.chunk_ids for r in expected.rankings]
            np.testing.assert_allclose(
                [r.scores for r in got.rankings], [r.scores for r in expected.rankings], atol=2e-6
            )
    finally:
        server.terminate()
        server.wait()
