"""FAISS as a retriever: its recall is reported, its builds repeat, and what it cannot learn is refused."""

import numpy as np
import pytest

from harness.steps.search.retrieve.exact import ExactConfig, ExactRetriever
from harness.steps.search.retrieve.faiss import FaissConfig, FaissRetriever
from harness.values.errors import HarnessError
from harness.values.types import Query

from .conftest import nearest
from .helpers import passages_of, tools_at

MODEL = "embedded:all-MiniLM-L6-v2"
RNG = np.random.default_rng(8)
CHUNKS = RNG.normal(size=(900, 24)).astype(np.float32)
CHUNKS[200:240] = CHUNKS[7]
ASKED = np.vstack([RNG.normal(size=(20, 24)).astype(np.float32), CHUNKS[7]])
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
PASSAGES = passages_of([""] * len(CHUNKS), [100] * len(CHUNKS))
IDS = PASSAGES.ids

INDEXES = {
    "hnsw": {"index": "hnsw", "ef_search": 900},
    "ivf_flat": {"index": "ivf_flat", "nlist": 8, "nprobe": 8},
    "ivf_pq": {"index": "ivf_pq", "nlist": 4, "nprobe": 4, "m": 12, "nbits": 6},
}


@pytest.fixture
def search(tmp_path):
    pytest.importorskip("faiss")

    def run(folder="cache", passages=PASSAGES, vectors=CHUNKS, **config):
        tools = tools_at(tmp_path / folder)
        config = {"top_k": 10, "model": MODEL, **config}
        return nearest(FaissRetriever(FaissConfig(**config)), QUERIES, ASKED, passages, vectors, tools)

    return run


@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
@pytest.mark.parametrize("index", ["hnsw", "ivf_flat"])
def test_searched_hard_enough_it_finds_what_a_scan_finds(search, index, distance):
    found = search(distance=distance, **INDEXES[index])
    exact = nearest(
        ExactRetriever(ExactConfig(distance=distance, top_k=10)), QUERIES, ASKED, PASSAGES, CHUNKS
    )
    assert [r.chunk_ids for r in found.rankings] == [r.chunk_ids for r in exact.rankings]
    for one, other in zip(found.rankings, exact.rankings, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-5, atol=2e-5)
    assert found.exact_share == 1.0


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_the_loss_of_quantisation_is_reported(search, distance):
    found = search(distance=distance, **INDEXES["ivf_pq"])
    exact = nearest(
        ExactRetriever(ExactConfig(distance=distance, top_k=10)), QUERIES, ASKED, PASSAGES, CHUNKS
    )
    same = [
        len(set(one.chunk_ids) & set(other.chunk_ids))
        for one, other in zip(found.rankings[:-1], exact.rankings[:-1], strict=True)
    ]
    # the last query is that of 41 copies, all of them near
    last = len(set(found.rankings[-1].chunk_ids) & {IDS[7], *IDS[200:240]})
    assert found.exact_share == pytest.approx((sum(same) + last) / (10 * len(QUERIES)))
    assert 0.3 < found.exact_share < 1.0


def test_the_share_rises_with_the_effort_and_counts_what_is_not_returned(search):
    shares = [search(index="ivf_flat", nlist=64, nprobe=nprobe).exact_share for nprobe in (1, 8, 64)]
    assert shares[0] < shares[1] < shares[2] == 1.0
    few = search(index="ivf_flat", nlist=300, nprobe=1, top_k=50)
    returned = sum(len(ranking.chunk_ids) for ranking in few.rankings) / (50 * len(QUERIES))
    assert few.exact_share <= returned < 0.5


@pytest.mark.parametrize("index", INDEXES)
def test_a_fresh_build_and_a_stored_one_give_the_same_bits(search, tmp_path, monkeypatch, index):
    low = {**INDEXES[index], **({"ef_search": 10} if index == "hnsw" else {"nprobe": 1})}
    first = search(**low)
    assert search("fresh", **low) == first

    def build(*_):
        raise AssertionError("it is stored")

    monkeypatch.setattr(FaissRetriever, "_build", build)
    assert search(**low) == first
    # another effort searches the same index
    assert search(**INDEXES[index]).exact_share > first.exact_share


def test_a_key_of_another_index_is_refused():
    with pytest.raises(ValueError, match="index hnsw has no nlist: list it by itself"):
        FaissConfig(nlist=16)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"index": "ivf_flat", "nlist": 861, "nprobe": 1}, r"nlist is 861, and there are 860 different"),
        ({"index": "ivf_pq", "m": 7}, r"m is 7, which does not divide the 24 dimensions"),
        ({"index": "ivf_pq", "m": 8, "nbits": 10}, r"nbits is 10, which takes 1024 different chunks"),
    ],
)
def test_what_cannot_be_learnt_is_refused(search, config, message):
    with pytest.raises(HarnessError, match=message):
        search(**config)
