"""OpenSearch and Elasticsearch against a server that is written from their documented protocols."""

import base64
import sys

import numpy as np
import pytest

from harness.steps import RETRIEVERS, Content, store_faults
from harness.steps.search.retrieve.opensearch_dialects import similarity_of
from harness.values import ConfigError, HarnessError
from tests.external.libraries import stores_in_use
from tests.external.search_server import SearchServer

RNG = np.random.default_rng(3)
VECTORS = RNG.normal(size=(130, 8)).astype(np.float32)
TEXTS = [f"boat {place} lies in the harbour" for place in range(129)] + ["the museum, the museum"]
KIND = pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])


@pytest.mark.slow
@KIND
def test_a_store_is_searched_filled_and_left_alone(kind):
    stores_in_use(sys.executable, kind)


@pytest.fixture
def server(kind):
    server = SearchServer(kind, {"opensearch": "3.1.0", "elasticsearch": "8.15.2"}[kind])
    yield server
    server.close()


def config_of(kind, server, **more):
    return RETRIEVERS[kind].config(url=server.url, **more)


def filled(config):
    config.fill(Content(VECTORS, TEXTS, "ndcg_x"), None)
    return config.reading("ndcg_x")


@KIND
@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
def test_scores_are_similarities_by_the_index_and_by_the_scan(kind, server, distance):
    config = config_of(kind, server, distance=distance)
    with filled(config) as store:
        near, exact = store.near(VECTORS[:3], 130), store.near(VECTORS[:3], 130, exact=True)
    for query, rows, scanned in zip(VECTORS, near, exact, strict=False):
        products = VECTORS @ query
        true = {
            "cosine": products / np.linalg.norm(VECTORS, axis=1) / np.linalg.norm(query),
            "l2": -((VECTORS - query) ** 2).sum(axis=1),
            "ip": products,
        }[distance]
        assert [int(row.key) for row in rows] == [int(row.key) for row in scanned]
        assert [row.score for row in rows] == pytest.approx(sorted(true, reverse=True), rel=1e-4, abs=1e-4)
        assert [r.score for r in scanned] == pytest.approx([r.score for r in rows], rel=1e-4, abs=1e-4)


def test_the_scale_of_scores_is_that_of_the_documentation():
    # cosine 0.5: (1 + 0.5) / 2; squared distance 3: 1 / (1 + 3); products 2 and -3: 2 + 1, 1 / (1 + 3)
    assert similarity_of(0.75, "cosine") == similarity_of(0.75, "cosinesimil") == 0.5
    assert similarity_of(1.5, "script_cosine") == 0.5
    assert similarity_of(0.25, "l2") == similarity_of(0.25, "l2_norm") == -3
    assert similarity_of(3, "innerproduct") == 2
    assert similarity_of(0.25, "max_inner_product") == -3


@KIND
def test_what_is_filled_is_whole_and_filled_once(kind, server):
    config = config_of(kind, server, analyser="standard", k1=0.9, b=0.4)
    with filled(config) as store:
        facts = store.facts()
        assert (facts.rows, facts.dimension, facts.distance) == (130, 8, "cosine")
        assert facts.bytes > 0
        assert len(list(store.rows())) == 130
        read = np.array([row.vector for row in store.rows(vectors=True)])
        assert read == pytest.approx(VECTORS)
        assert [row.key for row in store.rows(limit=4)] == ["0", "1", "2", "3"]
        assert [row.key for row in store.by_words(["Museum"], 5)[0]] == ["129"]
    assert not server.scrolls
    before = server.state()
    (index,) = before.values()
    assert index["settings"]["index"]["similarity"]["default"] == {"type": "BM25", "k1": 0.9, "b": 0.4}
    assert index["mappings"]["properties"]["text"]["analyzer"] == "standard"
    config.fill(Content(VECTORS[:3], TEXTS[:3], "ndcg_x"), None)
    assert server.state() == before
    broken = np.array([1.0, 2.0], dtype=np.float32)
    server.bulk = lambda name, lines: {"errors": True, "items": [{"index": {"error": {"type": "full"}}}]}
    with pytest.raises(RuntimeError, match="a row was refused"):
        config.fill(Content(broken[None], ["x"], "ndcg_y"), None)
    # what was cut short has no name by which it would be searched
    assert not any("ndcg_y" in index["aliases"] for index in server.state().values())


@KIND
@pytest.mark.parametrize("fusion", ["store", "harness"])
def test_both_are_fused_by_reciprocal_ranks(kind, server, fusion):
    with filled(config_of(kind, server, search="hybrid", fusion=fusion)) as store:
        near, words = store.near(VECTORS[129:], 3)[0], store.by_words(["museum"], 3)[0]
        (rows,) = store.hybrid(VECTORS[129:], ["museum"], 3)
    assert [row.key for row in words] == ["129"]
    # first on both sides, then second and third among the vectors
    assert [row.key for row in rows] == [row.key for row in near]
    assert [row.score for row in rows] == pytest.approx([2 / 61, 1 / 62, 1 / 63])


@KIND
@pytest.mark.parametrize(
    ("fault", "words"),
    [("shards", "1 shards"), ("late", "raise retrieve.timeout"), ("error", "circuit_breaking_exception")],
)
def test_part_of_an_answer_is_an_error(kind, server, fault, words):
    config = config_of(kind, server)
    with filled(config) as store:
        server.fault = fault
        for search in (lambda: store.near(VECTORS[:2], 3), lambda: store.by_words(["boat"], 3), store.facts):
            with pytest.raises(HarnessError, match=words), store_faults(config.where, config.timeout):
                search()


def test_the_other_store_is_named():
    server = SearchServer("opensearch", "2.19.0")
    try:
        config_of("opensearch", server).fill(Content(VECTORS, TEXTS, "ndcg_x"), None)
        with pytest.raises(HarnessError, match=r"Set retrieve\.kind: opensearch"):
            config_of("elasticsearch", server).reading("ndcg_x").__enter__()
    finally:
        server.close()


@KIND
def test_who_asks_is_told_by_the_environment(kind, monkeypatch):
    pair = base64.b64encode(b"reader:s3cret-of-it").decode()
    server = SearchServer(kind, "8.15.0", f"Basic {pair}")
    try:
        monkeypatch.setenv("STORE_PASSWORD", "s3cret-of-it")
        config = config_of(kind, server, user="reader", password_env="STORE_PASSWORD")
        with filled(config) as store:
            assert store.facts().rows == 130
        assert "s3cret" not in config.model_dump_json()
        monkeypatch.setenv("STORE_PASSWORD", "wrong-s3cret")
        with pytest.raises(HarnessError, match="HTTP 401") as refused:
            config.reading("ndcg_x").__enter__()
        assert "s3cret" not in str(refused.value)
        monkeypatch.delenv("STORE_PASSWORD")
        with pytest.raises(ConfigError, match="STORE_PASSWORD is not set"):
            config.check_ready()
    finally:
        server.close()


def test_keys_that_do_not_fit_are_refused():
    for kind, section, words in (
        ("opensearch", {"user": "me"}, "give both"),
        ("opensearch", {"existing": True, "collection": "c", "search": "words"}, "name the field"),
        ("opensearch", {"existing": True, "collection": "c", "k1": 1}, "omit k1"),
        ("elasticsearch", {"user": "m", "password_env": "P", "api_key_env": "K"}, "give one"),
        ("elasticsearch", {"analyser": "a/../b"}, "pattern"),
    ):
        with pytest.raises(ValueError, match=words):
            RETRIEVERS[kind].config(url="http://localhost:9200", **section)
    with pytest.raises(ConfigError, match="looks like a secret"):
        RETRIEVERS["opensearch"].config(url="http://me:secret@localhost:9200")
