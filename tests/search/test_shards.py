"""What a cluster searches in shards is ranked as in one process, to the last bit, ties included."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.steps import RETRIEVERS, Bm25Config, Bm25Retriever, ExactConfig
from harness.steps.search.retrieve import bm25, scan
from harness.steps.search.retrieve.lexical import Terms
from harness.values import Query
from tests.search.helpers import Given, passages_of

ExactRetriever = RETRIEVERS["exact"].make

DEPTHS = st.one_of(
    st.builds(lambda top_k: {"top_k": top_k}, st.integers(1, 12)),
    st.builds(lambda top_chars: {"top_chars": top_chars}, st.integers(1, 60)),
)


def apart(order):
    """Sends jobs and parts through pickle, and ends the parts in an order of its own."""
    return lambda job, parts: [
        pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(job))(pickle.loads(pickle.dumps(parts[place])))))
        for place in order.permutation(len(parts))
    ]


@pytest.fixture(scope="module")
def tools():
    return lambda seed: (Given(), Given(spread=apart(np.random.default_rng(seed))))


# small whole numbers: many vectors are equal, of the same direction, or zero
VECTORS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=30)


@given(
    chunks=VECTORS,
    asked=VECTORS,
    rows=st.integers(1, 9),
    depth=DEPTHS,
    distance=st.sampled_from(["cosine", "l2", "ip"]),
    seed=st.integers(0, 99),
)
def test_exact_search_over_shards_is_that_of_the_whole(tools, chunks, asked, rows, depth, distance, seed):
    passages = passages_of(["x" * (1 + i % 7) for i in range(len(chunks))])
    queries = [Query(f"q{i}", "", "train") for i in range(len(asked))]
    config = ExactConfig(**depth, distance=distance)
    stored, questions = np.array(chunks, dtype=np.float32), np.array(asked, dtype=np.float32)
    found = []
    with patch.object(scan, "_ROWS", rows):
        for own in tools(seed):
            found.append(own.run(ExactRetriever(config).search(passages, stored, queries, questions)))
    assert found[0] == found[1]


WORDS = st.lists(st.sampled_from(["pump", "valve", "valves", "oil", "the", "leaks", "2024"]), max_size=8)


@given(
    chunks=st.lists(WORDS.map(" ".join), max_size=30),
    asked=st.lists(WORDS.map(" ".join), max_size=6),
    size=st.integers(1, 9),
    depth=DEPTHS,
    method=st.sampled_from(["lucene", "robertson", "atire", "bm25+", "bm25l"]),
    seed=st.integers(0, 99),
)
def test_bm25_over_shards_has_the_statistics_of_the_whole(tools, chunks, asked, size, depth, method, seed):
    passages = passages_of(chunks)
    queries = [Query(f"q{i}", text, "train") for i, text in enumerate(asked)]
    retriever = Bm25Retriever(Bm25Config(**depth, method=method))
    with patch.object(bm25, "_SHARD", size):
        whole, apart = (own.run(retriever.run(passages, queries)).rankings for own in tools(seed))
    assert whole == apart


def test_terms_of_shards_are_numbered_as_those_of_one_index(tools):
    _, apart = tools(1)
    texts = ["pump oil", "valve", "", "oil leaks oil"]
    with patch.object(bm25, "_SHARD", 2):
        found = bm25._terms_of(texts, Bm25Config(), apart.spread)
    whole = Terms(Bm25Config()).of_texts(texts)
    assert list(found.vocabulary.items()) == list(whole.vocabulary.items())
    assert found.terms.tolist() == whole.terms.tolist()
    assert found.starts.tolist() == whole.starts.tolist()
