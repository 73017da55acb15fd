"""Chroma as it is deployed: its own server, and folders of others; test_stores.py has what all stores do."""

import hashlib

import httpx2
import numpy as np
import pytest

from harness.steps import RETRIEVERS, Content, ExactConfig
from harness.values import ConfigError, HarnessError, Query
from tests.external.filled import Chroma
from tests.search.conftest import index_tools, nearest
from tests.search.helpers import passages_of

ChromaConfig = RETRIEVERS["chroma"].config
ChromaRetriever = RETRIEVERS["chroma"].make
ExactRetriever = RETRIEVERS["exact"].make

RNG = np.random.default_rng(8)
VECTORS = RNG.normal(size=(900, 24)).astype(np.float32)
QUERIES = [Query(f"q{place}", "", "train") for place in range(10)]
NEAR = RNG.normal(size=(10, 24)).astype(np.float32)
PASSAGES = passages_of([f"text {place}" for place in range(len(VECTORS))])


@pytest.fixture
def server(tmp_path):
    return Chroma(tmp_path)


def names_in(server):
    return {collection["name"] for collection in httpx2.get(server.collections).json()}


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["cosine", "l2", "ip"])
def test_a_server_gives_the_rankings_of_the_scan_and_is_filled_once(server, tmp_path, distance):
    def search(**more):
        config = ChromaConfig(**server.own(), top_k=12, distance=distance, **more)
        return nearest(
            ChromaRetriever(config), QUERIES, NEAR, PASSAGES, VECTORS, index_tools(tmp_path / "index")
        )

    exact = nearest(
        ExactRetriever(ExactConfig(top_k=12, distance=distance)), QUERIES, NEAR, PASSAGES, VECTORS
    )
    found = search()
    assert [r.chunk_ids for r in found.rankings] == [r.chunk_ids for r in exact.rankings]
    assert found.exact_share == 1
    (name,) = names_in(server)
    assert search() == found
    assert names_in(server) == {name}
    # an index that is searched little is measured as it is
    little = search(exact=False, ef_search=1, max_neighbors=2, ef_construction=2, collection="mine")
    assert little.exact_share < 0.9
    assert {each.partition("_")[0] for each in names_in(server)} == {"ndcg", "mine"}


@pytest.mark.slow
def test_a_collection_that_was_cut_short_is_not_used(server):
    config = ChromaConfig(**server.own())
    # what a kill leaves has a name of its own, so the next run fills another one
    httpx2.post(server.collections, json={"name": "ndcg_x_0badcafe"}).raise_for_status()
    config.fill(Content(VECTORS, (), "ndcg_x"), None)
    with config.reading("ndcg_x") as store:
        assert store.facts().rows == len(VECTORS)
        assert store.facts().dimension == 24
        first = store.near(VECTORS[:3], 1)
        assert [rows[0].key for rows in first] == ["0", "1", "2"]
        assert store.near(VECTORS[:3], 1, exact=True)[0][0].score == pytest.approx(1)
        pages = list(store.rows(vectors=True))
        assert np.array([row.vector for row in pages]) == pytest.approx(VECTORS)
        assert len(list(store.rows(limit=7))) == 7
    before = server.state()
    config.fill(Content(VECTORS[:5], (), "ndcg_x"), None)
    assert server.state() == before


@pytest.mark.slow
def test_a_folder_of_others_is_copied_and_left_as_it_is(tmp_path):
    import chromadb

    client = chromadb.PersistentClient(str(tmp_path / "theirs"))
    # as an application makes it, with an embedding function that is never called
    collection = client.create_collection("contracts")
    texts = [f"passage {place}" for place in range(5)]
    collection.add(ids=texts, documents=texts, embeddings=VECTORS[:5])
    client.close()

    def state():
        files = sorted(path for path in (tmp_path / "theirs").rglob("*") if path.is_file())
        return [(path, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]

    before = state()
    section = {"path": tmp_path / "theirs", "existing": True, "distance": "l2"}
    with ChromaConfig(collection="contracts", **section).reading("contracts") as store:
        assert [row.payload["text"] for row in store.rows()] == texts
        assert store.facts().distance == "l2"
        assert store.near(VECTORS[:5], 1)[4][0].payload["text"] == "passage 4"
        with pytest.raises(AttributeError, match="read only"):
            store.client.add(ids=["x"], embeddings=[[1.0]])
    with pytest.raises(HarnessError, match="no collection 'other' \\(it has contracts\\)"):
        ChromaConfig(collection="other", **section).reading("other").__enter__()
    assert state() == before
    with pytest.raises(HarnessError, match="no folder of Chroma"):
        ChromaConfig(collection="c", path=tmp_path, existing=True).reading("c").__enter__()


def test_keys_that_do_not_fit_are_refused(monkeypatch):
    place = {"collection": "c", "existing": True}
    for section, words in (
        ({"port": 8001}, "port: only with host"),
        ({"path": "x"}, "path: only with existing"),
        (place, "host of the server, or the path"),
        ({**place, "host": "h", "path": "x"}, "host of the server, or the path"),
        ({**place, "host": "h", "ef_search": 5}, "omit ef_search"),
        ({**place, "host": "h", "search": "words"}, "is searched by vectors here"),
        ({"host": "http://h"}, "pattern"),
        ({"host": "h", "token_env": "sk-secret"}, "names an environment variable"),
        ({"client": "http"}, r"retrieve\.host"),
    ):
        with pytest.raises((ConfigError, ValueError), match=words):
            ChromaConfig(**section)
    assert ChromaConfig(**place, host="h").exact is False
    assert ChromaConfig(host="h").exact is True
    monkeypatch.delenv("CHROMA_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="CHROMA_TOKEN is not set"):
        ChromaConfig(host="h", token_env="CHROMA_TOKEN").check_ready()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "sent"), [("authorization", "Bearer t0ken-of-it"), ("x-chroma-token", "t0ken-of-it")]
)
def test_the_token_goes_in_its_header_and_into_no_record(server, monkeypatch, header, sent):
    seen = []
    send = httpx2.Client.stream

    def noted(self, *arguments, **options):
        seen.append(self.headers.get(header))
        return send(self, *arguments, **options)

    monkeypatch.setattr(httpx2.Client, "stream", noted)
    monkeypatch.setenv("CHROMA_TOKEN", "t0ken-of-it")
    config = ChromaConfig(**server.own(), token_env="CHROMA_TOKEN", token_header=header)
    with pytest.raises(HarnessError, match="no collection"):
        config.reading("nothing").__enter__()
    assert seen
    assert {*seen} == {sent}
    assert "t0ken" not in config.model_dump_json()
