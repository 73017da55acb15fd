"""The leader board of report.html: what settings differ in, what they gain and lost, kinds of questions."""

import pytest

from harness.comparison.page_columns import factor_columns as factors
from harness.comparison.page_columns import retrievals
from harness.report.page.payload import groups
from harness.running import write_page
from tests.command import run
from tests.report.page_browser import MARKS
from tests.report.page_results import write_folder

BM25 = {"kind": "bm25", "top_k": 20}
DENSE = {"kind": "chroma", "model": "org/embedder"}


def setting(name, size=200, retrieve=BM25, **more):
    return {
        "name": name,
        "chunk": {"kind": "sentence", "chunk_size": size, "chunk_overlap": 0},
        "retrieve": retrieve,
        **more,
    }


def test_only_what_varies_is_a_factor():
    rerank = [{"kind": "cross_encoder"}, {"kind": "http"}]
    fused = {"kind": "rrf", "routes": [BM25, DENSE]}
    found = factors(
        [setting("a"), setting("b", 400, DENSE), setting("c", 400, fused, rerank=rerank)], [50, 90, 90]
    )
    assert {one["name"]: one["values"] for one in found} == {
        "size": [200, 400, 400],
        "median tokens": [50, 90, 90],
        "retriever": ["bm25", "chroma", "rrf of bm25 + chroma"],
        "reranker": [None, None, "cross_encoder + http"],
    }
    assert factors([setting("a"), setting("b")], [5, 5]) == []
    other = setting("b", retrieve=DENSE | {"model": "org/other"})
    assert [one["values"] for one in factors([setting("a", retrieve=DENSE), other], [5, 5])] == [
        ["embedder", "other"]
    ]


def test_settings_that_cut_and_retrieve_alike_share_their_retrieval():
    reranked = setting("b", rerank=[{"kind": "http"}], read={"kind": "window"})
    assert retrievals([setting("a"), reranked, setting("c", 400), {}, {}]) == [0, 0, 2, 3, 4]


def test_columns_of_the_query_file_that_part_the_questions_are_groups():
    ids = [f"q{i}" for i in range(8)]
    listed = {
        q: {
            "query_id": q,
            "text": "same",
            "split": "train",
            "type": f"t{i % 2}",
            "author": f"a{i % 3}",
            "note": "rare" if i < 2 else "",
            "page": str(i),
        }
        for i, q in enumerate(ids)
    }
    found = groups([*ids, "unlisted"], listed)
    # `note` stands for few, `page` is another for each
    assert [one["name"] for one in found] == ["type", "author"]
    assert found[1]["of"] == [0, 1, 2, 0, 1, 2, 0, 1, None]


@pytest.mark.slow
@MARKS[1]
def test_slopes_and_their_test_are_those_of_compare(chromium, tmp_path, capsys):
    folder = write_folder(tmp_path / "r", settings=4, queries=24)
    chromium.open(write_page(folder)[0].as_uri())
    chromium.until("return document.querySelectorAll('#reranked .slope').length === 4")
    rows = chromium.run(
        "return [...document.querySelectorAll('#reranked tbody tr')].map(r => "
        "[r.querySelector('.foreign').textContent, ...[...r.cells].slice(1).map(c => c.textContent)])"
    )
    options = ("--measure", "ndcg_exp@10", "--format", "markdown")
    output = run(capsys, "compare", folder, *options)[1].partition("what the reranker does")[2]
    for name, n, before, after, difference, *_ in rows:
        line = next(line for line in output.splitlines() if f"| {name} |" in line)
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        assert cells[1:5] == [n, before, after, difference.split()[0].replace("\u2212", "-")]
