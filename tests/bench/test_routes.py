"""routes.csv: what each route brings to a fusion, counted by hand."""

from types import SimpleNamespace

from harness.report import RouteRow
from harness.running.evaluate.tables import route_rows
from harness.values.types import Ranking
from tests.command import bench, table


def searched(**rankings):
    """One setting with rankings by stage, a string of one-letter chunks a query."""
    rows = {
        stage.replace("_", "."): [
            Ranking(f"q{i}", tuple(chunks), tuple(-float(rank) for rank in range(len(chunks))))
            for i, chunks in enumerate(queries)
        ]
        for stage, queries in rankings.items()
    }
    return SimpleNamespace(setting=SimpleNamespace(name="base"), rankings=rows, exact_shares={})


def rows_of(one, *measures):
    rows = route_rows([one], measures)
    return {row.stage: (row.fused, row.k, row.share, row.share_alone) for row in rows}


def test_shares_are_those_of_the_first_k_over_all_queries():
    one = searched(
        retrieve_a=["abc", "xy"], retrieve_b=["bdc", ""], retrieve=["abd", "xy"], rerank=["b", "x"]
    )
    # first two: {a, b} and {x, y}; of these a has ab and xy, b has b, which a has too
    assert rows_of(one, "ndcg_text@5000", "ndcg_exp@2") == {
        "retrieve.a": ("retrieve", 2, 4 / 4, 3 / 4),
        "retrieve.b": ("retrieve", 2, 1 / 4, 0.0),
    }
    # whole: {a, b, d} and {x, y}; c is in both routes and not in the fusion
    assert rows_of(one, "ndcg_text@5000") == {
        "retrieve.a": ("retrieve", None, 4 / 5, 3 / 5),
        "retrieve.b": ("retrieve", None, 2 / 5, 1 / 5),
    }


def test_nested_routes_are_held_against_their_own_fusion():
    one = searched(
        retrieve_f_a=["ab"], retrieve_f_b=["c"], retrieve_f=["ac"], retrieve_b=["xy"], retrieve=["xa"]
    )
    assert rows_of(one, "recall@2") == {
        "retrieve.f.a": ("retrieve.f", 2, 0.5, 0.5),
        "retrieve.f.b": ("retrieve.f", 2, 0.5, 0.5),
        "retrieve.f": ("retrieve", 2, 0.5, 0.5),
        "retrieve.b": ("retrieve", 2, 0.5, 0.5),
    }


def test_what_an_approximate_index_misses_in_a_route_is_reported(write_config):
    model = 'model: "embedded:all-MiniLM-L6-v2", top_k: 5'
    # of many cells one is searched: what lies in the others is missed
    few = f"{{kind: faiss, index: ivf_flat, nlist: 8, nprobe: 1, {model}}}"
    nested = f"{{kind: rrf, routes: [{few}, {{kind: bm25}}]}}"
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        rerank="null",
        retrieve=f"{{kind: rrf, routes: [{{kind: exact, {model}}}, {nested}]}}",
    )
    results, _ = bench(path)
    shares = {row.stage: row.exact_share for row in results.of(RouteRow)}
    assert shares["retrieve.exact"] == 1.0
    assert 0 < shares["retrieve.rrf.faiss"] < 1
    assert shares["retrieve.rrf.bm25"] is shares["retrieve.rrf"] is None


def test_an_empty_fusion_has_no_shares():
    assert rows_of(searched(retrieve_a=[""], retrieve=[""]), "map") == {
        "retrieve.a": ("retrieve", None, None, None)
    }


def test_a_run_with_a_fusion_writes_the_route_table(write_config):
    routes = "routes: [{kind: bm25}, {kind: bm25, analyser: plain, stop_words: none}]"
    chunk = "{kind: recursive, chunk_size: 90}"
    path = write_config(chunk=chunk, rerank="null", retrieve=f"{{kind: minmax, {routes}}}")
    _, folder = bench(path)
    rows = table(folder / "routes.csv")
    assert [(row["setting"], row["stage"]) for row in rows] == [
        ("base", "retrieve.bm25"),
        ("base", "retrieve.bm25-2"),
    ]
    assert all(0 < float(row["share"]) <= 1 for row in rows)
    plain = write_config(chunk=chunk, rerank="null", retrieve="{kind: bm25}")
    _, folder = bench(plain)
    assert not (folder / "routes.csv").exists()
