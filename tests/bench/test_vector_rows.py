"""Vectors that are read from the cache a part at a time are those that the model gave."""

import zlib

import numpy as np
import pytest

from harness.models import EmbedConfig, SentenceEncoder
from harness.running import Running, Session, run_step
from harness.running.resources import Resources
from harness.steps import RETRIEVERS, ExactConfig, Passages
from harness.store import KeyValue
from harness.values import Query, Silent, StoreError
from tests.search.helpers import Given

ExactRetriever = RETRIEVERS["exact"].make

MODEL = EmbedConfig(model="embedded:all-MiniLM-L6-v2")
TEXTS = [f"text {i % 90}" for i in range(120)]


def vector_of(text):
    return np.random.default_rng(zlib.crc32(text.encode())).normal(size=384).astype(np.float32)


TRUE = np.stack([vector_of(text) for text in TEXTS])


@pytest.fixture
def given_vectors(monkeypatch):
    monkeypatch.setattr(SentenceEncoder, "encode", lambda _, texts: np.stack(list(map(vector_of, texts))))
    monkeypatch.setattr("harness.running.compute._ROWS_AT_ONCE", 7)


def tools(folder):
    return Resources(Session.at(folder, Silent()))


@pytest.mark.parametrize("kept", [True, False])
def test_any_part_can_be_read_in_any_order(given_vectors, tmp_path, monkeypatch, kept):
    if not kept:
        # what the cache cannot keep stays in memory
        monkeypatch.setattr(KeyValue, "put", lambda *_: False)
    for _ in range(2):
        rows = tools(tmp_path).values(TEXTS, MODEL)
        assert len(rows) == len(TEXTS)
        np.testing.assert_array_equal(np.asarray(rows), TRUE)
        np.testing.assert_array_equal(rows[5:60], TRUE[5:60])
        places = np.array([119, 3, 3, 90])
        np.testing.assert_array_equal(rows[places], TRUE[places])
        np.testing.assert_array_equal(tools(tmp_path).vectors(TEXTS, MODEL), TRUE)
    assert tools(tmp_path).vectors([], MODEL).shape == (0, 0)


def test_a_vector_that_is_damaged_after_it_was_found_ends_the_run(given_vectors, tmp_path):
    own = tools(tmp_path)
    rows = own.values(TEXTS, MODEL)
    (path,) = (tmp_path / "harness-v2" / "vectors").glob("*-values")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(StoreError, match="does not contain all computed vectors"):
        np.asarray(rows)
    # the next one computes it again
    np.testing.assert_array_equal(np.asarray(own.values(TEXTS, MODEL)), TRUE)


def test_a_search_of_what_is_on_disk_is_that_of_what_is_in_memory(given_vectors, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.steps.search.retrieve.scan._ROWS", 50)
    ids = tuple(f"d:{i}-{i + 1}" for i in range(len(TEXTS)))
    passages = Passages(ids, tuple(TEXTS), (1,) * len(TEXTS), "key")
    queries = [Query(f"q{i}", TEXTS[i], "train") for i in (0, 40, 100)]
    retriever = ExactRetriever(ExactConfig(model=MODEL.model, top_k=8))
    found = run_step(retriever.run(passages, queries), Running(tools(tmp_path).session))
    assert Given().run(retriever.search(passages, TRUE, queries, TRUE[[0, 40, 100]])) == found
    # copies have equal scores, in the order of the chunks
    assert found.rankings[0].chunk_ids[:2] == (ids[0], ids[90])
