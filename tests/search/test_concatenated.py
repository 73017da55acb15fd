"""One vector of sparse and dense parts: its dot product is weight × BM25 + similarity; what stays fixed."""

from itertools import pairwise

import bm25s
import numpy as np
import pytest

from harness.steps.search.retrieve.bm25 import Bm25Config, Bm25Retriever
from harness.steps.search.retrieve.concatenated import ConcatenatedConfig, ConcatenatedRetriever
from harness.steps.search.retrieve.lexical import Saturation, TermIds, chunk_vectors, query_vectors, rarity
from harness.values.types import Query
from tests.search.helpers import passages_of as passages

from .conftest import nearest

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


def term_ids(texts):
    return TermIds.of(text.split() for text in texts)


def idf_of(stored, method):
    return rarity(np.bincount(stored.indices, minlength=stored.shape[1]), stored.shape[0], method)


def cosines():
    one = DENSE_ASKED / np.linalg.norm(DENSE_ASKED, axis=1, keepdims=True)
    return one.astype(float) @ (DENSE / np.linalg.norm(DENSE, axis=1, keepdims=True)).T.astype(float)


def search(tools, **config):
    config = {"analyser": "plain", "top_k": len(TEXTS), **config}
    return nearest(
        ConcatenatedRetriever(ConcatenatedConfig(**config)), QUERIES, DENSE_ASKED, PASSAGES, DENSE, tools
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_dot_product_of_the_sparse_parts_is_that_of_bm25s(method):
    known = term_ids(TEXTS)
    index = bm25s.BM25(method=method, k1=1.3, b=0.6, dtype="float64")
    rows = [known.terms[begin:end] for begin, end in pairwise(known.starts)]
    index.index((rows, known.vocabulary), create_empty_token=False, show_progress=False)
    stored = chunk_vectors(known, Saturation(method, 1.3, 0.6, float(known.lengths.mean())))
    idf = idf_of(stored, method)
    asked = [[known.vocabulary[w] for w in text.split() if w in known.vocabulary] for text in ASKED]
    products = (stored @ query_vectors(asked, idf).T).toarray()
    for column, ids in zip(products.T, asked, strict=True):
        true = index.get_scores_from_ids(ids) if ids else np.zeros(len(TEXTS))
        np.testing.assert_allclose(column, true, atol=1e-9)
    assert products[:, 1].max() > 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [0, 0.05, 1])
def test_every_score_is_weight_times_bm25_plus_cosine(tools, method, weight):
    found = search(tools, method=method, weight=weight)
    config = Bm25Config(method=method, analyser="plain", top_k=len(TEXTS))
    lexical = Bm25Retriever(config).run(PASSAGES, QUERIES, tools)
    for both, terms, similar in zip(found.rankings, lexical.rankings, cosines(), strict=True):
        bm25 = dict(zip(terms.chunk_ids, terms.scores, strict=True))
        cosine = dict(zip(PASSAGES.ids, similar, strict=True))
        sums = [weight * bm25.get(i, 0.0) + cosine[i] for i in both.chunk_ids]
        # both are rounded to six decimals
        assert sums == pytest.approx(both.scores, abs=1.1e-6)
        assert len(both.chunk_ids) == len(TEXTS)
    assert found.exact_share == 1.0


def test_new_chunks_leave_stored_vectors_alone_where_the_average_length_is_kept():
    old, new = term_ids(TEXTS[:50]), term_ids([*TEXTS, "word1 " * 300, "a new word"])
    assert [*new.vocabulary][: len(old.vocabulary)] == [*old.vocabulary]

    def stored(known, average):
        array = chunk_vectors(known, Saturation("lucene", 1.5, 0.75, average)).toarray()
        return array[:50, : len(old.vocabulary)]

    np.testing.assert_array_equal(stored(old, 20.0), stored(new, 20.0))
    # the average length is the one thing that is not constant
    moved = stored(old, float(old.lengths.mean())) - stored(new, float(new.lengths.mean()))
    assert np.abs(moved).max() > 0.01
    # and the queries know of the new ones
    rarity = [
        idf_of(chunk_vectors(one, Saturation("lucene", 1.5, 0.75, 20.0)), "lucene")[0] for one in (old, new)
    ]
    assert rarity[0] != rarity[1]


def test_the_average_length_can_be_kept(tools):
    own, kept = search(tools), search(tools, average_length=5)
    assert own.rankings[0].scores != kept.rankings[0].scores
    # a query without terms is ranked by its dense part
    assert own.rankings[2] == kept.rankings[2]
    true = np.argsort(-cosines()[2])
    assert own.rankings[2].chunk_ids == tuple(PASSAGES.ids[i] for i in true)


def test_blocks_of_one_query_give_the_same(tools, monkeypatch):
    whole = search(tools, top_k=7)
    monkeypatch.setattr("harness.steps.search.retrieve.lexical._CELLS", 1)
    assert search(tools, top_k=7) == whole


def test_chunks_without_terms_are_ranked_by_their_dense_part(tools):
    config = ConcatenatedConfig(top_k=3)
    texts = ["...", "!!", ""]
    found = nearest(
        ConcatenatedRetriever(config), QUERIES[:1], DENSE_ASKED[:1], passages(texts), DENSE[:3], tools
    )
    order = np.argsort(-cosines()[0][:3])
    assert found.rankings[0].chunk_ids == tuple(passages(texts).ids[i] for i in order)
