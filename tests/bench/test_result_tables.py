"""Tables of a run beside its scores: routes, chunk health, the text around passages."""

from types import SimpleNamespace

import pytest

from harness.report import RankedRow, RouteRow, SurroundingRow, read_any, spec_of, write_table
from harness.running.evaluate.result_tables import AROUND, route_rows, surrounding_rows
from harness.values import Document, Ranking
from tests.command import bench, table

TEXT = "".join(f"{i:04d} " for i in range(400))  # 2,000 characters, each place identified by its number
DOCUMENT = Document("d", TEXT, (), "")


def ranked(spans):
    return RankedRow("s", "retrieve", "q", 1, f"d:{spans}", "d", None, 0.5, None, 0, "")


def test_text_before_and_after_without_what_passages_show():
    # 1000-1100 and 1150-1200 are shown: 700-1000, 1100-1150 and 1200-1500 are around them
    rows = list(surrounding_rows([ranked("1000-1100"), ranked("1150-1200")], [DOCUMENT]))
    assert AROUND == 300
    assert [(row.start, row.end) for row in rows] == [(700, 1000), (1100, 1150), (1200, 1500)]
    assert all(row.text == TEXT[row.start : row.end] for row in rows)
    # the heading of a chunk is shown too, and the document ends
    rows = list(surrounding_rows([ranked("0-20+100-150"), ranked("1900-2000")], [DOCUMENT]))
    assert [(row.start, row.end) for row in rows] == [(20, 100), (150, 450), (1600, 1900)]


def test_an_apostrophe_of_the_document_survives_the_file(tmp_path):
    text = "'=1+1' \r\n" + "x" * 50
    rows = list(surrounding_rows([ranked("20-30")], [Document("d", text, (), "")]))
    write_table(tmp_path, spec_of(SurroundingRow), rows)
    expected = [text[:20].replace("\r\n", " \n"), text[30:]]
    assert [row.text for row in read_any(tmp_path, SurroundingRow)] == expected


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


def test_routes_have_a_table_with_what_an_approximate_index_misses(lexical):
    model = 'model: "embedded:all-MiniLM-L6-v2", top_k: 5'
    # of many cells one is searched: what lies in the others is missed
    few = f"{{kind: faiss, index: ivf_flat, nlist: 8, nprobe: 1, {model}}}"
    nested = f"{{kind: rrf, routes: [{few}, {{kind: bm25}}]}}"
    path = lexical(retrieve=f"{{kind: rrf, routes: [{{kind: exact, {model}}}, {nested}]}}")
    results, folder = bench(path)
    shares = {row.stage: row.exact_share for row in results.of(RouteRow)}
    assert shares["retrieve.exact"] == 1.0
    assert 0 < shares["retrieve.rrf.faiss"] < 1
    assert shares["retrieve.rrf.bm25"] is shares["retrieve.rrf"] is None
    rows = table(folder / "routes.csv")
    assert [row["stage"] for row in rows] == list(shares)
    assert {row["setting"] for row in rows} == {"base"}
    assert all(0 < float(row["share"]) <= 1 for row in rows)
    _, folder = bench(lexical())
    assert not (folder / "routes.csv").exists()


def test_chunk_health_is_written_and_examined_once_per_chunking(write_config, monkeypatch):
    path = write_config(chunk="{kind: recursive, chunk_size: [60, 180], chunk_overlap: 40}", cache="fresh")
    results, folder = bench(path)
    rows = table(folder / "chunks.csv")
    assert [row["setting"] for row in rows] == ["chunk=60/40", "chunk=180/40"]
    record = results.record.counts["settings"]
    for row in rows:
        own = record[row["setting"]]
        assert int(row["chunks"]) == own["chunks"]
        assert float(row["tokens_mean"]) * own["chunks"] == pytest.approx(own["tokens"])
        assert sum(map(int, row["histogram"].split())) == own["chunks"]
        assert row["share_overlong"] == "0.0"
    # sentences of some 70 characters: pieces of 60 must cut them, pieces of 180 need not
    assert float(rows[0]["share_cut_mid_sentence"]) > float(rows[1]["share_cut_mid_sentence"])
    monkeypatch.setattr("harness.steps.chunk.health.examine", None)  # asking again would fail
    bench(path)
    assert table(folder / "chunks.csv") == rows
