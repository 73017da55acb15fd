"""The full scan as a retriever: what Chroma's exact search finds, without Chroma."""

import numpy as np
import pytest

from harness.steps.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.steps.search.retrieve.exact import ExactConfig, ExactRetriever
from harness.steps.search.step import Passages
from harness.values.types import Query

from .conftest import index_tools, nearest

RNG = np.random.default_rng(8)
CHUNKS = RNG.normal(size=(500, 24)).astype(np.float32)
CHUNKS[100:140] = CHUNKS[7]
ASKED = np.vstack([RNG.normal(size=(11, 24)).astype(np.float32), CHUNKS[7] * 2])
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
IDS = tuple(f"d:{i}-{i + 1}" for i in range(len(CHUNKS)))
LENGTHS = tuple(int(length) for length in RNG.integers(20, 400, size=len(CHUNKS)))
PASSAGES = Passages(IDS, ("",) * len(IDS), LENGTHS, "key")


def search(**config):
    return nearest(ExactRetriever(ExactConfig(**config)), QUERIES, ASKED, PASSAGES, CHUNKS)


@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
@pytest.mark.parametrize("depth", [{"top_k": 10}, {"top_k": 60}, {"top_chars": 3000}])
def test_it_ranks_as_chroma_does_when_it_is_exact(tmp_path, distance, depth):
    found = search(distance=distance, **depth)
    retriever = ChromaRetriever(ChromaConfig(distance=distance, **depth))
    chroma = nearest(retriever, QUERIES, ASKED, PASSAGES, CHUNKS, index_tools(tmp_path))
    for one, other in zip(found.rankings, chroma.rankings, strict=True):
        assert one.chunk_ids == other.chunk_ids
        # Chroma's are computed in single precision
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6, atol=5e-6)
    assert found.exact_share == chroma.exact_share == 1.0


def test_blocks_do_not_change_a_bit(monkeypatch):
    whole = search(top_k=30)
    monkeypatch.setattr("harness.steps.search.retrieve.scan._CELLS", 1)
    assert search(top_k=30) == whole


def test_copies_and_vectors_of_zeros_have_their_place():
    found = search(top_k=41)
    assert found.rankings[-1].chunk_ids == (IDS[7], *IDS[100:140])
    assert set(found.rankings[-1].scores) == {1.0}
    nothing = nearest(
        ExactRetriever(ExactConfig(top_k=2)), QUERIES[:1], np.zeros_like(ASKED[:1]), PASSAGES, CHUNKS
    )
    assert nothing.rankings[0].chunk_ids == IDS[:2]
    assert nothing.rankings[0].scores == (0.0, 0.0)
