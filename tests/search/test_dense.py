"""Dense retrievers: each ranks as a full scan does or reports what it lost, and its builds repeat."""

import shutil

import numpy as np
import pytest

from harness.steps import RETRIEVERS, ExactConfig, SearchDepth
from harness.steps.search.retrieve.scan import exact_share, scan
from harness.values import HarnessError, Query, Ranking

from .conftest import index_tools, nearest
from .helpers import passages_of, tools_at

ChromaConfig = RETRIEVERS["chroma"].config
ChromaRetriever = RETRIEVERS["chroma"].make
ExactRetriever = RETRIEVERS["exact"].make
FaissConfig = RETRIEVERS["faiss"].config
FaissRetriever = RETRIEVERS["faiss"].make

MODEL = "embedded:all-MiniLM-L6-v2"
RNG = np.random.default_rng(8)
CHUNKS = RNG.normal(size=(900, 24)).astype(np.float32)
CHUNKS[200:240] = CHUNKS[7]
ASKED = np.vstack([RNG.normal(size=(20, 24)).astype(np.float32), CHUNKS[7] * 2])
QUERIES = [Query(f"q{i}", "", "train") for i in range(len(ASKED))]
PASSAGES = passages_of([""] * len(CHUNKS), RNG.integers(20, 400, size=len(CHUNKS)).tolist())
IDS = PASSAGES.ids
INDEXES = {
    "hnsw": {"index": "hnsw", "ef_search": 900},
    "ivf_flat": {"index": "ivf_flat", "nlist": 8, "nprobe": 8},
    "ivf_pq": {"index": "ivf_pq", "nlist": 4, "nprobe": 4, "m": 12, "nbits": 6},
}


@pytest.fixture
def search(tmp_path):
    """What a kind finds among vectors; ``kind`` is exact, chroma, or an index of FAISS."""

    def run(kind, folder="index", passages=PASSAGES, vectors=CHUNKS, queries=QUERIES, asked=ASKED, **config):
        if kind in INDEXES:
            pytest.importorskip("faiss")
            made = FaissRetriever(FaissConfig(**{"model": MODEL, **INDEXES[kind], **config}))
            return nearest(made, queries, asked, passages, vectors, tools_at(tmp_path / folder))
        if kind == "exact":
            return nearest(ExactRetriever(ExactConfig(**config)), queries, asked, passages, vectors)
        made = ChromaRetriever(ChromaConfig(**config))
        return nearest(made, queries, asked, passages, vectors, index_tools(tmp_path / folder))

    return run


def similarities(distance):
    """In double precision, each by itself, so that copies have equal scores."""
    asked, chunks = ASKED[:, None].astype(float), CHUNKS[None].astype(float)
    if distance == "l2":
        return -((asked - chunks) ** 2).sum(axis=2)
    products = (asked * chunks).sum(axis=2)
    if distance == "ip":
        return products
    return products / np.linalg.norm(asked, axis=2) / np.linalg.norm(chunks, axis=2)


@pytest.mark.parametrize(
    ("distance", "depth"), [("cosine", {"top_k": 60}), ("l2", {"top_k": 10}), ("ip", {"top_chars": 3000})]
)
@pytest.mark.parametrize("kind", ["exact", "chroma", "hnsw", "ivf_flat"])
def test_searched_hard_enough_it_finds_what_a_scan_finds(search, kind, distance, depth):
    found = search(kind, distance=distance, **depth)
    for scores, ranking in zip(similarities(distance), found.rankings, strict=True):
        order = np.argsort(-scores, kind="stable")
        read = np.cumsum(np.array(PASSAGES.lengths)[order])
        best = order[: depth.get("top_k") or int(np.searchsorted(read, depth["top_chars"])) + 1]
        # copies stand in the order of the chunks, and hide nothing else
        assert ranking.chunk_ids == tuple(IDS[i] for i in best)
        np.testing.assert_allclose(ranking.scores, scores[best], rtol=1e-5, atol=2e-5)
    assert found.exact_share == 1.0


def test_exact_share_sees_what_is_missing():
    scores = similarities("cosine")
    worst = [
        Ranking.by_score(q.query_id, [IDS[i] for i in np.argsort(s)[:4]], np.sort(s)[:4].tolist())
        for q, s in zip(QUERIES, scores, strict=True)
    ]
    depth = SearchDepth(4, None, np.ones(len(CHUNKS), dtype=np.int64))
    assert exact_share(worst, scan(ASKED, CHUNKS, "cosine", depth)) == 0.0
    assert exact_share([], []) is None


# --- the scan ---


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
        ({"top_k": 1000}, 8),
        ({"top_k": 1000}, 899),
        ({"top_chars": 3000}, 8),
        ({"top_chars": 3000}, 900),
        ({"top_chars": 10**6}, 41),
    ],
)
def test_reading_vectors_a_block_at_a_time_changes_no_rank_and_no_score(
    search, monkeypatch, distance, depth, rows
):
    # copies of a chunk are in several blocks, and two chunks differ by less than single precision can tell
    close = CHUNKS.copy()
    close[300] = close[250] * np.float32(1 + 1e-7)
    given = {"queries": [*QUERIES, Query("close", "", "train")], "asked": np.vstack([ASKED, close[250:251]])}
    whole = search("exact", vectors=close, distance=distance, **given, **depth)
    monkeypatch.setattr("harness.steps.search.retrieve.scan._ROWS", rows)
    monkeypatch.setattr("harness.steps.search.retrieve.scan._CELLS", 50)
    monkeypatch.setattr("harness.steps.search.retrieve.exact._ROWS", 100)
    parts = Parts(close)
    assert search("exact", vectors=parts, distance=distance, **given, **depth) == whole
    blocks = [one for one in parts.read if isinstance(one, slice)]
    # one pass of all queries over each block
    assert [(one.start, one.stop) for one in blocks] == [(at, at + rows) for at in range(0, 900, rows)]


def test_a_vector_of_zeros_has_its_place(search):
    (ranking,) = search("exact", queries=QUERIES[:1], asked=np.zeros_like(ASKED[:1]), top_k=2).rankings
    assert ranking == Ranking("q0", IDS[:2], (0.0, 0.0))


# --- Chroma ---

# A graph that is hard to search: random points in many dimensions, few edges, little effort.
HARD = {
    "vectors": RNG.normal(size=(1200, 64)).astype(np.float32),
    "asked": RNG.normal(size=(30, 64)).astype(np.float32),
    "queries": [Query(f"q{i}", "", "train") for i in range(30)],
    "passages": passages_of([""] * 1200, [1] * 1200),
    **{"ef_construction": 20, "ef_search": 10, "max_neighbors": 8, "top_k": 10},
}


def test_the_index_is_searched_harder_until_the_answer_is_exact(search):
    assert search("chroma", **HARD, exact=False).exact_share < 0.9
    first = search("chroma", **HARD)
    assert first.exact_share == 1.0
    given = {name: HARD[name] for name in ("vectors", "asked", "queries", "passages", "top_k")}
    true = search("exact", **given)
    assert [one.chunk_ids for one in first.rankings] == [one.chunk_ids for one in true.rankings]
    # fresh builds, whose graphs differ, and a reopened one: the same bits
    assert search("chroma", **HARD) == first
    assert search("chroma", "fresh", **HARD) == first
    assert search("chroma", "other", **{**HARD, "max_neighbors": 16}) == first


def test_ef_search_is_obeyed_by_a_collection_that_was_built_with_another(search, tmp_path):
    little = search("chroma", **HARD, exact=False)
    much = search("chroma", **{**HARD, "ef_search": 2500}, exact=False)
    assert [p.parent.name for p in tmp_path.glob("index/*/seal")] == ["key"]
    assert much.exact_share > little.exact_share + 0.1
    assert search("chroma", **HARD, exact=False).exact_share < much.exact_share - 0.1


def test_an_index_that_does_not_reach_all_chunks_is_an_error(search, monkeypatch):
    ask = ChromaRetriever.hits

    def blind(self, collection, asked, wanted):
        for rows, scores in ask(self, collection, asked, wanted):
            yield rows[1:], scores[1:]  # the nearest is never found

    monkeypatch.setattr(ChromaRetriever, "hits", blind)
    some = {"queries": QUERIES[:7], "asked": ASKED[:7]}
    with pytest.raises(HarnessError, match=r"7 of 7 queries.*max_neighbors to 64.*exact to false"):
        search("chroma", **some)
    assert search("chroma", **some, exact=False).exact_share == pytest.approx(19 / 20)


def test_a_collection_is_built_once_and_a_half_built_one_is_not_used(search, tmp_path):
    first = search("chroma")
    built = {p.name for p in (tmp_path / "index").iterdir()}
    assert search("chroma") == first
    assert {p.name for p in (tmp_path / "index").iterdir()} == built
    # not whole: built anew
    (tmp_path / "index" / "key" / "seal").unlink()
    assert search("chroma") == first
    # the folder was deleted by hand: built anew, in the same process
    shutil.rmtree(tmp_path / "index" / "key")
    assert search("chroma") == first


# --- FAISS ---


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_the_loss_of_quantisation_is_reported(search, distance):
    found = search("ivf_pq", distance=distance, top_k=10)
    true = 0
    for scores, ranking in zip(similarities(distance), found.rankings, strict=True):
        # copies share a place
        tenth = np.sort(scores)[-10]
        true += sum(scores[IDS.index(chunk_id)] >= tenth for chunk_id in ranking.chunk_ids)
    assert found.exact_share == pytest.approx(true / (10 * len(QUERIES)))
    assert 0.3 < found.exact_share < 1.0


def test_the_share_rises_with_the_effort_and_counts_what_is_not_returned(search):
    shares = [search("ivf_flat", nlist=64, nprobe=nprobe).exact_share for nprobe in (1, 8, 64)]
    assert shares[0] < shares[1] < shares[2] == 1.0
    few = search("ivf_flat", nlist=300, nprobe=1, top_k=50)
    returned = sum(len(ranking.chunk_ids) for ranking in few.rankings) / (50 * len(QUERIES))
    assert few.exact_share <= returned < 0.5


@pytest.mark.parametrize("index", INDEXES)
def test_a_fresh_build_and_a_stored_one_give_the_same_bits(search, monkeypatch, index):
    low = {"top_k": 10} | ({"ef_search": 10} if index == "hnsw" else {"nprobe": 1})
    first = search(index, **low)
    assert search(index, "fresh", **low) == first

    def build(*_):
        raise AssertionError("it is stored")

    monkeypatch.setattr(FaissRetriever, "_build", build)
    assert search(index, **low) == first
    # another effort searches the same index
    assert search(index, top_k=10).exact_share > first.exact_share


@pytest.mark.parametrize(
    ("index", "config", "message"),
    [
        ("ivf_flat", {"nlist": 861, "nprobe": 1}, r"nlist is 861, and there are 860 different"),
        ("ivf_pq", {"m": 7}, r"m is 7, which does not divide the 24 dimensions"),
        ("ivf_pq", {"m": 8, "nbits": 10}, r"nbits is 10, which takes 1024 different chunks"),
    ],
)
def test_what_cannot_be_learnt_is_refused(search, index, config, message):
    with pytest.raises(HarnessError, match=message):
        search(index, **config)


@pytest.mark.parametrize("kind", INDEXES)
def test_a_disk_that_is_full_for_an_index_of_faiss_says_what_to_do(search, monkeypatch, kind):
    pytest.importorskip("faiss")
    with monkeypatch.context() as patched:
        patched.setattr("harness.steps.search.retrieve.faiss._FILE", "/dev/full")
        with pytest.raises(HarnessError, match=r"No space left.*Free some"):
            search(kind)
    assert search(kind).rankings
