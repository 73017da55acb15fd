"""One vector of sparse and dense parts: its dot product is weight × BM25 + similarity."""

import numpy as np
import pytest

from harness.steps import RETRIEVERS, Bm25Config, Bm25Retriever
from harness.values import Query
from tests.search.helpers import passages_of as passages

from .conftest import nearest

ConcatenatedConfig = RETRIEVERS["concatenated"].config
ConcatenatedRetriever = RETRIEVERS["concatenated"].make

RNG = np.random.default_rng(3)
WORDS = [f"word{i}" for i in range(30)]
# words of every frequency
SHARES = np.array([1 / (i + 2) for i in range(30)])
TEXTS = [" ".join(RNG.choice(WORDS, size=RNG.integers(1, 50), p=SHARES / SHARES.sum())) for _ in range(80)]
TEXTS[5] = "..."
ASKED = ["word1 word2 word2", "word29", "nothing of this", "", " ".join(WORDS)]
QUERIES = [Query(f"q{i}", text, "train") for i, text in enumerate(ASKED)]
DENSE = RNG.normal(size=(len(TEXTS), 12)).astype(np.float32)
DENSE_ASKED = RNG.normal(size=(len(ASKED), 12)).astype(np.float32)
PASSAGES = passages(TEXTS)
METHODS = ["lucene", "robertson", "atire"]


def cosines():
    one = DENSE_ASKED / np.linalg.norm(DENSE_ASKED, axis=1, keepdims=True)
    return one.astype(float) @ (DENSE / np.linalg.norm(DENSE, axis=1, keepdims=True)).T.astype(float)


def search(tools, **config):
    config = {"analyser": "plain", "top_k": len(TEXTS), **config}
    return nearest(
        ConcatenatedRetriever(ConcatenatedConfig(**config)), QUERIES, DENSE_ASKED, PASSAGES, DENSE, tools
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [0, 0.05, 1])
def test_every_score_is_weight_times_bm25_plus_cosine(tools, method, weight):
    found = search(tools, method=method, weight=weight)
    config = Bm25Config(method=method, analyser="plain", top_k=len(TEXTS))
    lexical = tools.run(Bm25Retriever(config).run(PASSAGES, QUERIES))
    for both, terms, similar in zip(found.rankings, lexical.rankings, cosines(), strict=True):
        bm25 = dict(zip(terms.chunk_ids, terms.scores, strict=True))
        cosine = dict(zip(PASSAGES.ids, similar, strict=True))
        sums = [weight * bm25.get(i, 0.0) + cosine[i] for i in both.chunk_ids]
        # both are rounded to six decimals
        assert sums == pytest.approx(both.scores, abs=1.1e-6)
        assert len(both.chunk_ids) == len(TEXTS)
    assert found.exact_share == 1.0


def test_the_average_length_can_be_kept(tools):
    own, kept = search(tools), search(tools, average_length=5)
    assert own.rankings[0].scores != kept.rankings[0].scores
    # a query without terms is ranked by its dense part
    assert own.rankings[2] == kept.rankings[2]
    true = np.argsort(-cosines()[2])
    assert own.rankings[2].chunk_ids == tuple(PASSAGES.ids[i] for i in true)


def test_chunks_without_terms_are_ranked_by_their_dense_part(tools):
    config = ConcatenatedConfig(top_k=3)
    texts = ["...", "!!", ""]
    found = nearest(
        ConcatenatedRetriever(config), QUERIES[:1], DENSE_ASKED[:1], passages(texts), DENSE[:3], tools
    )
    order = np.argsort(-cosines()[0][:3])
    assert found.rankings[0].chunk_ids == tuple(passages(texts).ids[i] for i in order)
