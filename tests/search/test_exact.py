"""The full scan as a retriever: what Chroma's exact search finds, without Chroma."""

import numpy as np
import pytest

from harness.steps.search.retrieve.chroma import ChromaConfig, ChromaRetriever
from harness.steps.search.retrieve.exact import ExactConfig, ExactRetriever
from harness.values.types import Query

from .conftest import index_tools, nearest
from .helpers import passages_of

RNG = np.random.default_rng(8)
CHUNKS = RNG.normal(size=(500, 24)).astype(np.float32)
CHUNKS[100:140] = CHUNKS[7]
ASKED = np.vstack([RNG.normal(size=(11, 24)).astype(np.float32), CHUNKS[7] * 2])
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
PASSAGES = passages_of([""] * len(CHUNKS), RNG.integers(20, 400, size=len(CHUNKS)).tolist())
IDS = PASSAGES.ids


def search(**config):
    return nearest(ExactRetriever(ExactConfig(**config)), QUERIES, ASKED, PASSAGES, CHUNKS)


@pytest.mark.parametrize(
    ("distance", "depth"), [("cosine", {"top_k": 10}), ("l2", {"top_k": 60}), ("ip", {"top_chars": 3000})]
)
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


class Parts:
    """Vectors that are read a part at a time."""

    def __init__(self, whole):
        self.whole, self.read = whole, []

    def __len__(self):
        return len(self.whole)

    def __getitem__(self, places):
        self.read.append(places)
        return self.whole[places].copy()


@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
@pytest.mark.parametrize(
    ("depth", "rows"),
    [
        ({"top_k": 10}, 1),
        ({"top_k": 10}, 41),
        ({"top_k": 600}, 8),
        ({"top_k": 600}, 499),
        ({"top_chars": 3000}, 8),
        ({"top_chars": 3000}, 500),
        ({"top_chars": 10**6}, 41),
    ],
)
def test_reading_vectors_a_block_at_a_time_changes_no_rank_and_no_score(monkeypatch, distance, depth, rows):
    # copies of a chunk are in several blocks, and two chunks differ by less than single precision can tell
    close = CHUNKS.copy()
    close[300] = close[200] * np.float32(1 + 1e-7)
    asked = np.vstack([ASKED, close[200:201]])
    queries = [*QUERIES, Query("close", "", "train")]
    retriever = ExactRetriever(ExactConfig(distance=distance, **depth))
    whole = nearest(retriever, queries, asked, PASSAGES, close)
    monkeypatch.setattr("harness.steps.search.retrieve.scan._ROWS", rows)
    monkeypatch.setattr("harness.steps.search.retrieve.exact._ROWS", 100)
    parts = Parts(close)
    assert nearest(retriever, queries, asked, PASSAGES, parts) == whole
    blocks = [one for one in parts.read if isinstance(one, slice)]
    # one pass of all queries over each block
    assert [(one.start, one.stop) for one in blocks] == [(at, at + rows) for at in range(0, 500, rows)]


def test_copies_and_vectors_of_zeros_have_their_place():
    found = search(top_k=41)
    assert found.rankings[-1].chunk_ids == (IDS[7], *IDS[100:140])
    assert set(found.rankings[-1].scores) == {1.0}
    nothing = nearest(
        ExactRetriever(ExactConfig(top_k=2)), QUERIES[:1], np.zeros_like(ASKED[:1]), PASSAGES, CHUNKS
    )
    assert nothing.rankings[0].chunk_ids == IDS[:2]
    assert nothing.rankings[0].scores == (0.0, 0.0)
